#include "axial/llm/chat_forms.h"

#include "axial/llm/json_text.h"

namespace axial::llm {

namespace {
std::string_view strippedLeft(std::string_view text) {
    while (text.starts_with('\n')) text.remove_prefix(1);
    return text;
}
std::string_view strippedRight(std::string_view text) {
    while (text.ends_with('\n')) text.remove_suffix(1);
    return text;
}

void turn(PromptWriter& writer, const Message& message) {
    writer.markup("<|im_start|>").content(message.role).markup("\n").content(message.content).markup("<|im_end|>\n");
}

bool beginsWithSystem(const ChatRequest& request) { return request.messages.front().role == "system"; }

// The system turn of a conversation with tools, from what stands before them on.
void toolList(PromptWriter& writer, const std::vector<std::string>& tools) {
    writer.markup(
        "# Tools\n\nYou may call one or more functions to assist with the user query.\n\n"
        "You are provided with function signatures within <tools></tools> XML tags:\n<tools>");
    for (const std::string& tool : tools) writer.markup("\n").content(spacedJson(tool));
    writer.markup(
        "\n</tools>\n\nFor each function call, return a json object with function name and arguments within "
        "<tool_call></tool_call> XML tags:\n<tool_call>\n{\"name\": <function-name>, \"arguments\": "
        "<args-json-object>}\n</tool_call><|im_end|>\n");
}

void toolCall(PromptWriter& writer, const ToolCall& call, const std::string& arguments) {
    writer.markup("<tool_call>\n{\"name\": \"").content(call.name).markup("\", \"arguments\": ").content(arguments);
    writer.markup("}\n</tool_call>");
}

// Tool messages that follow each other share one user turn.
void toolResponse(PromptWriter& writer, std::span<const Message> messages, std::size_t i) {
    if (i == 0 || messages[i - 1].role != "tool") writer.markup("<|im_start|>user");
    writer.markup("\n<tool_response>\n").content(messages[i].content).markup("\n</tool_response>");
    if (i + 1 == messages.size() || messages[i + 1].role != "tool") writer.markup("<|im_end|>\n");
}

// The last message that is a question, not what a tool has answered; without one, the last message.
std::size_t lastQuestion(std::span<const Message> messages) {
    for (std::size_t i = messages.size(); i-- > 0;) {
        const std::string& content = messages[i].content;
        const bool response = content.starts_with("<tool_response>") && content.ends_with("</tool_response>");
        if (messages[i].role == "user" && !response) return i;
    }
    return messages.size() - 1;
}

struct Answer {
    std::string_view thoughts, content;
};

// Thoughts inside of the content are what stands between the first <think> and </think>, the content what follows the
// last </think>.
Answer answerOf(const Message& message) {
    constexpr std::string_view open = "<think>", close = "</think>";
    const std::string_view content = message.content;
    if (message.thoughts) return {*message.thoughts, content};
    const std::size_t first = content.find(close);
    if (first == content.npos) return {"", content};
    std::string_view thoughts = strippedRight(content.substr(0, first));
    if (const std::size_t begin = thoughts.rfind(open); begin != thoughts.npos)
        thoughts.remove_prefix(begin + open.size());
    return {strippedLeft(thoughts), strippedLeft(content.substr(content.rfind(close) + close.size()))};
}

// All of Qwen3's conversation but the beginning of the answer. emptyThoughts: the last answer gets a place for thoughts
// even if it has none.
void qwen3Messages(PromptWriter& writer, const ChatRequest& request, bool emptyThoughts) {
    const std::span<const Message> messages = request.messages;
    if (!request.options.tools.empty()) {
        writer.markup("<|im_start|>system\n");
        if (beginsWithSystem(request)) writer.content(messages.front().content).markup("\n\n");
        toolList(writer, request.options.tools);
    } else if (beginsWithSystem(request)) {
        turn(writer, messages.front());
    }
    const std::size_t question = lastQuestion(messages);
    for (std::size_t i = 0; i < messages.size(); i++) {
        const Message& message = messages[i];
        if (message.role == "user" || (message.role == "system" && i > 0)) {
            turn(writer, message);
        } else if (message.role == "assistant") {
            const Answer answer = answerOf(message);
            writer.markup("<|im_start|>assistant\n");
            const bool last = i + 1 == messages.size();
            if (i > question && ((emptyThoughts && last) || !answer.thoughts.empty())) {
                writer.markup("<think>\n").content(strippedRight(strippedLeft(answer.thoughts)));
                writer.markup("\n</think>\n\n").content(strippedLeft(answer.content));
            } else {
                writer.content(answer.content);
            }
            for (std::size_t call = 0; call < message.toolCalls.size(); call++) {
                if (call > 0 || !answer.content.empty()) writer.markup("\n");
                const std::string& arguments = message.toolCalls[call].arguments;
                toolCall(writer, message.toolCalls[call], jsonString(arguments).value_or(spacedJson(arguments)));
            }
            writer.markup("<|im_end|>\n");
        } else if (message.role == "tool") {
            toolResponse(writer, messages, i);
        }
    }
}
}  // namespace

void renderQwen3(PromptWriter& writer, const ChatRequest& request) {
    qwen3Messages(writer, request, true);
    if (!request.options.generationPrompt) return;
    writer.markup("<|im_start|>assistant\n");
    if (!request.options.thinking) writer.markup("<think>\n\n</think>\n\n");
}

void renderQwen3Thinking(PromptWriter& writer, const ChatRequest& request) {
    qwen3Messages(writer, request, true);
    if (request.options.generationPrompt) writer.markup("<|im_start|>assistant\n<think>\n");
}

void renderQwen3Instruct(PromptWriter& writer, const ChatRequest& request) {
    qwen3Messages(writer, request, false);
    if (request.options.generationPrompt) writer.markup("<|im_start|>assistant\n");
}

void renderQwen25(PromptWriter& writer, const ChatRequest& request) {
    const std::span<const Message> messages = request.messages;
    writer.markup("<|im_start|>system\n");
    if (beginsWithSystem(request)) {
        writer.content(messages.front().content);
    } else {
        writer.markup(*request.system);
    }
    if (request.options.tools.empty()) {
        writer.markup("<|im_end|>\n");
    } else {
        writer.markup("\n\n");
        toolList(writer, request.options.tools);
    }
    for (std::size_t i = 0; i < messages.size(); i++) {
        const Message& message = messages[i];
        if (message.role == "tool") {
            toolResponse(writer, messages, i);
        } else if (message.role == "assistant" && !message.toolCalls.empty()) {
            writer.markup("<|im_start|>assistant");
            if (!message.content.empty()) writer.markup("\n").content(message.content);
            for (const ToolCall& call : message.toolCalls) {
                writer.markup("\n");
                toolCall(writer, call, spacedJson(call.arguments));
            }
            writer.markup("<|im_end|>\n");
        } else if (message.role != "system" || i > 0) {
            turn(writer, message);
        }
    }
    if (request.options.generationPrompt) writer.markup("<|im_start|>assistant\n");
}

void renderChatml(PromptWriter& writer, const ChatRequest& request) {
    if (request.system && !beginsWithSystem(request)) {
        writer.markup("<|im_start|>system\n").markup(*request.system).markup("<|im_end|>\n");
    }
    for (const Message& message : request.messages) turn(writer, message);
    if (request.options.generationPrompt) writer.markup("<|im_start|>assistant\n");
}

}  // namespace axial::llm
