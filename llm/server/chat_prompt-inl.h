// From messages and tools to the prompt and what its reply has to keep to. For .cpp files.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "axial/llm/server/generation.h"
#include "axial/llm/server/request_body-inl.h"
#include "axial/llm/server/served_model.h"

namespace axial::llm::server {

// Functions that the model may call, or must.
struct ToolUse {
    enum class Choice { none, automatic, required };
    Choice choice = Choice::automatic;
    std::vector<Json> tools;  // each {"type": "function", "function": {"name", ...}}
    std::string named;        // the one that must be called
    bool parallel = true;     // more than one call
};
// tools, tool_choice and parallel_tool_calls, as chat completions or responses spell them. ApiError 400.
ToolUse readTools(const RequestBody& body);

// The JSON schema that an answer must keep to.
struct OutputFormat {
    std::optional<Json> schema;
    std::string parameter;  // which said so
};
// Of {"type": "text"}, {"type": "json_object"}, {"type": "json_schema", ...}; what belongs to json_schema stands in an
// object of that name, or beside the type. ApiError 400.
OutputFormat readFormat(const Json* format, const std::string& parameter);

// reasoning_effort, enable_thinking and chat_template_kwargs. ApiError 400.
struct Reasoning {
    bool wanted = true;
    std::string variables;  // chat_template_kwargs as JSON
};
Reasoning readReasoning(const RequestBody& body, const std::optional<std::string>& effort, const ServedModel& model);

struct ChatPrompt {
    std::vector<TextPart> parts;
    bool thinks = false;          // the reply may have thoughts
    bool thoughtsOpened = false;  // and begins with them
    ToolCallForm toolForm = ToolCallForm::none;
};
// Renders the conversation. ApiError 400: no template, messages that the API or the template does not allow.
ChatPrompt renderChat(const ServedModel& model, const Json& messages, const ToolUse& tools, const Reasoning& reasoning,
                      bool generationPrompt = true);

// What keeps the reply to required tools or a schema; none if there is nothing to keep to. ApiError 501 without
// grammars, 400 for a schema that cannot be enforced.
std::vector<std::unique_ptr<LogitProcessor>> structureFor(const ServedModel& model, const ChatPrompt& prompt,
                                                          const ToolUse& tools, const OutputFormat& format);

}  // namespace axial::llm::server
