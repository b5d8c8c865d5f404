// The forward contract: what a conversation needs of a model, and what it uses where the model has it.
#pragma once
#include <concepts>
#include <cstddef>
#include <span>
#include <utility>

#include "axial/llm/model.h"

namespace axial::llm {

template <class M>
using CacheOf = decltype(std::declval<const M&>().makeCache(std::size_t{}, Format{}));

// Optional: the logits of every position, one behind another, where LogitsOf::all asks for them. Speculation needs it.
template <class M>
concept GivesAllLogits = requires(const M& model, CacheOf<M>& cache, std::span<const TokenId> tokens) {
    model.forward(cache, tokens, LogitsOf::all);
};

// Runs tokens through the model behind those in the cache: the logits of the last one, or of all.
template <class M>
auto forwardOne(const M& model, CacheOf<M>& cache, std::span<const TokenId> tokens, [[maybe_unused]] LogitsOf which) {
    if constexpr (GivesAllLogits<M>)
        return model.forward(cache, tokens, which);
    else
        return model.forward(cache, tokens);
}

template <class M>
using LogitsFrom = decltype(forwardOne(std::declval<const M&>(), std::declval<CacheOf<M>&>(),
                                       std::declval<std::span<const TokenId>>(), LogitsOf::last));

// Class Model (model.h) has all of it. The least: makeCache(capacity, format), and forward(cache, tokens), which gives
// the last position's logits and appends positions to a cache that can forget them from the end. A forward() that
// throws leaves the cache as it was.
template <class M>
concept ForwardModel = requires(CacheOf<M>& cache, const LogitsFrom<M>& logits, std::size_t n) {
    { cache.length() } -> std::convertible_to<std::size_t>;
    { cache.capacity() } -> std::convertible_to<std::size_t>;
    cache.truncate(n);
    { logits.values() } -> std::convertible_to<std::span<const float>>;
};

// Optional: several conversations in one forward pass, with the bits that each gets alone. What throws leaves every
// cache as it was.
template <class M>
concept ForwardsTogether =
    ForwardModel<M> && requires(const M& model, std::span<const ContinuationOf<CacheOf<M>>> conversations) {
        { model.forward(conversations) } -> std::same_as<LogitsFrom<M>>;
    };

// Optional: a copy of a cache's first `length` positions with room for `capacity`.
template <class Cache>
concept ForkableCache = requires(const Cache& cache, std::size_t length, std::size_t capacity) {
    { cache.fork(length, capacity) } -> std::same_as<Cache>;
};

}  // namespace axial::llm
