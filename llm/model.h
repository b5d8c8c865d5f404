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

class Model {
  public:
    virtual ~Model() = default;

    virtual const Hyperparameters& hyperparameters() const = 0;
    // An empty cache for `capacity` positions in the given format (F32 or F16). Throws ShapeError or std::bad_alloc.
    KvCache makeCache(std::size_t capacity, Format format) const;
    // Runs the tokens through the model at positions cache.length() and on, appends their keys and values to the cache
    // and returns the logits of the last position ([seq=1, vocab]) or of all ([seq=tokens, vocab]).
    // Throws ValueError for an empty list, a token outside the vocabulary, or more tokens than the cache has room for;
    // the cache is then as it was.
    virtual Logits forward(KvCache& cache, std::span<const TokenId> tokens, LogitsOf which) const = 0;
};

}  // namespace axial::llm
