#include "axial/tensor/graph_json.h"

#include <cstdio>
#include <ostream>

#include "axial/tensor/graph_layers.h"

namespace axial {
namespace {

std::string quoted(std::string_view text) {
    std::string result = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') {
            result.append({'\\', c});
        } else if (static_cast<unsigned char>(c) < 0x20) {
            char code[8];
            std::snprintf(code, sizeof code, "\\u%04x", static_cast<unsigned>(c));
            result += code;
        } else {
            result += c;
        }
    }
    return result + "\"";
}

std::string shapeOf(const Graph::Shape& shape) {
    std::string text = "\"axes\": [";
    for (std::size_t i = 0; i < shape.rank; ++i)
        text.append(i ? ", " : "")
            .append("{\"name\": ")
            .append(quoted(shape.axis[i]))
            .append(", \"extent\": ")
            .append(std::to_string(shape.extent[i]))
            .append("}");
    return text + "], \"format\": " + quoted(nameOf(shape.format)) + ", \"bytes\": " + std::to_string(shape.bytes());
}

// Writes the elements of a list, each by write(element, index), a line each.
template <class List, class F>
void list(std::ostream& out, std::string_view name, const List& elements, F&& write, bool last = false) {
    out << "  " << quoted(name) << ": [";
    std::size_t i = 0;
    for (const auto& element : elements) {
        out << (i ? ",\n    " : "\n    ");
        write(element, i++);
    }
    out << "\n  ]" << (last ? "\n" : ",\n");
}

template <class T>
std::string numbers(const std::vector<T>& values) {
    std::string text = "[";
    for (const T value : values) text.append(text.size() > 1 ? ", " : "").append(std::to_string(value));
    return text + "]";
}

}  // namespace

void writeJson(std::ostream& out, const Graph& graph, std::string_view title, Measurements measurements) {
    const bool measured = measurements == Measurements::shown;
    out << "{\n  \"title\": " << quoted(title) << ",\n";
    list(out, "nodes", graph.nodes(), [&](const Graph::Node& node, std::size_t id) {
        out << "{\"id\": " << id << ", \"op\": " << quoted(node.op) << ", \"scope\": " << quoted(graph.scopeOf(node))
            << ", \"in\": [";
        bool first = true;
        for (const Graph::Operand& in : graph.operandsOf(node)) {
            out << (first ? "" : ", ") << "{\"operand\": " << in.number;
            if (in.isLeaf)
                out << ", \"leaf\": " << in.from;
            else
                out << ", \"node\": " << graph.results()[in.from].node
                    << ", \"result\": " << graph.results()[in.from].number;
            out << ", " << shapeOf(*in.shape) << "}";
            first = false;
        }
        out << "], \"out\": [";
        for (const Graph::Result& result : graph.resultsOf(node))
            out << (result.number ? ", " : "") << "{" << shapeOf(*result.shape)
                << ", \"part\": " << (result.isPart ? "true" : "false")
                << (result.name.empty() ? "" : ", \"name\": " + quoted(result.name)) << "}";
        out << "], \"multiply_adds\": " << node.work.multiplyAdds << ", \"of_codes\": " << node.work.ofCodes
            << ", \"bytes_read\": " << node.work.bytesRead << ", \"bytes_written\": " << node.work.bytesWritten;
        if (measured) out << ", \"time_ns\": " << node.time.count();
        out << "}";
    });
    list(out, "leaves", graph.leaves(), [&](const Graph::Leaf& leaf, std::size_t id) {
        out << "{\"id\": " << id << ", \"name\": " << quoted(leaf.name)
            << ", \"parameter\": " << (leaf.isParameter ? "true" : "false") << ", " << shapeOf(*leaf.shape) << "}";
    });
    if (measured)
        list(out, "scopes", graph.scopes(), [&](const Graph::ScopePeak& scope, std::size_t) {
            out << "{\"path\": " << quoted(scope.path) << ", \"peak_bytes\": " << peakIn(graph, scope.path) << "}";
        });
    const GraphLayers layers(graph);
    list(
        out, "parts", layers.parts(),
        [&](const GraphPart& part, std::size_t) {
            out << "{\"title\": " << quoted(part.title()) << ", \"name\": " << quoted(part.name)
                << ", \"numbers\": " << numbers(part.numbers) << ", \"first\": " << numbers(part.first)
                << ", \"nodes\": " << part.count << ", \"difference\": " << quoted(part.difference) << "}";
        },
        true);
    out << "}\n";
}

}  // namespace axial
