// Llama 3's templates.
#include <array>
#include <cstdio>
#include <ctime>

#include "axial/llm/chat_forms.h"
#include "axial/llm/json_text.h"
#include "axial/llm/unicode.h"
#include "axial/tensor/error.h"

namespace axial::llm {

namespace {
// As strftime's "%d %b %Y" in the language of the template, whatever the locale.
std::string today() {
    constexpr std::array months = {"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    const std::time_t now = std::time(nullptr);
    std::tm local{};
    localtime_r(&now, &local);
    char text[40];
    std::snprintf(text, sizeof text, "%02d %s %d", local.tm_mday, months.at(static_cast<std::size_t>(local.tm_mon)),
                  local.tm_year + 1900);
    return text;
}

PromptWriter& header(PromptWriter& writer, std::string_view role) {
    return writer.markup("<|start_header_id|>").content(role).markup("<|end_header_id|>\n\n");
}

void turn(PromptWriter& writer, const Message& message) {
    header(writer, message.role).content(trimmed(message.content)).markup("<|eot_id|>");
}

void beginAnswer(PromptWriter& writer) { header(writer, "assistant"); }

void llama3Messages(PromptWriter& writer, const ChatRequest& request) {
    writer.markup(request.bos);
    for (const Message& message : request.messages) turn(writer, message);
}

// The user turn that tells of the tools and asks the first question.
void toolTurn(PromptWriter& writer, const std::vector<std::string>& tools, std::string_view question) {
    header(writer, "user")
        .markup(
            "Given the following functions, please respond with a JSON for a function call with its proper arguments "
            "that "
            "best answers the given prompt.\n\nRespond in the format {\"name\": function name, \"parameters\": "
            "dictionary "
            "of argument name and its value}.Do not use variables.\n\n");
    for (const std::string& tool : tools) writer.content(indentedJson(tool)).markup("\n\n");
    writer.content(trimmed(question)).markup("<|eot_id|>");
}

void toolCall(PromptWriter& writer, const std::vector<ToolCall>& calls) {
    if (calls.size() > 1) {
        throw UnsupportedError("chat template: Llama's has one tool call in a message, but there are " +
                               std::to_string(calls.size()) + "; give each a message of its own, and its answer");
    }
    header(writer, "assistant").markup("{\"name\": \"").content(calls.front().name).markup("\", \"parameters\": ");
    writer.content(spacedJson(calls.front().arguments)).markup("}<|eot_id|>");
}

void llama31(PromptWriter& writer, const ChatRequest& request, std::string_view date) {
    std::span<const Message> messages = request.messages;
    const std::vector<std::string>& tools = request.options.tools;
    std::string_view system;
    if (messages.front().role == "system") {
        system = trimmed(messages.front().content);
        messages = messages.subspan(1);
    }
    header(writer.markup(request.bos), "system");
    if (!tools.empty()) writer.markup("Environment: ipython\n");
    writer.markup("Cutting Knowledge Date: December 2023\nToday Date: ").content(date).markup("\n\n");
    writer.content(system).markup("<|eot_id|>");
    if (!tools.empty()) {
        if (messages.empty()) {
            throw ValueError(
                "chat template: Llama's tells of tools in the first message behind the system message, "
                "and there is none");
        }
        toolTurn(writer, tools, messages.front().content);
        messages = messages.subspan(1);
    }
    for (const Message& message : messages) {
        if (!message.toolCalls.empty()) {
            toolCall(writer, message.toolCalls);
        } else if (message.role == "tool") {
            header(writer, "ipython").content(quotedJson(message.content)).markup("<|eot_id|>");
        } else {
            turn(writer, message);
        }
    }
    if (request.options.generationPrompt) beginAnswer(writer);
}
}  // namespace

void renderLlama3(PromptWriter& writer, const ChatRequest& request) {
    llama3Messages(writer, request);
    if (request.options.generationPrompt) beginAnswer(writer);
}

void renderLlama3First(PromptWriter& writer, const ChatRequest& request) {
    llama3Messages(writer, request);
    beginAnswer(writer);
}

void renderLlama31(PromptWriter& writer, const ChatRequest& request) {
    llama31(writer, request, request.options.date.value_or("26 Jul 2024"));
}

void renderLlama32(PromptWriter& writer, const ChatRequest& request) {
    llama31(writer, request, request.options.date ? *request.options.date : today());
}

}  // namespace axial::llm
