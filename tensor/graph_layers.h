// Which parts of a record are the same, layer by layer, so that a model of 28 layers can be shown as one.
#pragma once
#include <string>
#include <vector>

#include "axial/tensor/graph.h"

namespace axial {

// A stretch of the record that is shown once: ops outside of any layer, or layers that are equal.
struct GraphPart {
    std::string name;                 // "layer"; empty outside of layers
    std::vector<long> numbers;        // of the layers: 0, 1, 2
    std::vector<Graph::Index> first;  // of each layer the first node; those of the first of them are shown
    Graph::Index count = 0;           // nodes of each
    std::string difference;           // what not all layers have: "ffn_down.weight Q6_K"

    // "layers 0 to 3 and 5, 5 times: ffn_down.weight Q6_K", "layer 4", or "".
    std::string title() const;
};

// Where a shown node gets an operand from: a node of a part, or a leaf.
struct GraphSource {
    bool isLeaf;
    Graph::Index from;          // the leaf; or the result as it is shown, that of the first of equal layers
    bool fromAnotherLayer;      // it was made in another layer than the one that reads it
    std::vector<long> readers;  // the layers that read from there, if not all of them do
};

// What the ops of a scope took together, in all equal layers.
struct ScopeTotal {
    std::chrono::nanoseconds time{};
    std::size_t peakBytes = 0;  // the most that any of them had
};

class GraphLayers {
  public:
    // A layer is what runs in a scope with a number at the outermost level ("layer 3"). Two are equal if they have the
    // same ops on the same axes, extents and formats and the same operations; names of parameters may differ by the
    // number.
    explicit GraphLayers(const Graph&);

    const std::vector<GraphPart>& parts() const { return parts_; }
    // Which node stands for this one where it is shown.
    Graph::Index shown(Graph::Index node) const { return shown_[node]; }
    // Of operand `number` of a shown node.
    std::vector<GraphSource> sourcesOf(Graph::Index node, Graph::Index number) const;
    // Which part a node belongs to.
    const GraphPart& partOf(Graph::Index node) const;
    // A parameter as it is called where `reader` is shown: "attn_q.weight" inside of layers, for "blk.3.attn_q.weight".
    std::string nameOf(Graph::Index leaf, Graph::Index reader) const;
    // Of a scope of the layer that is shown, and those inside it.
    ScopeTotal totalOf(const GraphPart& part, std::string_view path) const;
    // Over equal layers.
    std::chrono::nanoseconds meanTime(Graph::Index node) const;

  private:
    const Graph& graph_;
    std::vector<GraphPart> parts_;
    std::vector<Graph::Index> shown_;
    std::vector<Graph::Index> partOf_;
};

// "0 to 3 and 5".
std::string inWords(const std::vector<long>& numbers);
// "attn_q.weight" of "blk.3.attn_q.weight" in the scope "layer 3/attention"; else the label as it is.
std::string_view nameInScope(std::string_view label, std::string_view scope);
// The most memory that tensors took in a scope and those inside of it.
std::size_t peakIn(const Graph&, std::string_view path);
// "layer 3/attention" as "layer 3" and "attention", and back.
std::vector<std::string_view> scopesIn(std::string_view path);
std::string pathOf(const std::vector<std::string_view>& scopes);

}  // namespace axial
