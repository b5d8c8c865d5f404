// Qwen2 and Qwen2.5, the dense models (Qwen2 Technical Report, arXiv 2407.10671): Llama's block with biases on queries,
// keys and values.
#pragma once
#include <boost/hana/adapt_struct.hpp>

#include "axial/llm/decoder.h"

namespace axial::llm {

// The weights of a block: field attn_q is the file's tensor blk.<i>.attn_q.weight, attn_q_bias is blk.<i>.attn_q.bias.
struct Qwen2Layer {
    Weight<embed> attn_norm;
    Weight<head, channel, embed> attn_q;
    Weight<kvHead, channel, embed> attn_k, attn_v;
    Weight<head, channel> attn_q_bias;
    Weight<kvHead, channel> attn_k_bias, attn_v_bias;
    Weight<embed, head, channel> attn_output;
    Weight<embed> ffn_norm;
    Weight<ff, embed> ffn_gate, ffn_up;
    Weight<embed, ff> ffn_down;
};

// x + output(attention(norm(x))): grouped query attention whose queries and keys are rotated half by half.
Stream attentionBlock(Stream&& x, const Qwen2Layer& w, std::size_t layer, Step& step, float epsilon);

// Binds the file's tensors to a Qwen2. Errors as bindRecord's.
std::unique_ptr<Model> makeQwen2(const Hyperparameters&, WeightSource&);

}  // namespace axial::llm

BOOST_HANA_ADAPT_STRUCT(axial::llm::Qwen2Layer, attn_norm, attn_q, attn_k, attn_v, attn_q_bias, attn_k_bias,
                        attn_v_bias, attn_output, ffn_norm, ffn_gate, ffn_up, ffn_down);
