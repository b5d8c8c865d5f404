// Reads JSON that somebody else wrote. For .cpp files: nlohmann-json is in no public header.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

namespace axial::llm {

// The JSON value that a text spells (RFC 8259). `fail` is called with what is wrong with it, and throws: it is not JSON
// (and at which byte), it has a number beyond what a double holds, or it is nested more than `deepest` deep. `keep`, if
// there is one, chooses what stays in the value, as nlohmann's parser callback does.
template <class Json, class Fail, class Keep>
Json parsedJson(std::string_view text, int deepest, const Fail& fail, Keep&& keep) {
    // nlohmann takes a NUL for the end of the text; JSON has none outside of its escapes.
    if (const std::size_t nul = text.find('\0'); nul != text.npos) fail("not JSON at byte " + std::to_string(nul + 1));
    try {
        return Json::parse(text.begin(), text.end(),
                           [&](int depth, nlohmann::detail::parse_event_t event, Json& value) {
                               if (depth > deepest) fail("nested more than " + std::to_string(deepest) + " deep");
                               return keep(depth, event, value);
                           });
    } catch (const typename Json::parse_error& error) {
        fail("not JSON at byte " + std::to_string(error.byte));
    } catch (const typename Json::out_of_range&) {
        fail("a number is beyond 1.8e308, the largest of a double");
    }
    return Json();
}

template <class Json, class Fail>
Json parsedJson(std::string_view text, int deepest, const Fail& fail) {
    return parsedJson<Json>(text, deepest, fail, [](int, nlohmann::detail::parse_event_t, Json&) { return true; });
}

}  // namespace axial::llm
