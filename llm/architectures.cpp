#include "axial/llm/architectures.h"

#include <algorithm>

#include "axial/llm/llama.h"
#include "axial/llm/qwen2.h"
#include "axial/llm/qwen3.h"
#include "axial/llm/qwen3moe.h"
#include "axial/llm/record_axes.h"

namespace axial::llm {
namespace {

template <class Layer>
std::string axesOf(std::string_view tensor, const Hyperparameters& h) {
    return axesOfRecord<Layer>(tensor, axisSizes(h));
}

constexpr Architecture table[] = {
    {"qwen3", false, makeQwen3, axesOf<Qwen3Layer>},
    {"qwen3moe", true, makeQwen3Moe, axesOfQwen3Moe},
    {"qwen2", false, makeQwen2, axesOf<Qwen2Layer>},
    {"llama", false, makeLlama, axesOf<LlamaLayer>},
};

}  // namespace

std::span<const Architecture> architectures() { return table; }

const Architecture* findArchitecture(std::string_view name) {
    const auto* found = std::ranges::find(table, name, &Architecture::name);
    return found == std::end(table) ? nullptr : found;
}

std::string architectureNames() {
    std::string names;
    for (const Architecture& row : table) names.append(names.empty() ? "" : ", ").append(row.name);
    return names;
}

}  // namespace axial::llm
