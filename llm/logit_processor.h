// What may change a model's logits before a token is chosen: a grammar's mask, a caller's own rule.
#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "axial/llm/token.h"

namespace axial::llm {

// Stands first in the sampler's chain (sampler.h), and so sees the model's own logits. One object serves one reply at a
// time; process() and the look-ahead functions change nothing that a later call sees, commit() alone moves on. What
// speculation drafts and then rejects is therefore never seen by commit(), and nothing has to be taken back.
class LogitProcessor {
  public:
    virtual ~LogitProcessor() = default;

    // Edits the logits, one for each token of the vocabulary, of the token that follows `history` and all committed
    // tokens; minus infinity forbids a token.
    virtual void process(std::span<float> logits, std::span<const TokenId> history) = 0;
    // The token has been chosen, once for each token of a reply and in its order, a stop token too.
    virtual void commit(TokenId token) = 0;
    // A new reply begins.
    virtual void reset() = 0;
    // The same rule at the beginning of a reply, for another conversation.
    virtual std::unique_ptr<LogitProcessor> clone() const = 0;

    // Look-ahead, for speculation: the tokens that must come next whatever the model says (none if there is a choice),
    virtual std::vector<TokenId> forced() const { return {}; }
    // and how many of the draft's tokens, from its first on, could come next.
    virtual std::size_t validPrefix(std::span<const TokenId> draft) const { return draft.size(); }
};

}  // namespace axial::llm
