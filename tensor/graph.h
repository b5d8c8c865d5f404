// The record of what ran: ops as nodes, the values between them as edges.
#pragma once
#include <iosfwd>
#include <map>

#include "axial/tensor/observe.h"

namespace axial {

// Records the ops that run while a Watch installs it: Graph graph; { Watch watch(graph); step(); } graph.print(out);
// It keeps no numbers, only shapes, times and who read what from whom, so it may outlive all tensors.
class Graph : public Observer {
  public:
    // A value that an op read or wrote: the result of an earlier op of this record (its index), or a leaf (its index).
    struct Value {
        bool isLeaf = false;
        std::size_t from = 0;
        std::string shape;  // "[seq=5, embed=16]", and the format if it is not F32
    };
    struct Node {
        std::string op;
        std::string scope;  // "layer 3/attention"
        std::vector<Value> in;
        std::string shape;
        std::chrono::nanoseconds time{};
        std::size_t bytes = 0;  // read and written
    };
    // What came from outside: a parameter (with the file's name for it), or an input.
    struct Leaf {
        std::string label;
        std::string shape;
    };

    void onOp(const OpEvent&) override;
    void clear();

    const std::vector<Node>& nodes() const { return nodes_; }
    const std::vector<Leaf>& leaves() const { return leaves_; }

    // A line an op: its scope, number, name, operands (%3 is the result of op 3; a leaf has its name), result, time.
    void print(std::ostream&) const;
    // For Graphviz's dot, scopes as nested boxes: dot -Tsvg.
    void graphviz(std::ostream&) const;
    // Time by op and by scope, the longest first; positions in a scope ("layer 3") are added up ("layer *").
    void profile(std::ostream&) const;

  private:
    std::size_t leafOf(const TensorRef&);

    std::vector<Node> nodes_;
    std::vector<Leaf> leaves_;
    std::map<ValueId, std::size_t> producer_;
    std::map<std::string, std::size_t, std::less<>> leafByKey_;
};

}  // namespace axial
