// A prompt in the making: markup of the template and content of the messages, kept apart.
#pragma once
#include <string_view>
#include <vector>

#include "axial/llm/tokenizer.h"

namespace axial::llm {

class PromptWriter {
  public:
    PromptWriter& markup(std::string_view text) { return add(text, SpecialTokens::parse); }
    PromptWriter& content(std::string_view text) { return add(text, SpecialTokens::asText); }
    std::vector<TextPart> take() { return std::move(parts_); }

  private:
    PromptWriter& add(std::string_view text, SpecialTokens special) {
        if (text.empty()) return *this;
        if (parts_.empty() || parts_.back().special != special) parts_.push_back({"", special});
        parts_.back().text += text;
        return *this;
    }

    std::vector<TextPart> parts_;
};

}  // namespace axial::llm
