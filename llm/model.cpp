#include "axial/llm/model.h"

namespace axial::llm {

KvCache Model::makeCache(std::size_t capacity, Format format) const {
    const Hyperparameters& h = hyperparameters();
    return KvCache(h.layers, kvHead(h.kvHeads), channel(h.channels), capacity, format);
}

}  // namespace axial::llm
