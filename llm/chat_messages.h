// Messages as chat clients write them.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "axial/llm/chat_template.h"

namespace axial::llm {

// A JSON list of messages in the form of OpenAI's chat completions: role; content, a text, null, left out, or a list of
// {"type": "text", "text": ...} parts, which are joined; reasoning_content; tool_calls with "function" {"name",
// "arguments"}, or those two themselves. Arguments that are a string are what the string says, if that is JSON: the API
// sends them so. ValueError: anything else, with the number of the message and the key.
std::vector<Message> messagesFromJson(std::string_view json);

// A JSON list of tools, each an object, or an object with "tools"; RenderOptions::tools. ValueError: anything else.
std::vector<std::string> toolsFromJson(std::string_view json);

struct ChatInput {
    std::vector<Message> messages;
    std::vector<std::string> tools;
    std::vector<std::string> others;  // keys that mean nothing here
};
// An object with "messages" and, if there are any, "tools"; or a list of messages. ValueError as above.
ChatInput chatFromJson(std::string_view json);

}  // namespace axial::llm
