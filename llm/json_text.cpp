#include "axial/llm/json_text.h"

#include <charconv>
#include <nlohmann/json.hpp>

#include "axial/llm/parsed_json-inl.h"
#include "axial/llm/unicode.h"
#include "axial/tensor/error.h"

namespace axial::llm {

namespace {
using Json = nlohmann::ordered_json;

Json parsed(std::string_view json) {
    constexpr int deepest = 200;
    return parsedJson<Json>(json, deepest, [&](const std::string& what) {
        throw ValueError("chat: " + what + ": " + replaceInvalidUtf8(json.substr(0, 80)));
    });
}

// Python's repr of a float: the shortest digits that read back as the same number, with an exponent below 1e-4 and from
// 1e16 on.
void appendNumber(std::string& text, double value) {
    char digits[32];
    const auto scientific = std::to_chars(digits, digits + sizeof digits, value, std::chars_format::scientific);
    const std::string_view shortest(digits, static_cast<std::size_t>(scientific.ptr - digits));
    const std::size_t e = shortest.find('e');
    int exponent = 0;
    const std::size_t sign = e + 1;
    std::from_chars(shortest.data() + sign + (shortest[sign] == '+'), shortest.data() + shortest.size(), exponent);
    if (exponent < -4 || exponent >= 16) {
        text += shortest;
        return;
    }
    char fixed[64];
    const auto end = std::to_chars(fixed, fixed + sizeof fixed, value, std::chars_format::fixed);
    const std::string_view plain(fixed, static_cast<std::size_t>(end.ptr - fixed));
    text += plain;
    if (plain.find('.') == plain.npos) text += ".0";
}

// `newLine`, if it is not empty, ends a line and indents the next as deep as the value stands.
void append(std::string& text, const Json& value, const std::string& newLine) {
    if (value.is_object() || value.is_array()) {
        const std::string inner = newLine.empty() || value.empty() ? "" : newLine + "    ";
        text += value.is_object() ? '{' : '[';
        bool first = true;
        for (const auto& [key, part] : value.items()) {
            if (!first) text += newLine.empty() ? ", " : ",";
            first = false;
            text += inner;
            if (value.is_object()) text += Json(key).dump() + ": ";
            append(text, part, inner);
        }
        if (!value.empty()) text += newLine;
        text += value.is_object() ? '}' : ']';
    } else if (value.is_number_float()) {
        appendNumber(text, value.get<double>());
    } else {
        text += value.dump();
    }
}
}  // namespace

std::string spacedJson(std::string_view json) {
    std::string text;
    append(text, parsed(json), "");
    return text;
}

std::string indentedJson(std::string_view json) {
    std::string text;
    append(text, parsed(json), "\n");
    return text;
}

std::string quotedJson(std::string_view text) { return Json(replaceInvalidUtf8(text)).dump(); }

std::optional<std::string> jsonString(std::string_view json) {
    const Json value = parsed(json);
    if (!value.is_string()) return std::nullopt;
    return value.get<std::string>();
}

}  // namespace axial::llm
