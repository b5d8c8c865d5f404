// How Hugging Face's transformers name and describe a model (config.json and the tensors of model.safetensors).
#pragma once
#include <filesystem>
#include <string>
#include <string_view>

#include "axial/llm/hyperparameters.h"

namespace axial::llm {

// "blk.3.attn_q.weight" for "model.layers.3.self_attn.q_proj.weight"; the name itself if it is none of those known.
std::string ggufNameOf(std::string_view tensor);

struct HuggingFaceConfig {
    Hyperparameters hyperparameters;
    bool tiedHead = false;  // tie_word_embeddings
};

// Reads config.json: model_type (which is the architecture), hidden_size, num_hidden_layers, num_attention_heads,
// num_key_value_heads (as many as heads if absent), head_dim (hidden_size / heads), intermediate_size,
// max_position_embeddings, rms_norm_eps, rope_theta, rope_scaling or rope_parameters (default, linear, yarn, llama3),
// tie_word_embeddings; of a mixture of experts (Qwen3MoeForCausalLM) num_experts, num_experts_per_tok,
// moe_intermediate_size, norm_topk_prob, decoder_sparse_step, mlp_only_layers. FileError for one that is missing or no
// positive number; UnsupportedError, by its name, for what would change the results and is not done: an activation but
// SiLU, windows, biases where the architecture has none.
HuggingFaceConfig readConfig(const std::filesystem::path& file);

}  // namespace axial::llm
