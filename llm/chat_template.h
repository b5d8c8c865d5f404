// From a conversation to the text that a model continues, as the template stored with the model writes it.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "axial/llm/tokenizer.h"

namespace axial::llm {

// A function that the model wants called.
struct ToolCall {
    std::string name;
    std::string arguments;  // JSON
};

struct Message {
    std::string role;  // system, user, assistant or tool
    std::string content;
    std::optional<std::string> thoughts{};  // of an assistant, where they are kept apart from the content
    std::vector<ToolCall> toolCalls{};      // of an assistant
};

struct RenderOptions {
    bool generationPrompt = true;      // whether the text ends with the beginning of the answer
    bool thinking = true;              // false: the answer begins behind empty thoughts, if the template can do that
    std::vector<std::string> tools{};  // functions that the model may call, each as JSON
};

// A stored template is a program in the language Jinja, which is not interpreted here: the templates below are known by
// their text, and others are refused. All of them are forms of ChatML: <|im_start|>ROLE\nCONTENT<|im_end|>\n.
//   qwen3           thoughts between <think> and </think>, left out of all turns before the last question; tools
//   qwen3-thinking  the same, but the answer always begins inside of thoughts (Qwen3-...-Thinking-2507)
//   qwen3-instruct  the same, and the answer has no thoughts (Qwen3-...-Instruct-2507)
//   qwen2.5         a system message of its own where the conversation has none; tools
//   chatml          nothing else, but for a system message where the template has one
class ChatTemplate {
  public:
    // Throws UnsupportedError for a name that is not one of names().
    explicit ChatTemplate(std::string_view name);
    // The template with this Jinja text. UnsupportedError: a text that is not known.
    static ChatTemplate ofText(std::string_view text);
    static std::string names();

    std::string_view name() const;
    // Whether the answer may have thoughts, and whether RenderOptions::thinking can keep it from them.
    bool thinks() const;
    bool canSkipThinking() const;

    // The prompt, in parts: what the template writes is to be parsed for markers, what stands in messages and tools is
    // not, so that no message can end its own turn or begin another's. Joined, the parts are what Jinja makes of the
    // template, byte for byte.
    // ValueError: no messages, a role that is none of the four, JSON that is none. UnsupportedError: tools or calls
    // with a template that knows nothing of them.
    std::vector<TextPart> render(std::span<const Message> messages, const RenderOptions& options = {}) const;

  private:
    struct Form;
    static std::span<const Form> forms();

    const Form* form_ = nullptr;
    std::optional<std::string> system_;  // the template's own system message
};

// The template of a vocabulary's file, or the one with a name. A file without a template gets chatml if it has the
// tokens
// <|im_start|> and <|im_end|>. UnsupportedError: a template that is not known, or tokens that it needs and the
// vocabulary lacks; the text says how to choose another.
ChatTemplate chatTemplateOf(const Vocabulary& vocabulary, const std::optional<std::string>& name = std::nullopt);

}  // namespace axial::llm
