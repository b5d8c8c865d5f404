// A conversation with a model: each prompt is the whole history so far, and only the part of it that the cache does
// not hold yet is computed.
#pragma once
#include <chrono>
#include <concepts>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "axial/llm/forward_model.h"
#include "axial/llm/turn.h"

namespace axial::llm {

template <ForwardModel M>
class Conversation {
  public:
    using Cache = CacheOf<M>;

    // Borrows the model. The cache's capacity is how many tokens prompt and reply may have together. `tokens` are those
    // whose keys and values the cache holds, if it is not empty: a warm start. Throws ValueError if it holds another
    // number of them.
    Conversation(const M& model, Cache cache, std::vector<TokenId> tokens = {})
        : model_(&model), cache_(std::move(cache)), history_(std::move(tokens)) {
        if (cache_->length() != history_.size())
            throw ValueError("conversation: the cache holds " + std::to_string(cache_->length()) +
                             " positions, but there are " + std::to_string(history_.size()) +
                             " tokens; give those that it was filled with");
    }

    // The tokens whose keys and values are in the cache.
    std::span<const TokenId> history() const { return history_; }
    std::size_t capacity() const { return cache_ ? cache_->capacity() : 0; }
    const Cache& cache() const { return *cache_; }
    // Whether a turn has begun and is not over.
    bool busy() const { return !turn_.expired(); }

    // Continues `prompt`, which holds everything the model shall know: it may begin as the history does, and then only
    // what is new is computed (at least its last token, for the logits). onText gets the reply as it grows, cut before
    // any stop string. Throws ContextFullError for a prompt that does not fit, ValueError for an empty one, and what
    // model, sampler, decoder, onText and the options' functions throw; the conversation and the sampler then go on as
    // if the turn had not begun: the history is what it was, as far as the prompt begins like it.
    template <TextDecoder D, std::invocable<std::string_view> OnText>
    Reply reply(std::span<const TokenId> prompt, Sampler& sampler, D decoder, const ReplyOptions& options,
                OnText&& onText) {
        Turn turn = begin(prompt, sampler, std::move(decoder), options,
                          [&onText](std::string_view text) { static_cast<void>(onText(text)); });
        while (!turn.over()) try {
                step(turn);
            } catch (...) {
                abandon(turn);
                throw;
            }
        return std::move(turn.reply());
    }

    // The same by hand: begin() and then step() until turn.over(). A conversation has one turn at a time; one that is
    // dropped before it is over is as if cancelled. Throws ValueError if there is one already, UnsupportedError for
    // drafts if the model does not give the logits of all positions, and what Turn's constructor throws.
    Turn begin(std::span<const TokenId> prompt, Sampler& sampler, AnyTextDecoder decoder, ReplyOptions options,
               Turn::OnText onText) {
        requireFree();
        if (options.drafter && !GivesAllLogits<M>)
            throw UnsupportedError(
                "conversation: the model gives the logits of the last position only, so drafts cannot be verified; "
                "leave ReplyOptions::drafter out");
        history_.reserve(capacity());  // so that take() cannot fail after the cache has grown
        auto claim = std::make_shared<const char>();
        Turn turn(history_, capacity(), prompt, sampler, std::move(decoder), std::move(options), std::move(onText));
        keep(turn.length());
        if (turn.over()) return turn;
        turn_ = claim;
        turn.hold(std::move(claim));
        return turn;
    }
    // One forward pass. What the model throws leaves all as it was, so that the step can be tried again; after any
    // other error the conversation goes on as if the turn had not begun.
    void step(Turn& turn) {
        const auto tokens = turn.pending();
        const auto started = std::chrono::steady_clock::now();
        requireOwn(turn);
        const LogitsFrom<M> logits = forwardOne(*model_, *cache_, tokens, turn.which(tokens.size()));
        const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - started;
        take(turn, tokens.size(), logits.values(), passed.count());
    }
    // For whoever runs the model itself, over several conversations (batch.h): the cache holds the first `count`
    // pending tokens now. The rest is as for Turn::take and step.
    void take(Turn& turn, std::size_t count, std::span<const float> logits, double seconds, std::size_t others = 0) {
        const auto tokens = turn.pending().first(count);
        history_.insert(history_.end(), tokens.begin(), tokens.end());
        try {
            turn.take(count, logits, seconds, others);
        } catch (...) {
            abandon(turn);
            throw;
        }
        keep(turn.length());
    }
    // Goes on as if the turn had not begun.
    void abandon(Turn& turn) noexcept {
        keep(std::min(turn.untouched(), history_.size()));
        turn.abandon();
    }
    bool owns(const Turn& turn) const { return turn.claim() && turn.claim() == turn_.lock(); }
    // For a forward pass over several conversations, in the midst of a turn.
    Cache& cache(const Turn& turn) {
        requireOwn(turn);
        return *cache_;
    }

    // Forgets all but the first `length` tokens. Throws ValueError if there are fewer, or in the midst of a turn.
    void truncate(std::size_t length) {
        requireFree();
        requireTokens(length);
        keep(length);
    }

    // Another conversation with this model that begins with the first `length` tokens of this one, computed already.
    // Throws ValueError if there are fewer, or less room.
    Conversation fork(std::size_t length, std::size_t capacity) const
        requires ForkableCache<Cache>
    {
        requireCache();
        requireTokens(length);
        return Conversation(*model_, cache_->fork(length, capacity),
                            {history_.begin(), history_.begin() + static_cast<std::ptrdiff_t>(length)});
    }

    struct Kept {
        std::vector<TokenId> tokens;
        Cache cache;
    };
    // Hands the cache back with what it holds, for a warm start later; this conversation is over then. Throws
    // ValueError in the midst of a turn.
    Kept takeCache() {
        requireFree();
        Kept kept{std::exchange(history_, {}), std::move(*cache_)};
        cache_.reset();
        return kept;
    }

  private:
    void requireCache() const {
        if (!cache_) throw ValueError("conversation: its cache was taken; make another conversation with it");
    }
    void requireFree() const {
        requireCache();
        if (busy())
            throw ValueError(
                "conversation: a turn is going on; wait until it is over, or use another conversation (fork)");
    }
    void requireTokens(std::size_t length) const {
        if (length > history_.size())
            throw ValueError("conversation: there are " + std::to_string(history_.size()) + " tokens, so the first " +
                             std::to_string(length) + " cannot be kept");
    }
    void requireOwn(const Turn& turn) const {
        if (!owns(turn))
            throw ValueError("conversation: the turn is over, or of another conversation; get one from begin()");
    }
    void keep(std::size_t length) {
        cache_->truncate(length);
        history_.resize(length);
    }

    const M* model_;
    std::optional<Cache> cache_;
    std::vector<TokenId> history_;
    std::weak_ptr<const void> turn_;
};

}  // namespace axial::llm
