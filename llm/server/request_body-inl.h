// A request's JSON, checked against the table of parameters. For .cpp files: it is nlohmann's.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "axial/llm/server/api_error.h"
#include "axial/llm/server/json-inl.h"
#include "axial/llm/server/parameters.h"

namespace axial::llm::server {

// A request's parameters: what is null counts as left out.
class RequestBody {
  public:
    // Throws ApiError 400, with the parameter: text that is no JSON object, that is nested more than 100 deep or has
    // more than a million values; a parameter of a wrong kind, outside of its range or refused; and one that is not
    // known but spelled almost as one that is. Others that are not known are left alone.
    RequestBody(std::string_view text, Endpoint endpoint);

    // Null if it is left out.
    const Json* find(std::string_view name) const;
    std::optional<bool> boolean(std::string_view name) const;
    std::optional<std::int64_t> integer(std::string_view name) const;
    std::optional<double> number(std::string_view name) const;
    std::optional<std::string> text(std::string_view name) const;

  private:
    Json json_;
};

[[noreturn]] inline void refuse(const std::string& message, const std::string& parameter,
                                const std::string& code = {}) {
    throw ApiError(400, message, parameter, code);
}

}  // namespace axial::llm::server
