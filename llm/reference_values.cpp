#include "axial/llm/reference_values.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "axial/llm/npy_reader.h"
#include "axial/llm/safetensors.h"
#include "axial/llm/shown_name.h"
#include "axial/tensor/error.h"

namespace axial::llm {
namespace {

struct ModuleName {
    std::string_view module;
    std::array<std::string_view, 2> values;  // the second where a run has no first
};
// What modules of transformers return. Where a projection has a bias, the sum is what it returns.
constexpr ModuleName blockModules[] = {
    {"", {"layer_out"}},
    {"input_layernorm", {"attn_norm"}},
    {"self_attn.q_proj", {"attn_q_biased", "attn_q"}},
    {"self_attn.k_proj", {"attn_k_biased", "attn_k"}},
    {"self_attn.v_proj", {"v"}},
    {"self_attn.q_norm", {"attn_q_norm"}},
    {"self_attn.k_norm", {"attn_k_norm"}},
    {"self_attn.o_proj", {"attn_out"}},
    {"self_attn", {"attn_out"}},
    {"post_attention_layernorm", {"ffn_norm"}},
    {"mlp.gate", {"router_logits"}},
    {"mlp.gate_proj", {"ffn_gate"}},
    {"mlp.up_proj", {"ffn_up"}},
    {"mlp.down_proj", {"ffn_out"}},
    {"mlp", {"ffn_out"}},
};
constexpr ModuleName trunkModules[] = {
    {"input_ids", {"tokens"}},
    {"embed_tokens", {"embedding"}},
    {"norm", {"output_norm"}},
    {"lm_head", {"logits"}},
};
// The values that stand outside of the blocks.
constexpr std::string_view trunkValues[] = {"tokens", "embedding", "output_norm", "logits"};

std::vector<std::string_view> parts(std::string_view name) {
    std::vector<std::string_view> list;
    for (std::size_t at = 0; at <= name.size();) {
        const std::size_t end = std::min(name.find_first_of("./", at), name.size());
        list.push_back(name.substr(at, end - at));
        at = end + 1;
    }
    return list;
}

// 3 for "3", "layer3", "layer_3" and "layer 3".
std::optional<std::size_t> layerIn(std::string_view part) {
    if (part.starts_with("layer")) {
        part.remove_prefix(5);
        if (part.starts_with("_") || part.starts_with(" ")) part.remove_prefix(1);
    }
    std::size_t layer = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), layer);
    if (error != std::errc() || end != part.data() + part.size()) return std::nullopt;
    return layer;
}

template <std::size_t n>
std::vector<std::string> valuesOf(const ModuleName (&table)[n], std::string_view name) {
    const auto* row = std::ranges::find(table, name, &ModuleName::module);
    if (row == std::end(table)) return {std::string(name)};
    std::vector<std::string> list;
    for (const std::string_view value : row->values)
        if (!value.empty()) list.emplace_back(value);
    return list;
}

bool isOfTrunk(const ValueName& name) {
    return std::ranges::find(trunkValues, name.names.front()) != std::end(trunkValues);
}

std::vector<std::filesystem::path> npyFiles(const std::filesystem::path& folder) {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
        if (entry.path().extension() == ".npy" && entry.is_regular_file()) files.push_back(entry.path());
    std::ranges::sort(files);
    return files;
}

}  // namespace

ValueName valueNameOf(std::string_view saved) {
    const std::vector<std::string_view> all = parts(saved);
    constexpr std::string_view outer[] = {"model", "language_model", "transformer", "layers", "layer", "blk", "block"};
    std::size_t first = 0;
    while (first + 1 < all.size() && std::ranges::find(outer, all[first]) != std::end(outer)) ++first;
    ValueName name;
    name.layer = layerIn(all[first]);
    if (name.layer) ++first;
    const std::size_t from =
        first == all.size() ? saved.size() : static_cast<std::size_t>(all[first].data() - saved.data());
    std::string rest(saved.substr(from));
    std::ranges::replace(rest, '/', '.');
    name.names = name.layer ? valuesOf(blockModules, rest) : valuesOf(trunkModules, rest);
    return name;
}

ReferenceValues ReferenceValues::open(const std::filesystem::path& path, std::optional<std::size_t> layer) {
    ReferenceValues all;
    const auto take = [&](const std::string& saved, std::string_view spelled, auto&& read) {
        ValueName name = valueNameOf(spelled);
        if (layer && !name.layer && !isOfTrunk(name))
            name = valueNameOf(std::to_string(*layer) + "/" + std::string(spelled));
        if (layer && name.layer && *name.layer != *layer) return;
        try {
            all.values.push_back({shownName(saved), std::move(name), read()});
        } catch (const UnsupportedError& error) {
            all.unread.emplace_back(error.what());
        }
    };
    std::error_code unknown;
    if (std::filesystem::is_directory(path, unknown)) {
        for (const std::filesystem::path& file : npyFiles(path)) {
            const std::filesystem::path inside = file.lexically_relative(path);
            take(inside.string(), std::filesystem::path(inside).replace_extension().string(),
                 [&] { return readNpy(file); });
        }
        if (all.values.empty() && all.unread.empty())
            throw FileError(path.string() + ": there are no .npy files in this folder" +
                            (layer ? " for layer " + std::to_string(*layer) : ""));
        return all;
    }
    if (path.extension() == ".npy") {
        take(path.filename().string(), path.stem().string(), [&] { return readNpy(path); });
        return all;
    }
    const Safetensors file = Safetensors::open(path);
    for (const StoredTensor& tensor : file.tensors()) take(tensor.name, tensor.name, [&] { return tensor; });
    for (const auto& [name, dtype] : file.unread())
        all.unread.push_back(path.string() + ": tensor " + shownName(name) + " is stored as " + dtype);
    if (all.values.empty() && all.unread.empty())
        throw FileError(path.string() + ": there are no tensors in this file");
    return all;
}

}  // namespace axial::llm
