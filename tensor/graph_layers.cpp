#include "axial/tensor/graph_layers.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>

namespace axial {
namespace {

using Index = Graph::Index;

// The outermost part of a path that ends in a number: "layer" and 3 of "layer 3/attention".
struct Layer {
    std::string_view name;
    long number;
    std::string_view rest;  // "/attention"
};
std::optional<Layer> layerOf(std::string_view path) {
    const std::string_view first = path.substr(0, path.find('/'));
    const std::size_t space = first.rfind(' ');
    if (space == first.npos) return {};
    long number = 0;
    const char* end = first.data() + first.size();
    if (std::from_chars(first.data() + space + 1, end, number).ptr != end || space + 1 == first.size()) return {};
    return Layer{first.substr(0, space), number, path.substr(first.size())};
}

bool isIn(std::string_view inner, std::string_view outer) {
    return outer.empty() || (inner.starts_with(outer) && (inner.size() == outer.size() || inner[outer.size()] == '/'));
}

// "attn_q.weight" of "blk.3.attn_q.weight" for layer 3.
std::string_view withoutLayer(std::string_view label, long number) {
    const std::string part = "." + std::to_string(number) + ".";
    const std::size_t at = label.find(part);
    return at == label.npos ? label : label.substr(at + part.size());
}

// Everything that makes a layer what it is; `number` is its own.
std::string signatureOf(const Graph& graph, Index first, Index count, long number) {
    std::string text;
    for (Index i = first; i < first + count; ++i) {
        const Graph::Node& node = graph.nodes()[i];
        text.append(node.op).append(layerOf(graph.scopeOf(node))->rest);
        text.append(" ").append(std::to_string(node.work.multiplyAdds));
        for (const Graph::Operand& in : graph.operandsOf(node)) {
            text.append("\n").append(std::to_string(in.number)).append(in.shape->text());
            if (in.isLeaf) {
                const Graph::Leaf& leaf = graph.leaves()[in.from];
                text.append(leaf.isParameter ? withoutLayer(leaf.name, number) : " from before");
                continue;
            }
            const Graph::Result& made = graph.results()[in.from];
            if (made.node < first)
                text.append(" from before");
            else
                text.append(" ")
                    .append(std::to_string(made.node - first))
                    .append(".")
                    .append(std::to_string(made.number));
        }
        for (const Graph::Result& out : graph.resultsOf(node)) text.append("\n-> ").append(out.shape->text());
        text += '\n';
    }
    return text;
}

// What can be named of a layer: its parameters with their formats, and its ops with how many there are of each.
std::vector<std::string> featuresOf(const Graph& graph, const GraphPart& part, bool wholeShapes) {
    std::vector<std::string> features;
    std::map<std::string_view, int> ops;
    for (Index i = part.first.front(); i < part.first.front() + part.count; ++i) {
        const Graph::Node& node = graph.nodes()[i];
        ++ops[node.op];
        for (const Graph::Operand& in : graph.operandsOf(node)) {
            const std::string_view label = in.isLeaf ? graph.leaves()[in.from].name : std::string_view();
            if (label.empty()) continue;
            const std::string shape = wholeShapes ? in.shape->text() : std::string(nameOf(in.shape->format));
            features.push_back(std::string(withoutLayer(label, part.numbers.front())) + " " + shape);
        }
    }
    for (const auto& [op, count] : ops)
        features.push_back((count == 1 ? "" : std::to_string(count) + " ") + std::string(op));
    return features;
}

// Says of each kind of layers what not all kinds have.
void nameDifferences(const Graph& graph, std::vector<GraphPart*>& kinds) {
    if (kinds.size() < 2) return;
    for (const bool wholeShapes : {false, true}) {
        std::vector<std::vector<std::string>> features;
        for (const GraphPart* kind : kinds) features.push_back(featuresOf(graph, *kind, wholeShapes));
        const auto everywhere = [&](const std::string& feature) {
            return std::all_of(features.begin(), features.end(), [&](const auto& list) {
                return std::find(list.begin(), list.end(), feature) != list.end();
            });
        };
        bool any = false;
        for (std::size_t k = 0; k < kinds.size(); ++k) {
            constexpr std::size_t most = 4;
            std::vector<std::string> own;
            for (const std::string& feature : features[k])
                if (!everywhere(feature)) own.push_back(feature);
            std::string& text = kinds[k]->difference;
            for (std::size_t i = 0; i < std::min(own.size(), most); ++i) text.append(i ? ", " : "").append(own[i]);
            if (own.size() > most) text.append(" and ").append(std::to_string(own.size() - most)).append(" more");
            any = any || !text.empty();
        }
        if (any) return;
    }
}

}  // namespace

std::string inWords(const std::vector<long>& numbers) {
    std::vector<std::string> runs;
    for (std::size_t i = 0; i < numbers.size();) {
        std::size_t end = i + 1;
        while (end < numbers.size() && numbers[end] == numbers[end - 1] + 1) ++end;
        if (end - i > 2)
            runs.push_back(std::to_string(numbers[i]) + " to " + std::to_string(numbers[end - 1]));
        else
            for (std::size_t k = i; k < end; ++k) runs.push_back(std::to_string(numbers[k]));
        i = end;
    }
    std::string text;
    for (std::size_t i = 0; i < runs.size(); ++i)
        text.append(i == 0 ? "" : i + 1 == runs.size() ? " and " : ", ").append(runs[i]);
    return text;
}

std::string_view nameInScope(std::string_view label, std::string_view scope) {
    const auto layer = layerOf(scope);
    return layer ? withoutLayer(label, layer->number) : label;
}

std::size_t peakIn(const Graph& graph, std::string_view path) {
    std::size_t peak = 0;
    for (const Graph::ScopePeak& scope : graph.scopes())
        if (isIn(scope.path, path)) peak = std::max(peak, scope.peakBytes);
    return peak;
}

std::vector<std::string_view> scopesIn(std::string_view path) {
    std::vector<std::string_view> scopes;
    while (!path.empty()) {
        const std::size_t end = std::min(path.find('/'), path.size());
        scopes.push_back(path.substr(0, end));
        path.remove_prefix(std::min(end + 1, path.size()));
    }
    return scopes;
}
std::string pathOf(const std::vector<std::string_view>& scopes) {
    std::string path;
    for (const std::string_view scope : scopes) path.append(path.empty() ? "" : "/").append(scope);
    return path;
}

std::string GraphPart::title() const {
    if (name.empty()) return {};
    std::string text = name + (numbers.size() == 1 ? " " : "s ") + inWords(numbers);
    if (numbers.size() > 1) text.append(", ").append(std::to_string(numbers.size())).append(" times");
    if (!difference.empty()) text.append(": ").append(difference);
    return text;
}

GraphLayers::GraphLayers(const Graph& graph) : graph_(graph) {
    const auto& nodes = graph.nodes();
    std::map<std::string, std::size_t> kinds;  // by signature, which of parts_
    for (Index i = 0; i < nodes.size();) {
        const auto layer = layerOf(graph.scopeOf(nodes[i]));
        Index end = i;
        const auto continues = [&](const std::optional<Layer>& other) {
            return other.has_value() == layer.has_value() &&
                   (!layer || (other->name == layer->name && other->number == layer->number));
        };
        while (end < nodes.size() && continues(layerOf(graph.scopeOf(nodes[end])))) ++end;
        std::size_t part = parts_.size();
        if (layer) {
            std::string signature(layer->name);
            signature.append("\n").append(signatureOf(graph, i, end - i, layer->number));
            part = kinds.try_emplace(std::move(signature), part).first->second;
        }
        if (part == parts_.size()) {
            parts_.emplace_back();
            if (layer) parts_.back().name = layer->name;
            parts_.back().count = end - i;
        }
        if (layer) parts_[part].numbers.push_back(layer->number);
        parts_[part].first.push_back(i);
        for (Index k = i; k < end; ++k) {
            shown_.push_back(parts_[part].first.front() + (k - i));
            partOf_.push_back(static_cast<Index>(part));
        }
        i = end;
    }
    std::vector<GraphPart*> layers;
    for (GraphPart& part : parts_)
        if (!part.name.empty()) layers.push_back(&part);
    nameDifferences(graph, layers);
}

const GraphPart& GraphLayers::partOf(Index node) const { return parts_[partOf_[node]]; }

std::string GraphLayers::nameOf(Index leaf, Index reader) const {
    return std::string(nameInScope(graph_.leaves()[leaf].name, graph_.scopeOf(graph_.nodes()[reader])));
}

std::vector<GraphSource> GraphLayers::sourcesOf(Index node, Index number) const {
    const GraphPart& part = partOf(node);
    const Index offset = node - part.first.front();
    std::vector<GraphSource> sources;
    bool allLeaves = true;
    for (const Graph::Operand& in : graph_.operandsOf(graph_.nodes()[node]))
        if (in.number == number) allLeaves = allLeaves && in.isLeaf;
    for (std::size_t layer = 1; allLeaves && layer < part.first.size(); ++layer)
        for (const Graph::Operand& in : graph_.operandsOf(graph_.nodes()[part.first[layer] + offset]))
            if (in.number == number) allLeaves = allLeaves && in.isLeaf;
    for (std::size_t layer = 0; layer < part.first.size(); ++layer) {
        const Index first = part.first[layer], reader = first + offset;
        for (const Graph::Operand& in : graph_.operandsOf(graph_.nodes()[reader])) {
            if (in.number != number) continue;
            GraphSource source{in.isLeaf, in.from, false, {}};
            if (!in.isLeaf) {
                const Graph::Result& made = graph_.results()[in.from];
                source.from = graph_.nodes()[shown_[made.node]].firstResult + made.number;
                source.fromAnotherLayer =
                    !partOf(made.node).name.empty() && (made.node < first || made.node >= first + part.count);
            }
            const auto at = std::find_if(sources.begin(), sources.end(), [&](const GraphSource& s) {
                return s.isLeaf == source.isLeaf && s.from == source.from &&
                       s.fromAnotherLayer == source.fromAnotherLayer;
            });
            GraphSource& known = at == sources.end() ? sources.emplace_back(source) : *at;
            if (!part.name.empty() && !allLeaves) known.readers.push_back(part.numbers[layer]);
        }
        if (allLeaves) break;  // each layer has its own, of which that of the first stands for all
    }
    for (GraphSource& s : sources)
        if (s.readers.size() == part.first.size()) s.readers.clear();
    return sources;
}

ScopeTotal GraphLayers::totalOf(const GraphPart& part, std::string_view path) const {
    ScopeTotal total;
    const Index first = part.first.front();
    for (Index offset = 0; offset < part.count; ++offset)
        if (isIn(graph_.scopeOf(graph_.nodes()[first + offset]), path))
            for (const Index layer : part.first) total.time += graph_.nodes()[layer + offset].time;
    const std::string_view rest = path.substr(std::min(path.size(), path.find('/')));
    for (std::size_t layer = 0; layer < part.first.size(); ++layer) {
        const std::string same = part.name.empty()
                                     ? std::string(path)
                                     : part.name + " " + std::to_string(part.numbers[layer]) + std::string(rest);
        total.peakBytes = std::max(total.peakBytes, peakIn(graph_, same));
    }
    return total;
}

std::chrono::nanoseconds GraphLayers::meanTime(Index node) const {
    const GraphPart& part = partOf(node);
    std::chrono::nanoseconds sum{};
    for (const Index first : part.first) sum += graph_.nodes()[first + (node - part.first.front())].time;
    return sum / static_cast<long>(part.first.size());
}

}  // namespace axial
