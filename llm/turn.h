// One reply in the making: which tokens the model has to compute next, and what becomes of their logits. It knows
// neither the model nor the cache, so turns of any kind can advance together (batch.h).
#pragma once
#include <chrono>
#include <cstddef>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "axial/llm/model.h"
#include "axial/llm/reply.h"
#include "axial/llm/sampler.h"
#include "axial/llm/stop_text.h"
#include "axial/llm/text_decoder.h"

namespace axial::llm {

// A turn goes on in steps: pending() tokens are run through the model, and take() is given their logits, until over().
// Conversation (conversation.h) does that, and keeps its history and cache in step with length().
class Turn {
  public:
    using OnText = std::function<void(std::string_view)>;

    // Continues `prompt` in a context of `capacity` tokens whose first ones are `history`: what both begin with is not
    // computed again, but at least the prompt's last token is, for its logits. Borrows the sampler, and the speculator
    // in the options. Throws ContextFullError for a prompt that does not fit, ValueError for an empty one, for
    // keepFirst that leaves no room, or for an empty stop string, and what the sampler's processors throw.
    Turn(std::span<const TokenId> history, std::size_t capacity, std::span<const TokenId> prompt, Sampler& sampler,
         AnyTextDecoder decoder, ReplyOptions options, OnText onText);

    // The next tokens to compute, at most `most` (above 0) of them: a piece of the prompt; or the token chosen last,
    // and behind it a draft of those that may follow. They come behind the first length() of all tokens. None when
    // over().
    std::span<const TokenId> pending(std::size_t most = std::numeric_limits<std::size_t>::max()) const;
    // Which of the first `count` pending tokens' logits take() needs.
    LogitsOf which(std::size_t count) const;
    // Goes on with the logits that the model gives after the first `count` pending tokens: rows of one number for each
    // token of the vocabulary. `seconds` is what the forward pass took, in which there were `others` rows of other
    // conversations. Chooses tokens and shows their text. What sampler, decoder,
    // onText and cancelled throw comes out; the turn is then good for abandon() alone.
    void take(std::size_t count, std::span<const float> logits, double seconds, std::size_t others = 0);

    // How many tokens the cache is to hold now; it is cut to so many after each take().
    std::size_t length() const { return length_; }
    // How many tokens of the history of before are still in the cache.
    std::size_t untouched() const { return untouched_; }
    bool over() const { return over_; }
    // What is said about the reply so far.
    Reply& reply() { return reply_; }
    const Reply& reply() const { return reply_; }
    const Sampler& sampler() const { return *sampler_; }
    const Drafter* drafter() const { return options_.drafter; }

    // Ends the reply here, if it is not over: ReplyEnd::cancelled. Throws what onText throws.
    void cancel();
    // Puts the sampler back to before the turn, which is over.
    void abandon() noexcept;

    // Something to hold until the turn is over or gone; Conversation sees by it whether it has a turn.
    void hold(std::shared_ptr<const void> claim) { claim_ = std::move(claim); }
    const std::shared_ptr<const void>& claim() const { return claim_; }

  private:
    using Clock = std::chrono::steady_clock;

    bool cancelled() const { return options_.cancelled && options_.cancelled(); }
    bool atLimit() const;
    std::size_t draftedOf(std::size_t count) const { return length_ + count > known_ ? length_ + count - known_ : 0; }
    std::size_t choose(std::span<const float> rows, std::size_t drafted);
    bool makeRoom();
    void draft(std::size_t others);
    void end(ReplyEnd why);

    Sampler* sampler_;
    std::uint64_t mark_;  // the sampler's choices before the turn
    AnyTextDecoder decoder_;
    ReplyOptions options_;
    OnText onText_;
    StopText stop_;
    std::size_t capacity_;

    std::vector<TokenId> tokens_;  // prompt and reply without what was dropped, and then the draft
    std::size_t length_ = 0;       // of them are in the cache
    std::size_t known_ = 0;        // of them are no draft
    std::size_t untouched_ = 0;
    std::size_t vocabulary_ = 0;  // not known before the first logits
    bool over_ = false;
    std::shared_ptr<const void> claim_;
    Reply reply_;
    Clock::time_point started_ = Clock::now(), prompted_ = {};  // the second is set when the prompt has been read
};

}  // namespace axial::llm
