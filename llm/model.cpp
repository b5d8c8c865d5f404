#include "axial/llm/model.h"

namespace axial::llm {

KvCache Model::makeCache(std::size_t capacity, CacheFormats formats) const {
    const Hyperparameters& h = hyperparameters();
    return KvCache(h.layers, kvHead(h.kvHeads), channel(h.channels), capacity, formats);
}

Logits Model::forward(KvCache& cache, std::span<const TokenId> tokens, LogitsOf which) const {
    const Continuation one{cache, tokens, which};
    return forward(std::span(&one, 1));
}

}  // namespace axial::llm
