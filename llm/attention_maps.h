// What every head of a model looks at while it reads a text, for attention_page.h and whoever else wants to see it.
#pragma once
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "axial/llm/hyperparameters.h"
#include "axial/llm/model.h"
#include "axial/llm/token.h"
#include "axial/tensor/observe.h"

namespace axial::llm {

// For each of some layers and each of its heads the probabilities p(query, key) of the keys 0 to query that a query
// sees, and how spread out they are. Takes 4 bytes a number: layers * heads * tokens * (tokens + 1) / 2 of them.
class AttentionMaps {
  public:
    // At most so many numbers: 128 MB, which is 386 tokens of 28 layers with 16 heads.
    static constexpr std::size_t mostNumbers = std::size_t{1} << 25;
    // The most tokens of a text for so many layers of so many heads.
    static std::size_t mostTokens(std::size_t layers, std::size_t heads);

    // All zeros. `layers` are numbers of layers, ascending. Throws ValueError if there are more than mostNumbers, with
    // how many tokens there may be; or std::bad_alloc.
    AttentionMaps(std::vector<std::size_t> layers, std::size_t heads, std::size_t tokens);

    const std::vector<std::size_t>& layers() const { return layers_; }
    std::size_t heads() const { return heads_; }
    std::size_t tokens() const { return tokens_; }

    // Of the layer at a place in layers(): p(query, 0), ..., p(query, query).
    std::span<const float> row(std::size_t place, std::size_t head, std::size_t query) const;
    std::span<float> row(std::size_t place, std::size_t head, std::size_t query);
    // The entropy of that row in bits, - sum of p log2 p: 0 where all attention is on one token, log2(n) where it is
    // spread evenly over n.
    double entropy(std::size_t place, std::size_t head, std::size_t query) const;

  private:
    std::size_t begin(std::size_t place, std::size_t head, std::size_t query) const;

    std::vector<std::size_t> layers_;
    std::size_t heads_, tokens_;
    std::vector<float> numbers_;
};

// Fills the maps while a model reads the text from its first token on, in one step or in several.
class AttentionRecorder : public Observer {
  public:
    // Borrows the maps.
    explicit AttentionRecorder(AttentionMaps& maps)
        : Observer(Interest::whatRuns), maps_(maps), seen_(maps.layers().size()) {}
    void before(const OpEvent& event) override;
    void onOp(const OpEvent&) override {}
    // Whether there is a row for every token of every layer.
    bool complete() const;

  private:
    AttentionMaps& maps_;
    std::vector<std::size_t> seen_;  // rows of each layer
};

namespace detail {
AttentionMaps attentionOf(const Hyperparameters&, std::span<const TokenId> tokens, std::vector<std::size_t> layers,
                          const std::function<void(std::span<const TokenId>)>& forward);
}  // namespace detail

// The maps of a text: reads it anew, with a cache of its own in the given formats and a few dozen tokens at a time,
// since all logits are computed with them (they ask the last layer for all positions). Beside the maps that takes the
// cache (KvCache::bytesFor) and 32 rows of logits. `layers` are the numbers of those that are wanted; none: all.
// `model` has the forward contract (forward_model.h) with makeCache(capacity, formats) and all logits, as Model has.
// Throws ValueError for no tokens, a layer that the model lacks, or too many numbers (see AttentionMaps), before
// anything is computed; and what forward() throws.
template <class M>
AttentionMaps attentionOf(const M& model, const Hyperparameters& hyperparameters, std::span<const TokenId> tokens,
                          CacheFormats formats, std::vector<std::size_t> layers = {}) {
    std::optional<KvCache> cache;
    return detail::attentionOf(hyperparameters, tokens, std::move(layers), [&](std::span<const TokenId> part) {
        if (!cache) cache.emplace(model.makeCache(tokens.size(), formats));
        (void)model.forward(*cache, part, LogitsOf::all);
    });
}

}  // namespace axial::llm
