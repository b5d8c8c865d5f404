// A chat template of any model, interpreted.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "axial/llm/chat_template.h"

namespace axial::llm {

class JinjaTemplate {
  public:
    virtual ~JinjaTemplate() = default;

    // What the text says about itself: whether it writes thoughts, asks for enable_thinking, knows of tools, and how it
    // wants them called.
    virtual bool thinks() const = 0;
    virtual bool canSkipThinking() const = 0;
    virtual bool knowsTools() const = 0;
    virtual ToolCallForm toolCallForm() const = 0;

    // The prompt, in parts: markers that the template has written are to be parsed, all else is text (TemplateMarkers).
    // Joined, the parts are what the template writes. It sees what Hugging Face's apply_chat_template gives it:
    // messages, tools, add_generation_prompt, bos_token and eos_token, strftime_now, raise_exception, and
    // RenderOptions::variables; besides, RenderOptions::date as date_string where that is given, and enable_thinking
    // where thinking is switched off (a template's own default counts else).
    // ValueError: what the template raises, or fails with; the text names its line. UnsupportedError: more than 10
    // million steps.
    virtual std::vector<TextPart> render(std::span<const Message> messages, const RenderOptions& options) const = 0;
};

// Compiles a template (Jinja2 as chat templates use it, by the crate MiniJinja). UnsupportedError: one that does not
// compile; the text names the line. Null: axial was built without its Rust component.
std::shared_ptr<const JinjaTemplate> jinjaTemplate(const std::string& text, const Vocabulary& vocabulary);

}  // namespace axial::llm
