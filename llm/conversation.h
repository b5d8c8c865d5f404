// A conversation with a model: each prompt is the whole history so far, and only the part of it that the cache does
// not hold yet is computed.
#pragma once
#include <algorithm>
#include <chrono>
#include <concepts>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "axial/llm/model.h"
#include "axial/llm/reply.h"
#include "axial/llm/sampler.h"
#include "axial/llm/stop_text.h"

namespace axial::llm {

// The forward contract, which class Model (model.h) has: tokens in, the logits of the last position out, positions
// appended to a cache that can forget them from the end. A forward() that throws leaves the cache as it was.
template <class M>
using CacheOf = decltype(std::declval<const M&>().makeCache(std::size_t{}, Format{}));
template <class M>
using LogitsFrom = decltype(std::declval<const M&>().forward(std::declval<CacheOf<M>&>(),
                                                             std::declval<std::span<const TokenId>>(), LogitsOf::last));
template <class M>
concept ForwardModel = requires(CacheOf<M>& cache, const LogitsFrom<M>& logits, std::size_t n) {
    { cache.length() } -> std::convertible_to<std::size_t>;
    { cache.capacity() } -> std::convertible_to<std::size_t>;
    cache.truncate(n);
    { logits.values() } -> std::convertible_to<std::span<const float>>;
};

// Turns tokens into text piece by piece, as StreamDecoder (stream_decoder.h) does.
template <class D>
concept TextDecoder = requires(D& decoder, TokenId token) {
    { decoder.push(token) } -> std::convertible_to<std::string>;
    { decoder.finish() } -> std::convertible_to<std::string>;
};

template <ForwardModel M>
class Conversation {
  public:
    using Cache = CacheOf<M>;

    // Borrows the model. The cache's capacity is how many tokens prompt and reply may have together.
    Conversation(const M& model, Cache cache) : model_(model), cache_(std::move(cache)) {}

    // The tokens whose keys and values are in the cache.
    std::span<const TokenId> history() const { return history_; }
    std::size_t capacity() const { return cache_.capacity(); }
    const Cache& cache() const { return cache_; }

    // Continues `prompt`, which holds everything the model shall know: it may begin as the history does, and then only
    // what is new is computed (at least its last token, for the logits). onText gets the reply as it grows, cut before
    // any stop string. Throws ContextFullError for a prompt that does not fit, ValueError for an empty one, and what
    // model, sampler, decoder and onText throw; the history then says what the cache holds, so that the same prompt
    // can be tried again.
    template <TextDecoder D, std::invocable<std::string_view> OnText>
    Reply reply(std::span<const TokenId> prompt, Sampler& sampler, D decoder, const ReplyOptions& options,
                OnText&& onText) {
        StopText stop(options.stopTexts);
        if (prompt.empty()) throw ValueError("conversation: the prompt is empty; give at least one token");
        if (prompt.size() > capacity()) throw ContextFullError(prompt.size(), capacity());

        Reply reply;
        reply.promptTokens = prompt.size();
        reply.reusedTokens = keepCommonStart(prompt);
        const auto started = Clock::now();
        LogitsFrom<M> logits;
        const std::size_t batch = std::max<std::size_t>(1, options.batch);
        while (history_.size() < prompt.size()) {
            if (isCancelled(options)) return ended(reply, ReplyEnd::cancelled);
            const std::size_t done = history_.size();
            logits = forward(prompt.subspan(done, std::min(batch, prompt.size() - done)));
        }
        const auto prompted = Clock::now();
        reply.promptSeconds = std::chrono::duration<double>(prompted - started).count();

        reply.end = grow(reply, logits, sampler, decoder, stop, options, onText);
        if (!stop.found()) {
            std::string rest = stop.push(decoder.finish());
            if (!stop.found()) rest += stop.finish();
            if (!rest.empty()) onText(std::string_view(rest));
        }
        if (stop.found()) {
            reply.end = ReplyEnd::stopText;
            reply.stop = stop.which();
        }
        reply.replySeconds = std::chrono::duration<double>(Clock::now() - prompted).count();
        return reply;
    }

    // Forgets all but the first `length` tokens.
    void truncate(std::size_t length) {
        cache_.truncate(length);
        history_.resize(length);
    }

  private:
    using Clock = std::chrono::steady_clock;

    static bool isCancelled(const ReplyOptions& options) { return options.cancelled && options.cancelled(); }
    static Reply ended(Reply& reply, ReplyEnd end) {
        reply.end = end;
        return std::move(reply);
    }

    std::size_t keepCommonStart(std::span<const TokenId> prompt) {
        const auto [mine, its] = std::mismatch(history_.begin(), history_.end(), prompt.begin(), prompt.end());
        const std::size_t common = std::min<std::size_t>(its - prompt.begin(), prompt.size() - 1);
        history_.reserve(capacity());  // so that no push below can fail after the cache has grown
        truncate(common);
        return common;
    }

    LogitsFrom<M> forward(std::span<const TokenId> tokens) {
        LogitsFrom<M> logits = model_.forward(cache_, tokens, LogitsOf::last);
        history_.insert(history_.end(), tokens.begin(), tokens.end());
        return logits;
    }

    template <class D, class OnText>
    ReplyEnd grow(Reply& reply, LogitsFrom<M>& logits, Sampler& sampler, D& decoder, StopText& stop,
                  const ReplyOptions& options, OnText& onText) {
        const auto atLimit = [&] { return options.maxTokens >= 0 && std::ssize(reply.tokens) >= options.maxTokens; };
        while (!atLimit()) {
            if (isCancelled(options)) return ReplyEnd::cancelled;
            const TokenId token = sampler.next(std::as_const(logits).values(), history_);
            if (std::ranges::find(options.stopTokens, token) != options.stopTokens.end()) return ReplyEnd::stopToken;
            reply.tokens.push_back(token);
            if (const std::string text = stop.push(decoder.push(token)); !text.empty()) onText(std::string_view(text));
            if (stop.found()) return ReplyEnd::stopText;
            if (atLimit()) break;
            if (history_.size() == capacity()) return ReplyEnd::contextFull;
            logits = forward(std::span(&token, 1));
        }
        return ReplyEnd::length;
    }

    const M& model_;
    Cache cache_;
    std::vector<TokenId> history_;
};

}  // namespace axial::llm
