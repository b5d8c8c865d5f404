#include "axial/tensor/graph_text.h"

#include <algorithm>
#include <iomanip>
#include <ostream>

#include "axial/tensor/graph_layers.h"
#include "axial/tensor/quantity.h"

namespace axial {
namespace {

using Index = Graph::Index;

struct Line {
    std::string name, shape;
};

class Writer {
  public:
    Writer(std::ostream& out, const Graph& graph, Measurements measurements)
        : out_(out), graph_(graph), layers_(graph), measured_(measurements == Measurements::shown) {}

    void write() {
        for (const GraphPart& part : layers_.parts()) write(part);
        total();
    }

  private:
    void write(const GraphPart& part) {
        std::vector<std::string_view> open;
        for (Index i = part.first.front(); i < part.first.front() + part.count; ++i) {
            const Graph::Node& node = graph_.nodes()[i];
            const std::vector<std::string_view> scopes = scopesIn(graph_.scopeOf(node));
            std::size_t same = 0;
            while (same < std::min(open.size(), scopes.size()) && open[same] == scopes[same]) ++same;
            open.resize(same);
            for (; same < scopes.size(); ++same) {
                open.push_back(scopes[same]);
                if (same == 0) out_ << '\n';
                const bool isLayers = same == 0 && !part.name.empty();
                out_ << indent(same) << (isLayers ? part.title() : std::string(scopes[same]));
                if (measured_) {
                    const ScopeTotal scope = layers_.totalOf(part, pathOf(open));
                    out_ << ": " << inTime(scope.time) << ", at most " << inBytes(scope.peakBytes) << " of tensors";
                }
                out_ << '\n';
            }
            write(i, node, indent(open.size()));
        }
    }

    void write(Index index, const Graph::Node& node, const std::string& margin) {
        std::vector<Line> in, out;
        for (Index number = 0;; ++number) {
            const std::vector<GraphSource> sources = layers_.sourcesOf(index, number);
            if (sources.empty()) break;
            Line line;
            for (const GraphSource& source : sources)
                line.name.append(line.name.empty() ? "" : ", ").append(nameOf(index, source));
            for (const Graph::Operand& operand : graph_.operandsOf(node))
                if (operand.number == number) line.shape = operand.shape->text();
            in.push_back(std::move(line));
        }
        for (const Graph::Result& result : graph_.resultsOf(node))
            out.push_back({nameOf(result), result.shape->text() + (result.isPart ? ", a part of what is there" : "")});
        std::size_t width = 0;
        for (const auto* lines : {&in, &out})
            for (const Line& line : *lines) width = std::max(width, line.name.size());

        const std::string number = "%" + std::to_string(index);
        out_ << margin << std::left << std::setw(6) << number << std::setw(20) << node.op << ' ' << costOf(index, node)
             << '\n';
        for (const Line& line : in)
            out_ << margin << "         " << std::setw(int(width)) << line.name << "  " << line.shape << '\n';
        for (const Line& line : out)
            out_ << margin << "      -> " << std::setw(int(width)) << line.name << "  " << line.shape << '\n';
    }

    std::string costOf(Index index, const Graph::Node& node) const {
        std::string text;
        if (node.work.multiplyAdds != 0) text.append(inCount(node.work.multiplyAdds)).append(" multiply-adds, ");
        text.append(inBytes(node.work.bytesRead)).append(" read, ");
        text.append(inBytes(node.work.bytesWritten)).append(" written");
        if (measured_) text.append(", ").append(inTime(layers_.meanTime(index)));
        return text;
    }

    std::string nameOf(const Graph::Result& r) const {
        std::string name = "%" + std::to_string(r.node);
        if (graph_.nodes()[r.node].results > 1) name.append(".").append(std::to_string(r.number));
        if (!r.name.empty()) name.append(" ").append(r.name);
        return name;
    }
    std::string nameOf(Index reader, const GraphSource& source) const {
        std::string name = source.isLeaf ? layers_.nameOf(source.from, reader) : nameOf(graph_.results()[source.from]);
        if (name.empty()) name = "input";
        if (!source.readers.empty())
            name.append(source.readers.size() == 1 ? " (layer " : " (layers ")
                .append(inWords(source.readers))
                .append(")");
        return name;
    }

    void total() {
        Work work = Work::none();
        std::chrono::nanoseconds time{};
        for (const Graph::Node& node : graph_.nodes()) {
            work += node.work;
            time += node.time;
        }
        out_ << '\n'
             << graph_.nodes().size() << " ops: " << inCount(work.multiplyAdds) << " multiply-adds, "
             << inCount(work.ofCodes) << " of them of integer codes; " << inBytes(work.bytesRead) << " read, "
             << inBytes(work.bytesWritten) << " written";
        if (measured_)
            out_ << "; " << inTime(time) << " in ops; at most " << inBytes(peakIn(graph_, "")) << " of tensors";
        out_ << '\n';
    }

    static std::string indent(std::size_t depth) { return std::string(2 * depth, ' '); }

    std::ostream& out_;
    const Graph& graph_;
    GraphLayers layers_;
    bool measured_;
};

}  // namespace

void writeText(std::ostream& out, const Graph& graph, Measurements measurements) {
    Writer(out, graph, measurements).write();
}

}  // namespace axial
