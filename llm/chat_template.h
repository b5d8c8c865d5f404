// From a conversation to the text that a model continues, as the template stored with the model writes it.
#pragma once
#include <memory>
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

// How a model that has been told of tools calls one (ToolCallSplitter, tool_calls.h).
enum class ToolCallForm {
    none,
    tagged,  // anywhere in the reply: <tool_call>{"name": ..., "arguments": {...}}</tool_call>
    bare,    // the reply is {"name": ..., "parameters": {...}}
};

struct Message {
    std::string role;  // system, user, assistant or tool
    std::string content;
    std::optional<std::string> thoughts{};  // of an assistant, where they are kept apart from the content
    std::vector<ToolCall> toolCalls{};      // of an assistant
};

struct RenderOptions {
    bool generationPrompt = true;       // whether the text ends with the beginning of the answer
    bool thinking = true;               // false: the answer begins behind empty thoughts, if the template can do that
    std::vector<std::string> tools{};   // functions that the model may call, each as JSON
    std::optional<std::string> date{};  // today's, for templates that write it; else what the template says
    std::string variables{};            // what else a template that is interpreted may ask for, as a JSON object
};

class JinjaTemplate;

// A stored template is a program in the language Jinja. The templates below are known by their text, and need no
// interpreter. Forms of ChatML, <|im_start|>ROLE\nCONTENT<|im_end|>\n:
//   qwen3           thoughts between <think> and </think>, left out of all turns before the last question; tools
//   qwen3-thinking  the same, but the answer always begins inside of thoughts (Qwen3-...-Thinking-2507)
//   qwen3-instruct  the same, and the answer has no thoughts (Qwen3-...-Instruct-2507)
//   qwen2.5         a system message of its own where the conversation has none; tools
//   chatml          nothing else, but for a system message where the template has one
// Llama's, BOS and then <|start_header_id|>ROLE<|end_header_id|>\n\nCONTENT<|eot_id|>, without white space around the
// content:
//   llama3          Llama 3 Instruct
//   llama3-first    the same as first published: the text always ends with the beginning of the answer
//   llama3.1        Llama 3.1 and 3.3 Instruct: two dates in the system message, today's being 26 Jul 2024; tools,
//   which
//                   go into the first message behind it
//   llama3.2        Llama 3.2 Instruct (1B and 3B): the same, and today is today
// Gemma's, BOS and then <start_of_turn>ROLE\nCONTENT<end_of_turn>\n, where user and assistant (called model) take
// turns; without white space around the content:
//   gemma2          Gemma 1 and 2, which have no system message
//   gemma3          Gemma 3: the system message, as it is, and an empty line begin the first user turn
// Any other text is interpreted if axial was built with its Rust component (JinjaTemplate), and refused without it.
class ChatTemplate {
  public:
    // Throws UnsupportedError for a name that is not one of names().
    explicit ChatTemplate(std::string_view name);
    // The template with this Jinja text. UnsupportedError: a text that is not known.
    static ChatTemplate ofText(std::string_view text);
    // The template of a vocabulary's file, interpreted where its text is not known and that can be done.
    static ChatTemplate ofFile(const Vocabulary& vocabulary);
    static std::string names();

    std::string_view name() const;
    // Whether it is the file's own text that is run, not one of the forms above.
    bool interpreted() const { return interpreted_ != nullptr; }
    // Whether the answer may have thoughts, and whether RenderOptions::thinking can keep it from them.
    bool thinks() const;
    bool canSkipThinking() const;
    ToolCallForm toolCallForm() const;

    // The prompt, in parts: what the template writes is to be parsed for markers, what stands in messages and tools is
    // not, so that no message can end its own turn or begin another's. Joined, the parts are what Jinja makes of the
    // template, byte for byte.
    // What the template's bos_token writes becomes the one BOS of the prompt: encode() the parts and add nothing.
    // ValueError: no messages, a role that is none of the four, roles in an order that the template refuses, JSON that
    // is none. UnsupportedError: tools, calls or a system message with a template that knows nothing of them.
    std::vector<TextPart> render(std::span<const Message> messages, const RenderOptions& options = {}) const;

  private:
    friend ChatTemplate chatTemplateOf(const Vocabulary&, const std::optional<std::string>&);
    struct Form;
    static std::span<const Form> forms();
    void checkMarkers(const Vocabulary& vocabulary) const;

    ChatTemplate() = default;

    const Form* form_ = nullptr;
    std::shared_ptr<const JinjaTemplate> interpreted_;  // instead of a form
    std::optional<std::string> system_;                 // the template's own system message
    std::string bos_;                                   // what its bos_token says
};

// The template of a vocabulary's file, or the one with a name, writing the vocabulary's own BOS. A file without a
// template gets chatml if it has the tokens <|im_start|> and <|im_end|>. UnsupportedError: a template that is not
// known, or tokens that it needs and the vocabulary lacks; the text says how to choose another.
ChatTemplate chatTemplateOf(const Vocabulary& vocabulary, const std::optional<std::string>& name = std::nullopt);

}  // namespace axial::llm
