#include "opbench_shapes.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "axial/llm/tensor_axes.h"
#include "flags.h"
#include "model_facts.h"

namespace axial::cli {
namespace {

using bench::AxisExtent;

// "head=16, channel=128, embed=1024"
std::vector<AxisExtent> axesIn(const std::string& text) {
    std::vector<AxisExtent> axes;
    for (const std::string& part : splitList(text)) {
        const std::size_t from = part.find_first_not_of(' '), equals = part.find('=');
        if (from == part.npos || equals == part.npos) return {};
        axes.push_back(
            {part.substr(from, equals - from), static_cast<std::size_t>(wholeIn(part.substr(equals + 1)).value_or(0))});
    }
    return axes;
}

// The last axes are those that are summed over: as many as their extents fill a row.
bench::LinearLayer layerOf(const llm::Hyperparameters& h, const llm::StoredTensor& tensor) {
    const std::size_t n = tensor.extent[tensor.extent.size() - 2], k = tensor.extent.back();
    const std::vector<AxisExtent> axes = axesIn(llm::axesOfTensor(h, tensor.name));
    bench::LinearLayer layer{tensor.name, tensor.format, {{"row", n}}, {{"column", k}}, false, false};
    for (auto in = axes.begin(); in != axes.end(); ++in)
        if (bench::sizeOf({in, axes.end()}) == k && bench::sizeOf({axes.begin(), in}) == n) {
            layer.out = {axes.begin(), in};
            layer.in = {in, axes.end()};
        }
    return layer;
}

// Whether the layer's ffn_up can be computed with it.
bool isGate(const llm::ModelFile& file, const llm::StoredTensor& tensor) {
    constexpr std::string_view gate = "ffn_gate.weight";
    if (!tensor.name.ends_with(gate)) return false;
    const auto* up = file.findTensor(tensor.name.substr(0, tensor.name.size() - gate.size()) + "ffn_up.weight");
    return up && up->extent == tensor.extent && up->format == tensor.format;
}

std::size_t countIn(const llm::ModelFile& file, const std::string& key) {
    const llm::MetadataValue* value = file.gguf() ? file.gguf()->find(key) : nullptr;
    return value ? value->count() : 0;
}

}  // namespace

bench::Shapes shapesOf(const llm::ModelFile& file) {
    const ModelFacts facts(file);
    const llm::Hyperparameters& h = facts.hyperparameters;
    bench::Shapes shapes;
    shapes.embed = h.embed;
    shapes.heads = h.heads;
    shapes.kvHeads = h.kvHeads;
    shapes.channels = h.channels;
    shapes.ff = h.ff;
    shapes.vocabulary = h.vocabulary;
    shapes.experts = countIn(file, h.architecture + ".expert_count");
    shapes.chosen = countIn(file, h.architecture + ".expert_used_count");
    std::set<std::tuple<Format, std::size_t, std::size_t>> seen;
    for (const llm::StoredTensor& tensor : file.tensors()) {
        if (tensor.extent.size() < 2 || !tensor.name.ends_with(".weight") || !bench::isStoredAs(tensor.format))
            continue;
        const bool isTable = tensor.name == "token_embd.weight";
        if (isTable) shapes.tables.push_back(tensor.format);
        if (isTable && !facts.tiedHead) continue;
        const std::size_t n = tensor.extent[tensor.extent.size() - 2], k = tensor.extent.back();
        if (n == 0 || k == 0 || !seen.emplace(tensor.format, n, k).second) continue;
        shapes.layers.push_back(layerOf(h, tensor));
        shapes.layers.back().isHead = isTable || tensor.name == "output.weight";
        shapes.layers.back().isGate = isGate(file, tensor);
    }
    return shapes;
}

}  // namespace axial::cli
