#include "axial/llm/chat_messages.h"

#include <nlohmann/json.hpp>

#include "axial/llm/parsed_json-inl.h"
#include "axial/tensor/error.h"

namespace axial::llm {

namespace {
using Json = nlohmann::ordered_json;

[[noreturn]] void fail(std::size_t message, const std::string& text) {
    throw ValueError("chat: messages[" + std::to_string(message) + "]: " + text);
}

const Json* member(const Json& object, const char* key) {
    const auto found = object.find(key);
    return found == object.end() || found->is_null() ? nullptr : &*found;
}

std::string text(const Json& object, const char* key, std::size_t message) {
    const Json* value = member(object, key);
    if (!value || !value->is_string()) fail(message, std::string(key) + " must be a string");
    return value->get<std::string>();
}

std::string contentOf(const Json& json, std::size_t message) {
    const Json* content = member(json, "content");
    if (!content) return "";
    if (content->is_string()) return content->get<std::string>();
    if (!content->is_array()) fail(message, "content must be a string or a list of parts");
    std::string joined;
    for (const Json& part : *content) {
        if (!part.is_object() || text(part, "type", message) != "text")
            fail(message, "content has a part that is no text");
        joined += text(part, "text", message);
    }
    return joined;
}

ToolCall toolCallOf(const Json& json, std::size_t message) {
    if (!json.is_object()) fail(message, "tool_calls has an entry that is no object");
    const Json* wrapped = member(json, "function");
    if (wrapped && !wrapped->is_object()) fail(message, "tool_calls has a function that is no object");
    const Json& call = wrapped ? *wrapped : json;
    const Json* arguments = member(call, "arguments");
    if (!arguments) return {text(call, "name", message), "{}"};
    const bool spelled = arguments->is_string() && Json::accept(arguments->get_ref<const std::string&>());
    return {text(call, "name", message), spelled ? arguments->get<std::string>() : arguments->dump()};
}
Json parsed(std::string_view json, const std::string& what) {
    constexpr int deepest = 200;
    return parsedJson<Json>(json, deepest,
                            [&](const std::string& why) { throw ValueError("chat: " + what + ": " + why); });
}

std::vector<Message> messagesIn(const Json& list) {
    if (!list.is_array()) throw ValueError("chat: messages must be a list");
    std::vector<Message> messages;
    for (const Json& entry : list) {
        const std::size_t i = messages.size();
        if (!entry.is_object()) fail(i, "must be an object");
        Message message{text(entry, "role", i), contentOf(entry, i)};
        if (member(entry, "reasoning_content")) message.thoughts = text(entry, "reasoning_content", i);
        if (const Json* calls = member(entry, "tool_calls")) {
            if (!calls->is_array()) fail(i, "tool_calls must be a list");
            for (const Json& call : *calls) message.toolCalls.push_back(toolCallOf(call, i));
        }
        messages.push_back(std::move(message));
    }
    return messages;
}

std::vector<std::string> toolsIn(const Json& list) {
    if (!list.is_array()) throw ValueError("chat: tools must be a list");
    std::vector<std::string> tools;
    for (const Json& tool : list) {
        if (!tool.is_object()) throw ValueError("chat: tools[" + std::to_string(tools.size()) + "] must be an object");
        tools.push_back(tool.dump());
    }
    return tools;
}
}  // namespace

std::vector<Message> messagesFromJson(std::string_view json) { return messagesIn(parsed(json, "messages")); }

std::vector<std::string> toolsFromJson(std::string_view json) {
    const Json all = parsed(json, "tools");
    const Json* tools = all.is_object() ? member(all, "tools") : &all;
    if (!tools) throw ValueError("chat: an object with tools has no list of that name");
    return toolsIn(*tools);
}

ChatInput chatFromJson(std::string_view json) {
    const Json all = parsed(json, "messages");
    if (!all.is_object()) return {messagesIn(all), {}, {}};
    const Json* messages = member(all, "messages");
    if (!messages) throw ValueError("chat: an object with a chat has no list called messages");
    ChatInput input{messagesIn(*messages), {}, {}};
    if (const Json* tools = member(all, "tools")) input.tools = toolsIn(*tools);
    for (const auto& [key, value] : all.items())
        if (key != "messages" && key != "tools") input.others.push_back(key);
    return input;
}

}  // namespace axial::llm
