// Saved values of a forward pass, as other programs keep them, for axial diff to compare a run with.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "axial/llm/stored_tensor.h"

namespace axial::llm {

// Which value of a run a saved name stands for.
struct ValueName {
    std::optional<std::size_t> layer;  // none: outside of the blocks
    std::vector<std::string> names;    // as named_values.h has them; the first that the run has
};

// "layers.3.attn_norm", "3/attn_norm", "blk.3.attn_norm" and "layer_3.attn_norm" are attn_norm of layer 3, and
// "logits" is outside of the blocks. Modules of Hugging Face's transformers stand for what they return:
// "model.layers.3.input_layernorm" for attn_norm, "model.layers.3.self_attn.o_proj" and "model.layers.3.self_attn" for
// attn_out, "model.layers.3" for layer_out, "lm_head" for logits, and so on.
ValueName valueNameOf(std::string_view saved);

struct ReferenceValue {
    std::string saved;  // what it is called there, as shownName has it: "3/attn_norm.npy", "model.layers.3.mlp"
    ValueName name;
    StoredTensor tensor;
};

struct ReferenceValues {
    std::vector<ReferenceValue> values;
    std::vector<std::string> unread;  // what is there but cannot be compared, and why

    // The .npy files of a folder and of its folders, or the tensors of a .safetensors file. With a layer, names without
    // one are of this layer (but for those that only stand outside of the blocks), and other layers are left out.
    // FileError for a file that is damaged or not there, and if there is nothing.
    static ReferenceValues open(const std::filesystem::path& path, std::optional<std::size_t> layer = std::nullopt);
};

}  // namespace axial::llm
