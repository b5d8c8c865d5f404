// Separates the tool calls in a model's reply from its text.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "axial/llm/chat_template.h"

namespace axial::llm {

// A call is a JSON object with "name", a text, and "arguments" or "parameters", an object or left out; ToolCall has the
// arguments as spacedJson() (json_text.h) spells them.
//   tagged  between <tool_call> and </tool_call>, anywhere. White space before the tag and at the end of the reply
//           belongs to neither; the last closing tag may be missing.
//   bare    the reply begins with it; more of them may follow, behind white space or semicolons
//   none    nothing is a call
// What looks like a call and is none stays text, as it is.
class ToolCallSplitter {
  public:
    explicit ToolCallSplitter(ToolCallForm form) : form_(form) {}

    struct Parts {
        std::string text;
        std::vector<ToolCall> calls;
        std::vector<std::string> faults;  // why something tagged, or broken off, is no call
    };
    // Takes the next piece of the reply and returns what it adds. Text that may be the start of a call is held back;
    // how the reply is cut into pieces makes no difference to the whole.
    Parts push(std::string_view piece);
    // The reply is over: what was held back.
    Parts finish();

  private:
    bool step(Parts& parts, bool over);
    bool stepText(Parts& parts, bool over);
    bool stepTag(Parts& parts, bool over);
    bool stepBare(Parts& parts, bool over);
    void asText(Parts& parts, std::size_t length);
    // Looks at the bytes of JSON before `until`; where its brackets close, if they do there.
    std::size_t scan(std::size_t until);
    void restart(std::size_t from);

    ToolCallForm form_;
    std::string held_;
    bool called_ = false;
    bool inTag_ = false;          // held_ is white space, <tool_call> and what follows
    std::size_t body_ = 0;        // where that begins
    std::size_t looked_ = 0;      // before it there is no other end of the call
    std::size_t firstClose_ = 0;  // a closing tag inside of a JSON string; 0: none
    std::size_t scanned_ = 0, depth_ = 0;
    bool inString_ = false, escaped_ = false;
};

}  // namespace axial::llm
