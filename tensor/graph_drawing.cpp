#include "axial/tensor/graph_drawing.h"

#include <algorithm>
#include <optional>
#include <ostream>
#include <set>

#include "axial/tensor/graph_layers.h"
#include "axial/tensor/quantity.h"

namespace axial {
namespace {

using Index = Graph::Index;

// As text inside of a label of Graphviz's HTML kind.
std::string escaped(std::string_view text) {
    std::string result;
    for (const char c : text) switch (c) {
            case '&':
                result += "&amp;";
                break;
            case '<':
                result += "&lt;";
                break;
            case '>':
                result += "&gt;";
                break;
            case '"':
                result += "&quot;";
                break;
            default:
                result += c;
        }
    return result;
}
std::string bold(std::string_view text) { return "<b>" + escaped(text) + "</b>"; }
std::string grey(std::string_view text) {
    return "<font point-size=\"9\" color=\"#52606d\">" + escaped(text) + "</font>";
}
std::string small(std::string_view text) { return "<br/>" + grey(text); }

// "seq=5, embed=16", and the format if it is not F32.
std::string axesOf(const Graph::Shape& shape) {
    std::string text = shape.text();
    std::erase(text, '[');
    std::erase(text, ']');
    return text;
}

class Drawing {
  public:
    Drawing(std::ostream& out, const Graph& graph, Measurements measurements)
        : out_(out), graph_(graph), layers_(graph), measured_(measurements == Measurements::shown) {
        for (const Graph::Node& node : graph.nodes()) time_ += node.time;
    }

    void write(std::string_view title) {
        out_
            << "digraph axial {\n"
               "  graph [fontname=\"Helvetica,Arial,sans-serif\", fontsize=16, labelloc=t, newrank=true, "
               "bgcolor=white, nodesep=0.3, "
               "ranksep=0.4, label=<"
            << bold(title)
            << ">];\n"
               "  node [fontname=\"Helvetica,Arial,sans-serif\", fontsize=12, shape=box, style=\"rounded,filled\", "
               "fillcolor=white, color=\"#2f6690\", fontcolor=\"#102a43\", margin=\"0.14,0.07\"];\n"
               "  edge [fontname=\"Helvetica,Arial,sans-serif\", fontsize=9, color=\"#627d98\", fontcolor=\"#486581\", "
               "arrowsize=0.6];\n";
        for (const GraphPart& part : layers_.parts()) write(part);
        for (const std::string& line : later_) out_ << line;
        out_ << "}\n";
    }

  private:
    void write(const GraphPart& part) {
        std::vector<std::string_view> open;
        const auto closeTo = [&](std::size_t depth) {
            for (; open.size() > depth; open.pop_back(), before_.pop_back()) out_ << indent(open.size()) << "}\n";
        };
        for (Index i = part.first.front(); i < part.first.front() + part.count; ++i) {
            const std::vector<std::string_view> scopes = scopesIn(graph_.scopeOf(graph_.nodes()[i]));
            std::size_t same = 0;
            while (same < std::min(open.size(), scopes.size()) && open[same] == scopes[same]) ++same;
            closeTo(same);
            for (; same < scopes.size(); ++same) {
                const bool isLayers = same == 0 && !part.name.empty();
                open.push_back(scopes[same]);
                before_.push_back(last_);
                out_ << indent(same + 1) << "subgraph cluster" << frames_++ << " {\n"
                     << indent(same + 2) << "label=<" << frameTitle(part, open, isLayers)
                     << ">; labeljust=l; fontsize=" << (same == 0 ? 14 : 12)
                     << "; style=\"rounded,filled\"; color=\"#bcccdc\"; fillcolor=\""
                     << (same == 0 ? "#f5f7fa" : "#e9eff5") << "\"; margin=14;\n";
            }
            writeOp(i, part, open.size());
            last_ = i;
        }
        closeTo(0);
    }

    std::string frameTitle(const GraphPart& part, const std::vector<std::string_view>& scopes, bool isLayers) const {
        std::string text = bold(isLayers ? part.title() : std::string(scopes.back()));
        if (measured_) {
            const ScopeTotal total = layers_.totalOf(part, pathOf(scopes));
            text += "<br align=\"left\"/>" +
                    grey(inTime(total.time) + ", at most " + inBytes(total.peakBytes) + " of tensors") +
                    "<br align=\"left\"/>";
        }
        return text;
    }

    void writeOp(Index index, const GraphPart& part, std::size_t depth) {
        const Graph::Node& node = graph_.nodes()[index];
        std::string cost;
        if (node.work.multiplyAdds != 0) cost = inCount(node.work.multiplyAdds) + " multiply-adds";
        if (measured_) cost.append(cost.empty() ? "" : ", ").append(inTime(layers_.meanTime(index)));
        out_ << indent(depth + 1) << "op" << index << " [label=<" << bold(node.op) << (cost.empty() ? "" : small(cost))
             << ">" << shade(index, part) << "];\n";
        std::set<Index> numbers;
        for (const Graph::Operand& in : graph_.operandsOf(node)) {
            if (!numbers.insert(in.number).second) continue;
            for (const GraphSource& source : layers_.sourcesOf(index, in.number)) {
                if (source.isLeaf)
                    writeLeaf(source, index, depth);
                else
                    writeEdge(index, in, source);
            }
        }
    }

    // How much of the time of all the op took, in all the layers that it stands for: from white to amber.
    std::string shade(Index index, const GraphPart& part) const {
        if (!measured_ || time_.count() == 0) return {};
        const double mean = static_cast<double>(layers_.meanTime(index).count());
        const double share = mean * static_cast<double>(part.first.size()) / static_cast<double>(time_.count());
        const auto mix = [share](int full) {
            return static_cast<int>(255 + (full - 255) * std::min(1.0, 2.5 * share));
        };
        char colour[40];
        std::snprintf(colour, sizeof colour, ", fillcolor=\"#%02x%02x%02x\"", mix(255), mix(190), mix(92));
        return colour;
    }

    // Where several parts read the same, each has it beside it: an arrow across everything would show less.
    void writeLeaf(const GraphSource& source, Index reader, std::size_t depth) {
        const Index leaf = source.from;
        const Graph::Leaf& l = graph_.leaves()[leaf];
        const std::string id =
            "leaf" + std::to_string(leaf) + "_" + std::to_string(layers_.partOf(reader).first.front());
        if (leaves_.insert(id).second) {
            out_ << indent(depth + 1) << id << " [label=<"
                 << bold(l.name.empty() ? "input" : layers_.nameOf(leaf, reader)) << small(axesOf(*l.shape)) << ">, "
                 << (l.isParameter ? "shape=cylinder, style=filled, fillcolor=\"#fff8e1\", color=\"#b8860b\""
                                   : "shape=oval, style=filled, fillcolor=\"#e3f9e5\", color=\"#3f9142\"")
                 << "];\n";
            // An arrow that is not seen keeps a frame's leaves below what comes before the frame, and so the frames one
            // below the other.
            if (!before_.empty() && before_.back())
                later_.push_back("  op" + std::to_string(*before_.back()) + " -> " + id +
                                 " [style=invis, weight=0];\n");
        }
        later_.push_back("  " + id + " -> op" + std::to_string(reader) +
                         (source.readers.empty() ? " [" : " [label=<" + layersIn(source) + ">, ") + "weight=2];\n");
    }

    void writeEdge(Index reader, const Graph::Operand& in, const GraphSource& source) {
        const Graph::Result& made = graph_.results()[source.from];
        std::string label = made.name.empty() ? "" : bold(made.name) + "<br/>", style;
        label += escaped(axesOf(*in.shape));
        if (!source.readers.empty()) label.append("<br/>").append(layersIn(source));
        if (source.fromAnotherLayer) style = ", style=dashed";
        style += made.node >= reader ? ", constraint=false" : ", weight=4";
        later_.push_back("  op" + std::to_string(made.node) + " -> op" + std::to_string(reader) + " [label=<" + label +
                         ">" + style + "];\n");
    }

    static std::string layersIn(const GraphSource& source) {
        return (source.readers.size() == 1 ? "layer " : "layers ") + inWords(source.readers);
    }
    static std::string indent(std::size_t depth) { return std::string(2 * depth, ' '); }

    std::ostream& out_;
    const Graph& graph_;
    GraphLayers layers_;
    bool measured_;
    std::chrono::nanoseconds time_{};
    std::size_t frames_ = 0;
    std::set<std::string> leaves_;
    std::optional<Index> last_;                 // the op that was drawn last
    std::vector<std::optional<Index>> before_;  // of each open frame, the one before it
    std::vector<std::string> later_;            // lines that come behind all frames
};

}  // namespace

void writeDrawing(std::ostream& out, const Graph& graph, std::string_view title, Measurements measurements) {
    Drawing(out, graph, measurements).write(title);
}

}  // namespace axial
