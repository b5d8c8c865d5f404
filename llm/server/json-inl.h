// JSON in and out. For .cpp files: nlohmann-json is in no public header.
#pragma once
#include <nlohmann/json.hpp>
#include <string>

namespace axial::llm::server {

using Json = nlohmann::ordered_json;

// One line. Bytes that are not UTF-8 become U+FFFD, so it never fails.
inline std::string dumped(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

}  // namespace axial::llm::server
