#include "axial/llm/server/page_routes.h"

#include "axial/llm/server/page_files.h"

namespace axial::llm::server {

Headers pageHeaders(std::string_view policy) {
    return {{"Content-Security-Policy", std::string(policy)},
            {"X-Content-Type-Options", "nosniff"},
            {"X-Frame-Options", "DENY"},
            {"Referrer-Policy", "no-referrer"},
            {"Cache-Control", "no-cache"}};
}

std::optional<HttpReply> pageFileAt(std::string_view path) {
    constexpr std::string_view policy =
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
    for (const PageFile& file : pageFiles())
        if (file.path == path)
            return HttpReply{.body = std::string(file.content),
                             .contentType = std::string(file.contentType),
                             .headers = pageHeaders(policy)};
    return std::nullopt;
}

}  // namespace axial::llm::server
