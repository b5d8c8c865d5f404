// The gated feed-forward block that Llama and Qwen share (GLU Variants Improve Transformer, arXiv 2002.05202).
#pragma once
#include "axial/llm/decoder.h"
#include "axial/ops/dot_fused.h"
#include "axial/ops/norm.h"
#include "axial/tensor/observe.h"

namespace axial::llm {

// x + down(silu(gate(norm(x))) * up(norm(x))). Layer has ffn_norm [embed], ffn_gate and ffn_up [ff, embed] and
// ffn_down [embed, ff].
template <class Layer>
Stream feedForwardBlock(Stream&& x, const Layer& w, float epsilon) {
    named("attn_residual", x);
    Scope scope("feedForward");
    const auto h = rmsNormMul(x, w.ffn_norm, epsilon);
    const auto inner = named("ffn_inner", swigluDot(h, w.ffn_gate, w.ffn_up, embed));  // [seq, ff]
    return addDot(std::move(x), inner, w.ffn_down, ff);                                // [seq, embed]
}

}  // namespace axial::llm
