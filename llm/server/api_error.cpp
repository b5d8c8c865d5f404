#include "axial/llm/server/api_error.h"

#include "axial/llm/server/json-inl.h"

namespace axial::llm::server {
namespace {

const char* typeOf(unsigned status) {
    switch (status) {
        case 401:
            return "authentication_error";
        case 403:
            return "permission_error";
        case 429:
            return "rate_limit_error";
        case 501:
            return "not_implemented_error";
        case 503:
            return "unavailable_error";
    }
    return status >= 500 ? "server_error" : "invalid_request_error";
}

Json textOrNull(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

}  // namespace

std::string ApiError::json() const {
    return dumped({{"error",
                    {{"message", what()},
                     {"type", typeOf(status_)},
                     {"param", textOrNull(param_)},
                     {"code", textOrNull(code_)}}}});
}

HttpReply ApiError::reply() const {
    HttpReply reply{.status = status_, .body = json()};
    if (status_ == 429 || status_ == 503) reply.headers.emplace_back("Retry-After", "1");
    if (status_ == 401) reply.headers.emplace_back("WWW-Authenticate", "Bearer");
    return reply;
}

ApiError apiErrorOf(const Failure& failure) {
    switch (failure.kind) {
        case Failure::Kind::request:
            return {400, failure.text};
        case Failure::Kind::stopping:
            return {503, failure.text, {}, "server_shutting_down"};
        case Failure::Kind::internal:
            break;
    }
    return {500, failure.text};
}

}  // namespace axial::llm::server
