// Where the drafts of lossless speculation come from.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "axial/llm/token.h"

namespace axial::llm {

// Guesses what a conversation says next. A turn (turn.h) runs the guess through the model behind the token chosen last,
// in one forward pass, and keeps what the sampler chooses all the same: wrong guesses cost time and change nothing.
// Speculator (speculator.h) is one. One object serves one conversation.
class Drafter {
  public:
    virtual ~Drafter() = default;

    // How many tokens are known.
    virtual std::size_t length() const = 0;
    // Forgets all but the first `length` tokens, of at least so many.
    virtual void rewind(std::size_t length) = 0;
    // All tokens of the conversation, the one that is not in the cache yet being the last. They begin with those that
    // are known.
    virtual void follow(std::span<const TokenId> history) = 0;
    // What may come behind them: at most `room` tokens, or none if it would not pay. forced: the tokens that must come
    // (LogitProcessor::forced). others: rows of other conversations in the same forward pass.
    virtual std::vector<TokenId> propose(std::size_t room, std::span<const TokenId> forced, std::size_t others) = 0;
    // What became of a step: tokens drafted (propose() may have been cut short) and accepted, and the seconds it took.
    virtual void observe(std::size_t drafted, std::size_t accepted, double seconds, std::size_t others) = 0;
};

}  // namespace axial::llm
