// The record of what ran: ops as nodes, the values between them as edges. What it shows is written by graph_text.h,
// graph_drawing.h, graph_json.h and profile.h.
#pragma once
#include <deque>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "axial/tensor/buffer.h"
#include "axial/tensor/observe.h"

namespace axial {

// Records the ops that run while a Watch installs it:  Graph graph; { Watch watch(graph); step(); } writeText(out,
// graph); It keeps no numbers, only shapes, times and who read what from whom, so it may outlive all tensors. A node
// takes about 200 bytes and 0.7 microseconds beside a model, so steps of a model can be recorded, not days.
class Graph : public Observer {
  public:
    using Index = std::uint32_t;

    // A value's axes, extents and format.
    struct Shape {
        const std::string_view* axis = nullptr;
        Format format = Format::f32;
        std::uint8_t rank = 0;
        Extents extent{};

        std::size_t bytes() const;
        // "[seq=5, embed=16]", and the format if it is not F32.
        std::string text() const;
        friend bool operator==(const Shape&, const Shape&);
    };
    // What came from outside: a parameter (with the file's name for it), or an input (with the name that named() gave
    // it, if it did).
    struct Leaf {
        std::string name;
        bool isParameter;
        const Shape* shape;
    };
    // What an op made.
    struct Result {
        ValueId id;
        Index node;
        Index number;  // which of the op's results
        bool isPart;   // written into what was there before, such as a cache
        const Shape* shape;
        std::string_view name;  // that named() gave it first, if it did: "ffn_inner"
    };
    // What an op read: a leaf or a result. A value that several ops have written their parts of is an operand for each.
    struct Operand {
        Index number;  // which of the op's operands
        bool isLeaf;
        Index from;          // which of leaves() or results()
        const Shape* shape;  // as it was read: a view may have other axes than what was made
    };
    struct Node {
        std::string_view op;
        Index scope;  // which of scopes()
        Index firstOperand, operands, firstResult, results;
        ValueId lastId;  // of the results, the largest
        Work work;
        std::chrono::nanoseconds time;
    };
    struct ScopePeak {
        std::string path;       // "layer 3/attention"
        std::size_t peakBytes;  // the most that buffers held in it, beyond what they did when the record began
        Index follower = 0;     // the scope that was entered after it the last time
    };

    // By default ops run as if nobody watched; with everyValue, those that stand for several run as those.
    explicit Graph(Interest interest = Interest::whatRuns);

    void before(const OpEvent&) override;
    void onOp(const OpEvent&) override;
    void onScope(std::string_view) override;
    void onName(std::string_view name, const TensorRef&, const std::string& scope) override;
    // Forgets everything, and begins anew.
    void clear();

    const std::vector<Node>& nodes() const { return nodes_; }
    const std::vector<Leaf>& leaves() const { return leaves_; }
    const std::vector<Result>& results() const { return results_; }
    const std::deque<ScopePeak>& scopes() const { return scopes_; }
    std::span<const Operand> operandsOf(const Node& n) const {
        return std::span(operands_).subspan(n.firstOperand, n.operands);
    }
    std::span<const Result> resultsOf(const Node& n) const {
        return std::span(results_).subspan(n.firstResult, n.results);
    }
    const std::string& scopeOf(const Node& n) const { return scopes_[n.scope].path; }

  private:
    // A part that an op wrote of what was there before. Whoever reads the whole later reads it too.
    struct Written {
        std::uint64_t serial;  // of the block
        const std::byte *begin, *end;
        Index result;
        Index reader;  // the first node that read it; `unread` before
    };
    static constexpr Index unread = static_cast<Index>(-1);
    // An op that runs.
    struct Pending {
        const OpEvent* event;
        std::vector<Operand> operands;
    };

    void addOperand(const TensorRef&, Index number, std::vector<Operand>&);
    bool addParts(const TensorRef&, Index number, std::vector<Operand>&);
    const Result* resultWith(ValueId) const;
    std::string_view inputName(const TensorRef&) const;
    Index leafOf(const TensorRef&);
    const Shape* shapeOf(const TensorRef&);
    std::string_view kept(std::string_view name);
    void enter(std::string_view scope);
    void takePeak();
    Pending& pendingFor(const OpEvent&);

    std::vector<Node> nodes_;
    std::vector<Operand> operands_;
    std::vector<Result> results_;
    std::vector<Leaf> leaves_;
    std::deque<ScopePeak> scopes_;

    // Between two ops the weights of a model may have gone through the caches, so each look at memory counts: what
    // finds shapes and leaves are tables with open addressing (Knuth, The Art of Computer Programming 6.4), of powers
    // of two and at most half full.
    std::deque<Shape> shapes_;
    std::vector<const Shape*> shapeTable_;
    struct LeafPlace {
        const void* data = nullptr;
        std::uint64_t label = 0;   // a hash of it
        std::uint64_t serial = 0;  // of the block
        const Shape* shape = nullptr;
        Index leaf = 0;
    };
    std::vector<LeafPlace> leafTable_;
    std::deque<std::string> names_;
    struct Named {
        const void* data;
        std::uint64_t serial;
        std::string name;
    };
    std::vector<Named> namedInputs_;    // the latest
    std::vector<Written> written_;      // the latest
    std::uint64_t writtenSerials_ = 0;  // a bit for each of their serials, by its remainder
    std::unordered_map<std::string_view, Index> scopeByPath_;
    Index scope_ = 0;
    std::string entered_;  // where ops run now, if isEntered_; scope_ is then where they ran before
    bool isEntered_ = false;
    std::vector<Pending> pending_;
    std::unique_ptr<MemoryMeter> meter_;
    std::size_t heldBefore_ = 0, heldLast_ = 0;
};

}  // namespace axial
