#include "axial/llm/server/http_message.h"

#include <algorithm>

namespace axial::llm::server {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

}  // namespace

const std::string& HttpRequest::header(std::string_view name) const {
    static const std::string none;
    for (const auto& [key, value] : headers)
        if (std::ranges::equal(key, name, {}, lower, lower)) return value;
    return none;
}

}  // namespace axial::llm::server
