#include "axial/llm/qwen3.h"

#include "axial/llm/family.h"
#include "axial/llm/feed_forward.h"
#include "axial/ops/attention.h"
#include "axial/ops/dot_fused.h"
#include "axial/ops/norm.h"
#include "axial/ops/rope.h"
#include "axial/tensor/observe.h"

namespace axial::llm {

Stream attentionBlock(Stream&& x, const Qwen3Attention& w, std::size_t layer, Step& step, float epsilon) {
    Scope scope("attention");
    const auto h = rmsNormMul(x, w.attn_norm, epsilon);
    auto [q, k, v] =
        dotAll(h, embed, w.attn_q, w.attn_k, w.attn_v);  // [seq, head, channel], [seq, kvHead, channel] twice

    q = rmsNormMulRopeHalf(std::move(q), w.attn_q_norm, step.rope, epsilon);
    k = rmsNormMulRopeHalf(std::move(k), w.attn_k_norm, step.rope, epsilon);

    const auto mixed = step.attend(layer, x, q, k, v, [](const auto& q, const auto& keys, const auto& values) {
        return groupedAttention(q, keys, values);  // [seq, head, channel]
    });
    return addDot(std::move(x), mixed, w.attn_output, head, channel);  // [seq, embed]
}

namespace {
Stream block(Stream&& x, const Qwen3Layer& w, std::size_t layer, Step& step, float epsilon) {
    x.replace(attentionBlock, w, layer, step, epsilon);
    return feedForwardBlock(std::move(x), w, epsilon);
}
}  // namespace

std::unique_ptr<Model> makeQwen3(const Hyperparameters& hyperparameters, WeightSource& source) {
    return std::make_unique<Family<Qwen3Layer, block>>(hyperparameters, source);
}

}  // namespace axial::llm
