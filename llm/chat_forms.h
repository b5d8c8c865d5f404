// The templates that are known (chat_template.h), each as a function.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "axial/llm/chat_template.h"
#include "axial/llm/prompt_writer.h"

namespace axial::llm {

// `system` is what stands where a conversation does not begin with a system message; `bos` what bos_token says.
struct ChatRequest {
    std::span<const Message> messages;
    const RenderOptions& options;
    const std::optional<std::string>& system;
    std::string_view bos;
};

// chat_forms.cpp
void renderQwen3(PromptWriter& writer, const ChatRequest& request);
void renderQwen3Thinking(PromptWriter& writer, const ChatRequest& request);
void renderQwen3Instruct(PromptWriter& writer, const ChatRequest& request);
void renderQwen25(PromptWriter& writer, const ChatRequest& request);
void renderChatml(PromptWriter& writer, const ChatRequest& request);
// chat_forms_llama.cpp
void renderLlama3(PromptWriter& writer, const ChatRequest& request);
void renderLlama3First(PromptWriter& writer, const ChatRequest& request);
void renderLlama31(PromptWriter& writer, const ChatRequest& request);
void renderLlama32(PromptWriter& writer, const ChatRequest& request);
// chat_forms_gemma.cpp
void renderGemma2(PromptWriter& writer, const ChatRequest& request);
void renderGemma3(PromptWriter& writer, const ChatRequest& request);

}  // namespace axial::llm
