// What every model family offers: tokens in, logits out, keys and values kept in a cache.
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "axial/llm/axes.h"
#include "axial/llm/hyperparameters.h"
#include "axial/llm/kv_cache.h"
#include "axial/llm/token.h"
#include "axial/tensor/tensor.h"

namespace axial::llm {

// logits(seq, vocab): the natural-log odds that the model gives each token as the next one after a position.
using Logits = Tensor<float, seq, vocab>;

// Which positions' logits a forward pass computes; the output head is skipped for the others.
enum class LogitsOf { last, all };

// What a forward pass computes of one conversation: the tokens that come behind those in its cache.
template <class Cache>
struct ContinuationOf {
    Cache& cache;
    std::span<const TokenId> tokens;
    LogitsOf which = LogitsOf::last;
};
using Continuation = ContinuationOf<KvCache>;

class Model {
  public:
    virtual ~Model() = default;

    virtual const Hyperparameters& hyperparameters() const = 0;
    // An empty cache for `capacity` positions in the given format, or formats. Throws ShapeError or std::bad_alloc.
    KvCache makeCache(std::size_t capacity, CacheFormats formats) const;
    // Runs each conversation's tokens through the model at positions cache.length() and on, all conversations together,
    // appends their keys and values to the caches, and returns the logits [seq, vocab] of each one's last position, or
    // of all its positions, one conversation behind another. They have the same bits as those of each conversation by
    // itself, cut into steps in any way. Throws ValueError if there is no conversation, or for one without tokens, with
    // a token outside the vocabulary, with more tokens than its cache has room for, with another model's cache or that
    // of another conversation; the caches are then as they were.
    virtual Logits forward(std::span<const Continuation> conversations) const = 0;
    // The same for one conversation.
    Logits forward(KvCache& cache, std::span<const TokenId> tokens, LogitsOf which) const;
};

}  // namespace axial::llm
