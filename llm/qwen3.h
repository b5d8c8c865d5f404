// Qwen3, the dense models (Qwen3 Technical Report, arXiv 2505.09388): the record of a block's weights, and the block.
#pragma once
#include <boost/hana/adapt_struct.hpp>

#include "axial/llm/decoder.h"

namespace axial::llm {

// The weights of a block's first half: field attn_q is the file's tensor blk.<i>.attn_q.weight. The axes say how each
// is read.
struct Qwen3Attention {
    Weight<embed> attn_norm;
    Weight<head, channel, embed> attn_q;
    Weight<kvHead, channel, embed> attn_k, attn_v;
    Weight<channel> attn_q_norm, attn_k_norm;
    Weight<embed, head, channel> attn_output;
};

struct Qwen3Layer : Qwen3Attention {
    Weight<embed> ffn_norm;
    Weight<ff, embed> ffn_gate, ffn_up;
    Weight<embed, ff> ffn_down;
};

// x + output(attention(norm(x))): grouped query attention whose query and key heads are normed, then rotated.
Stream attentionBlock(Stream&& x, const Qwen3Attention& w, std::size_t layer, Step& step, float epsilon);

// Binds the file's tensors to a Qwen3. Errors as bindRecord's.
std::unique_ptr<Model> makeQwen3(const Hyperparameters&, WeightSource&);

}  // namespace axial::llm

BOOST_HANA_ADAPT_STRUCT(axial::llm::Qwen3Layer, attn_norm, attn_q, attn_k, attn_v, attn_q_norm, attn_k_norm,
                        attn_output, ffn_norm, ffn_gate, ffn_up, ffn_down);
