// The Responses API: from a request's body to a task.
#include "axial/llm/server/chat_prompt-inl.h"
#include "axial/llm/server/generation_parameters-inl.h"
#include "axial/llm/server/reply_parts-inl.h"
#include "axial/llm/server/responses_reply.h"
#include "axial/llm/server/task.h"

namespace axial::llm::server {
namespace {

const Json* member(const Json& object, const char* key) {
    if (!object.is_object()) return nullptr;
    const auto found = object.find(key);
    return found == object.end() || found->is_null() ? nullptr : &*found;
}

std::string textOf(const Json* value, const std::string& where) {
    if (!value || !value->is_string()) refuse(where + " must be a string", where);
    return value->get<std::string>();
}

// The text of a list of parts, or of a string.
Json contentOf(const Json* content, const std::string& where) {
    if (!content) refuse(where + " is missing", where);
    if (content->is_string()) return *content;
    if (!content->is_array()) refuse(where + " must be a string or a list of parts", where);
    std::string joined;
    for (const Json& part : *content) {
        const Json* type = member(part, "type");
        if (!type || (*type != "input_text" && *type != "output_text" && *type != "text"))
            refuse(where + " has a part that is no text", where);
        joined += textOf(member(part, "text"), where);
    }
    return joined;
}

// The messages of a chat completion that say the same. Thoughts of earlier answers belong to the message behind them.
Json messagesOf(const Json& input, const std::optional<std::string>& instructions) {
    Json messages = Json::array();
    if (instructions) messages.push_back({{"role", "system"}, {"content", *instructions}});
    if (input.is_string()) {
        messages.push_back({{"role", "user"}, {"content", input}});
        return messages;
    }
    if (!input.is_array()) refuse("input must be a string or a list of items", "input");
    std::size_t number = 0;
    for (const Json& item : input) {
        const std::string where = "input[" + std::to_string(number++) + "]";
        if (!item.is_object()) refuse(where + " must be an object", where);
        const Json* typed = member(item, "type");
        const std::string type = typed ? textOf(typed, where + ".type") : "message";
        const bool afterCall = !messages.empty() && messages.back().contains("tool_calls");
        if (type == "message") {
            messages.push_back({{"role", textOf(member(item, "role"), where + ".role")},
                                {"content", contentOf(member(item, "content"), where + ".content")}});
        } else if (type == "function_call") {
            if (!afterCall && (messages.empty() || messages.back()["role"] != "assistant"))
                messages.push_back({{"role", "assistant"}, {"content", ""}});
            const std::string name = textOf(member(item, "name"), where + ".name");
            const std::string arguments = textOf(member(item, "arguments"), where + ".arguments");
            messages.back()["tool_calls"].push_back(
                {{"type", "function"}, {"function", {{"name", name}, {"arguments", arguments}}}});
        } else if (type == "function_call_output") {
            messages.push_back({{"role", "tool"}, {"content", contentOf(member(item, "output"), where + ".output")}});
        } else if (type != "reasoning") {
            refuse(where + ".type must be message, function_call, function_call_output or reasoning", where + ".type");
        }
    }
    return messages;
}

std::string baseOf(const RequestBody& body, const ServedModel& model, const SamplerSettings& sampling) {
    const auto said = [&](const char* name, Json otherwise) {
        const Json* value = body.find(name);
        return value ? *value : otherwise;
    };
    return dumped({{"id", newId("resp_")},
                   {"object", "response"},
                   {"created_at", secondsSince1970()},
                   {"status", "in_progress"},
                   {"background", false},
                   {"error", nullptr},
                   {"incomplete_details", nullptr},
                   {"instructions", said("instructions", nullptr)},
                   {"max_output_tokens", said("max_output_tokens", nullptr)},
                   {"model", model.id},
                   {"output", Json::array()},
                   {"parallel_tool_calls", said("parallel_tool_calls", true)},
                   {"previous_response_id", nullptr},
                   {"reasoning", said("reasoning", {{"effort", nullptr}, {"summary", nullptr}})},
                   {"store", false},
                   {"temperature", sampling.temperature},
                   {"text", said("text", {{"format", {{"type", "text"}}}})},
                   {"tool_choice", said("tool_choice", "auto")},
                   {"tools", said("tools", Json::array())},
                   {"top_logprobs", said("top_logprobs", 0)},
                   {"top_p", sampling.topP},
                   {"truncation", "disabled"},
                   {"usage", nullptr},
                   {"user", said("user", nullptr)},
                   {"metadata", said("metadata", Json::object())}});
}

bool includesLogprobs(const RequestBody& body) {
    const Json* include = body.find("include");
    if (!include) return false;
    for (const Json& one : *include)
        if (one == "message.output_text.logprobs") return true;
    return false;
}

}  // namespace

Task responsesTask(std::string_view text, const ServedModel& model) {
    const RequestBody body(text, responses);
    const Json* input = body.find("input");
    if (!input) refuse("input is missing", "input");
    const ToolUse tools = readTools(body);
    const Json* textual = body.find("text");
    const OutputFormat format = readFormat(textual ? member(*textual, "format") : nullptr, "text.format");
    std::optional<std::string> effort;
    if (const Json* reasoning = body.find("reasoning"))
        if (const Json* said = member(*reasoning, "effort")) effort = textOf(said, "reasoning.effort");
    const ChatPrompt prompt =
        renderChat(model, messagesOf(*input, body.text("instructions")), tools, readReasoning(body, effort, model));

    Task task;
    GenerationRequest& generation = task.generation;
    readGeneration(body, model, prompt.thinks, generation);
    generation.maxTokens = body.integer("max_output_tokens").value_or(generation.maxTokens);
    const auto top = body.integer("top_logprobs");
    const bool logprobs = includesLogprobs(body) || top.value_or(0) > 0;
    if (logprobs) generation.logprobs = static_cast<std::size_t>(top.value_or(0));
    generation.prompts.push_back(model.tokenizer().encode(prompt.parts));
    checkLengths(model, generation, "input");
    generation.processors = structureFor(model, prompt, tools, format);
    task.writer = responsesWriter({.base = baseOf(body, model, generation.sampling),
                                   .streams = body.boolean("stream").value_or(false),
                                   .logprobs = logprobs,
                                   .thoughtsOpened = prompt.thoughtsOpened,
                                   .toolForm = prompt.toolForm,
                                   .tokenizer = model.loaded.tokenizer});
    return task;
}

}  // namespace axial::llm::server
