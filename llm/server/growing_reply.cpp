#include "axial/llm/server/growing_reply.h"

#include <utility>

namespace axial::llm::server {

GrowingReply::Growth GrowingReply::grown(ThinkingSplitter::Parts parts) {
    ToolCallSplitter::Parts split = calls_.push(parts.answer);
    Growth growth{std::move(parts.thoughts), std::move(split.text), std::move(split.calls), {}};
    if (!growth.content.empty()) growth.logprobs = std::exchange(logprobs_, {});
    return growth;
}

GrowingReply::Growth GrowingReply::take(const Piece& piece) {
    const bool before = thoughts_.inThoughts();
    ThinkingSplitter::Parts parts = thoughts_.push(piece.text);
    const bool thinks = before || thoughts_.inThoughts() || !parts.thoughts.empty();
    if (thinks) thoughtTokens_ = piece.tokens;
    logprobs_.insert(logprobs_.end(), piece.logprobs.begin(), piece.logprobs.end());
    if (parts.answer.empty() && (thinks || !thoughts_.holdsBack())) logprobs_.clear();
    return grown(std::move(parts));
}

GrowingReply::Growth GrowingReply::end(const ChoiceEnd& end) {
    // Where thoughts end is known exactly if there is a marker for it; pieces may have been joined.
    if (thoughtTokens_ > 0 && end.thoughtTokens > 0) thoughtTokens_ = end.thoughtTokens;
    Growth growth = grown(thoughts_.finish());
    ToolCallSplitter::Parts rest = calls_.finish();
    growth.content += rest.text;
    growth.calls.insert(growth.calls.end(), rest.calls.begin(), rest.calls.end());
    if (!growth.content.empty() && growth.logprobs.empty()) growth.logprobs = std::exchange(logprobs_, {});
    return growth;
}

}  // namespace axial::llm::server
