#include "axial/llm/architectures.h"

#include <algorithm>

#include "axial/llm/llama.h"
#include "axial/llm/qwen2.h"
#include "axial/llm/qwen3.h"
#include "axial/llm/record_axes.h"

namespace axial::llm {
namespace {

constexpr Architecture table[] = {
    {"qwen3", makeQwen3, axesOfRecord<Qwen3Layer>},
    {"qwen2", makeQwen2, axesOfRecord<Qwen2Layer>},
    {"llama", makeLlama, axesOfRecord<LlamaLayer>},
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
