// The templates that are known (chat_template.h), each as a function.
#pragma once
#include <optional>
#include <span>
#include <string>

#include "axial/llm/chat_template.h"
#include "axial/llm/prompt_writer.h"

namespace axial::llm {

// `system` is what stands where a conversation does not begin with a system message.
struct ChatRequest {
    std::span<const Message> messages;
    const RenderOptions& options;
    const std::optional<std::string>& system;
};

void renderQwen3(PromptWriter& writer, const ChatRequest& request);
void renderQwen3Thinking(PromptWriter& writer, const ChatRequest& request);
void renderQwen3Instruct(PromptWriter& writer, const ChatRequest& request);
void renderQwen25(PromptWriter& writer, const ChatRequest& request);
void renderChatml(PromptWriter& writer, const ChatRequest& request);

}  // namespace axial::llm
