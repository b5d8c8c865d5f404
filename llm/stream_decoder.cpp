#include "axial/llm/stream_decoder.h"

#include <string_view>

#include "axial/llm/tokenizer.h"
#include "axial/llm/unicode.h"

namespace axial::llm {

std::string StreamDecoder::push(TokenId id) {
    const std::string_view piece = tokenizer_->piece(id);
    if (!showControl_ && tokenizer_->vocabulary().tokens.type(id) == TokenType::control) return {};
    held_ += piece;
    std::string text;
    std::string_view rest = held_;
    while (!rest.empty()) {
        const Utf8Step step = firstCharacter(rest);
        if (step.kind == Utf8Kind::incomplete) break;
        appendUtf8(text, step.codePoint);
        rest.remove_prefix(step.length);
    }
    held_.erase(0, held_.size() - rest.size());
    return text;
}

std::string StreamDecoder::finish() {
    held_.clear();
    return {};
}

}  // namespace axial::llm
