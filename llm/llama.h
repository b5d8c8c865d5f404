// The llama architecture (LLaMA, arXiv 2302.13971, with the grouped queries of Llama 2): also SmolLM2 and others.
#pragma once
#include <boost/hana/adapt_struct.hpp>

#include "axial/llm/decoder.h"

namespace axial::llm {

// The weights of a block: field attn_q is the file's tensor blk.<i>.attn_q.weight. In GGUF files rows of attn_q and
// attn_k lie so that neighbouring channels are rotated together, elsewhere by halves (Hyperparameters::turnsByHalves).
struct LlamaLayer {
    Weight<embed> attn_norm;
    Weight<head, channel, embed> attn_q;
    Weight<kvHead, channel, embed> attn_k, attn_v;
    Weight<embed, head, channel> attn_output;
    Weight<embed> ffn_norm;
    Weight<ff, embed> ffn_gate, ffn_up;
    Weight<embed, ff> ffn_down;
};

// Binds the file's tensors to a llama. Errors as bindRecord's.
std::unique_ptr<Model> makeLlama(const Hyperparameters&, WeightSource&);

}  // namespace axial::llm

BOOST_HANA_ADAPT_STRUCT(axial::llm::LlamaLayer, attn_norm, attn_q, attn_k, attn_v, attn_output, ffn_norm, ffn_gate,
                        ffn_up, ffn_down);
