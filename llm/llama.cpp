#include "axial/llm/llama.h"

#include "axial/llm/family.h"
#include "axial/llm/feed_forward.h"
#include "axial/ops/attention.h"
#include "axial/ops/dot_fused.h"
#include "axial/ops/norm.h"
#include "axial/ops/rope.h"
#include "axial/tensor/observe.h"

namespace axial::llm {

namespace {

// Rotates queries or keys.
template <bool byHalves, class X>
auto rotated(X&& x, const RopeTable& rope) {
    if constexpr (byHalves)
        return ropeHalf(std::forward<X>(x), rope);
    else
        return ropeInterleaved(std::forward<X>(x), rope);
}

template <bool byHalves>
Stream attention(Stream&& x, const LlamaLayer& w, std::size_t layer, Step& step, float epsilon) {
    Scope scope("attention");
    const auto h = rmsNormMul(x, w.attn_norm, epsilon);
    auto [q, k, v] =
        dotAll(h, embed, w.attn_q, w.attn_k, w.attn_v);  // [seq, head, channel], [seq, kvHead, channel] twice

    q = rotated<byHalves>(std::move(q), step.rope);
    k = rotated<byHalves>(std::move(k), step.rope);

    const auto mixed = step.attend(layer, x, q, k, v, [](const auto& q, const auto& keys, const auto& values) {
        return groupedAttention(q, keys, values);  // [seq, head, channel]
    });
    return addDot(std::move(x), mixed, w.attn_output, head, channel);  // [seq, embed]
}

template <bool byHalves>
Stream block(Stream&& x, const LlamaLayer& w, std::size_t layer, Step& step, float epsilon) {
    x.replace(attention<byHalves>, w, layer, step, epsilon);
    return feedForwardBlock(std::move(x), w, epsilon);
}

}  // namespace

std::unique_ptr<Model> makeLlama(const Hyperparameters& hyperparameters, WeightSource& source) {
    if (hyperparameters.turnsByHalves)
        return std::make_unique<Family<LlamaLayer, block<true>>>(hyperparameters, source);
    return std::make_unique<Family<LlamaLayer, block<false>>>(hyperparameters, source);
}

}  // namespace axial::llm
