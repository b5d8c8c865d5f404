// Gemma's templates.
#include "axial/llm/chat_forms.h"
#include "axial/llm/unicode.h"
#include "axial/tensor/error.h"

namespace axial::llm {

namespace {
// The turns of user and assistant. A system message is the beginning of the first.
void turns(PromptWriter& writer, const ChatRequest& request) {
    const bool hasSystem = request.messages.front().role == "system";
    const std::span<const Message> messages = request.messages.subspan(hasSystem ? 1 : 0);
    writer.markup(request.bos);
    for (std::size_t i = 0; i < messages.size(); i++) {
        const std::string& role = messages[i].role;
        if ((role == "user") != (i % 2 == 0)) {
            throw ValueError(
                "chat template: in Gemma's, user and assistant take turns, beginning with user; messages[" +
                std::to_string(i + (hasSystem ? 1 : 0)) + "] is of the role " + role);
        }
        writer.markup("<start_of_turn>").content(role == "assistant" ? "model" : role).markup("\n");
        if (i == 0 && hasSystem) writer.content(request.messages.front().content).markup("\n\n");
        writer.content(trimmed(messages[i].content)).markup("<end_of_turn>\n");
    }
    if (request.options.generationPrompt) writer.markup("<start_of_turn>model\n");
}
}  // namespace

void renderGemma2(PromptWriter& writer, const ChatRequest& request) {
    if (request.messages.front().role == "system") {
        throw UnsupportedError("chat template: gemma2 has no system message; put its text before the first question");
    }
    turns(writer, request);
}

void renderGemma3(PromptWriter& writer, const ChatRequest& request) { turns(writer, request); }

}  // namespace axial::llm
