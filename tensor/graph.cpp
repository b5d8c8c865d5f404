#include "axial/tensor/graph.h"

#include <algorithm>
#include <cstdio>
#include <iomanip>
#include <ostream>

namespace axial {

namespace {

std::string shapeOf(const TensorRef& v) {
    std::string text = describe(v);
    if (v.format != Format::f32) text.append(" ").append(nameOf(v.format));
    return text;
}

std::string microseconds(std::chrono::nanoseconds time) {
    char text[32];
    std::snprintf(text, sizeof text, "%.2f us", double(time.count()) / 1000);
    return text;
}

std::string inQuotes(std::string_view text) {
    std::string result = "\"";
    for (char c : text) {
        if (c == '"' || c == '\\') result += '\\';
        result += c;
    }
    return result + "\"";
}

std::vector<std::string> scopesOf(const std::string& path) {
    std::vector<std::string> parts;
    for (std::size_t from = 0; from < path.size();) {
        const std::size_t to = std::min(path.find('/', from), path.size());
        parts.push_back(path.substr(from, to - from));
        from = to + 1;
    }
    return parts;
}

// "layer 3/attention" as "layer */attention": what the layers spend together.
std::string withoutPositions(const std::string& path) {
    std::string result;
    for (std::string& part : scopesOf(path)) {
        const std::size_t space = part.rfind(' ');
        if (space != part.npos && part.find_first_not_of("0123456789", space + 1) == part.npos)
            part.replace(space + 1, part.npos, "*");
        result.append(result.empty() ? "" : "/").append(part);
    }
    return result;
}

}  // namespace

std::size_t Graph::leafOf(const TensorRef& v) {
    // A parameter is known by its label, anything else by where it lies and how it is read.
    std::string key(v.label);
    if (key.empty()) {
        char address[32];
        std::snprintf(address, sizeof address, "%p", v.data);
        key = address + shapeOf(v);
    }
    const auto [at, isNew] = leafByKey_.try_emplace(key, leaves_.size());
    if (isNew) leaves_.push_back({std::string(v.label), shapeOf(v)});
    return at->second;
}

void Graph::onOp(const OpEvent& e) {
    Node node{std::string(e.op), e.scope, {}, shapeOf(e.out), e.time, bytesOf(e.out.format, e.out.size())};
    for (const TensorRef& in : e.in) {
        const auto made = producer_.find(in.id);
        const bool isLeaf = in.id == 0 || made == producer_.end();
        node.in.push_back({isLeaf, isLeaf ? leafOf(in) : made->second, shapeOf(in)});
        node.bytes += bytesOf(in.format, in.size());
    }
    producer_[e.out.id] = nodes_.size();
    nodes_.push_back(std::move(node));
}

void Graph::clear() { *this = Graph(); }

void Graph::print(std::ostream& out) const {
    std::size_t scope = 0, op = 0;
    for (const Node& node : nodes_) {
        scope = std::max(scope, node.scope.size());
        op = std::max(op, node.op.size());
    }
    const std::size_t digits = std::to_string(nodes_.size()).size() + 1;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        const Node& node = nodes_[i];
        out << std::left << std::setw(int(scope)) << node.scope << (scope ? "  " : "") << std::setw(int(digits))
            << "%" + std::to_string(i) << "  " << std::setw(int(op)) << node.op;
        for (const Value& in : node.in) {
            const std::string& label = in.isLeaf ? leaves_[in.from].label : std::string();
            out << ' ' << (in.isLeaf ? (label.empty() ? "leaf" : label) : "%" + std::to_string(in.from)) << in.shape;
        }
        out << " -> " << node.shape << "  " << microseconds(node.time) << '\n';
    }
}

void Graph::graphviz(std::ostream& out) const {
    out << "digraph axial {\n  node [shape=box, fontname=\"sans-serif\"];\n  edge [fontname=\"sans-serif\", "
           "fontsize=10];\n";
    for (std::size_t i = 0; i < leaves_.size(); ++i)
        out << "  leaf" << i << " [shape=ellipse, label="
            << inQuotes(leaves_[i].label.empty() ? leaves_[i].shape : leaves_[i].label + " " + leaves_[i].shape)
            << "];\n";
    std::vector<std::string> open;
    std::size_t boxes = 0;
    const auto closeTo = [&](std::size_t depth) {
        for (; open.size() > depth; open.pop_back()) out << "  }\n";
    };
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        const std::vector<std::string> scopes = scopesOf(nodes_[i].scope);
        std::size_t same = 0;
        while (same < std::min(open.size(), scopes.size()) && open[same] == scopes[same]) ++same;
        closeTo(same);
        for (; same < scopes.size(); ++same) {
            out << "  subgraph cluster" << boxes++ << " { label=" << inQuotes(scopes[same]) << ";\n";
            open.push_back(scopes[same]);
        }
        out << "  op" << i << " [label=" << inQuotes(nodes_[i].op) << "];\n";
    }
    closeTo(0);
    for (std::size_t i = 0; i < nodes_.size(); ++i)
        for (const Value& in : nodes_[i].in) {
            out << "  " << (in.isLeaf ? "leaf" : "op") << in.from << " -> op" << i;
            if (!in.isLeaf) out << " [label=" << inQuotes(in.shape) << "]";
            out << ";\n";
        }
    out << "}\n";
}

void Graph::profile(std::ostream& out) const {
    struct Sum {
        std::size_t calls = 0, bytes = 0;
        std::chrono::nanoseconds time{};
    };
    const auto table = [&](const char* title, auto keyOf) {
        std::map<std::string, Sum> sums;
        Sum all;
        for (const Node& node : nodes_)
            for (Sum* sum : {&sums[keyOf(node)], &all}) {
                ++sum->calls;
                sum->bytes += node.bytes;
                sum->time += node.time;
            }
        std::vector<std::pair<std::string, Sum>> rows(sums.begin(), sums.end());
        std::stable_sort(rows.begin(), rows.end(), [](auto& a, auto& b) { return a.second.time > b.second.time; });
        std::size_t width = std::string_view(title).size();
        for (const auto& row : rows) width = std::max(width, row.first.size());
        out << std::left << std::setw(int(width)) << title << std::right << std::setw(8) << "calls" << std::setw(14)
            << "time" << std::setw(9) << "share" << std::setw(10) << "GB/s" << '\n';
        for (const auto& [name, sum] : rows) {
            char share[16], rate[16];
            std::snprintf(share, sizeof share, "%.1f %%",
                          all.time.count() ? 100.0 * double(sum.time.count()) / double(all.time.count()) : 0.0);
            std::snprintf(rate, sizeof rate, "%.2f",
                          sum.time.count() ? double(sum.bytes) / double(sum.time.count()) : 0.0);
            out << std::left << std::setw(int(width)) << name << std::right << std::setw(8) << sum.calls
                << std::setw(14) << microseconds(sum.time) << std::setw(9) << share << std::setw(10) << rate << '\n';
        }
    };
    table("op", [](const Node& node) { return node.op; });
    out << '\n';
    table("scope", [](const Node& node) { return withoutPositions(node.scope); });
}

}  // namespace axial
