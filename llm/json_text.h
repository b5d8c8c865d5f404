// JSON as text, where its spelling matters: in prompts.
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace axial::llm {

// A JSON value as Python's json.dumps(value, ensure_ascii=False) spells it, which is what templates' tojson means: ", "
// and ": " between the parts, keys in their order, floating-point numbers as Python's repr. ValueError: no JSON, or
// nested more than 200 deep.
std::string spacedJson(std::string_view json);

// The same with indent=4: each part of an object or a list on a line of its own.
std::string indentedJson(std::string_view json);

// A text as a JSON string, spelled as above. Bytes that are not UTF-8 become U+FFFD.
std::string quotedJson(std::string_view text);

// What a JSON string says; nothing for any other value. ValueError: no JSON.
std::optional<std::string> jsonString(std::string_view json);

}  // namespace axial::llm
