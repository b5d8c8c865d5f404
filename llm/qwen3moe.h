// Qwen3-MoE, the mixtures of experts (Qwen3 Technical Report, arXiv 2505.09388): 30B-A3B and 235B-A22B.
#pragma once
#include <boost/hana/adapt_struct.hpp>

#include "axial/llm/experts.h"
#include "axial/llm/qwen3.h"

namespace axial::llm {

// The weights of a block. It has a router and experts, or, as some blocks of a model may, the feed-forward of a dense
// one.
struct Qwen3MoeLayer : Qwen3Attention {
    Weight<embed> ffn_norm;
    std::optional<Weight<expert, embed>> ffn_gate_inp;  // the router
    std::shared_ptr<const LayerExperts> experts;        // no field of the record: found by storedExperts
    ExpertParameters parameters;
    std::optional<Weight<ff, embed>> ffn_gate, ffn_up;
    std::optional<Weight<embed, ff>> ffn_down;
};

// x + sum over the experts that the router chooses of weight * down(silu(gate(norm(x))) * up(norm(x))).
Stream mixtureBlock(Stream&& x, const Qwen3MoeLayer& w, std::size_t layer, Step& step, float epsilon);

// Binds the file's tensors to a Qwen3-MoE. Errors as bindRecord's.
std::unique_ptr<Model> makeQwen3Moe(const Hyperparameters&, WeightSource&);
// The axes of a block's tensor, as tensor_axes.h.
std::string axesOfQwen3Moe(std::string_view tensor, const Hyperparameters&);

}  // namespace axial::llm

BOOST_HANA_ADAPT_STRUCT(axial::llm::Qwen3MoeLayer, attn_norm, attn_q, attn_k, attn_v, attn_q_norm, attn_k_norm,
                        attn_output, ffn_norm, ffn_gate_inp, ffn_gate, ffn_up, ffn_down);
