#include "axial/tensor/profile.h"

#include <algorithm>
#include <map>

#include "axial/tensor/graph_layers.h"

namespace axial {
namespace {

void add(ProfileRow& row, const Graph::Node& node) {
    ++row.calls;
    row.time += node.time;
    row.work += node.work;
}

// "attn_q.weight, attn_k.weight": the parameters that it reads.
std::string parametersOf(const Graph& graph, const Graph::Node& node) {
    std::string names;
    for (const Graph::Operand& in : graph.operandsOf(node)) {
        const std::string_view label = in.isLeaf ? graph.leaves()[in.from].name : std::string_view();
        if (!label.empty()) names.append(names.empty() ? "" : ", ").append(nameInScope(label, graph.scopeOf(node)));
    }
    return names;
}

// "layer 3" as "layer *".
std::string withoutNumber(std::string_view scope) {
    const std::size_t space = scope.rfind(' ');
    const bool numbered = space != scope.npos && space + 1 < scope.size() &&
                          scope.find_first_not_of("0123456789", space + 1) == scope.npos;
    return numbered ? std::string(scope.substr(0, space + 1)) + "*" : std::string(scope);
}

void sortByTime(std::vector<ProfileRow>& rows) {
    std::stable_sort(rows.begin(), rows.end(),
                     [](const ProfileRow& a, const ProfileRow& b) { return a.time > b.time; });
}

// A scope and those inside of it.
struct Branch {
    ProfileRow row;
    std::vector<Branch> inner;

    Branch& in(const std::string& name) {
        for (Branch& scope : inner)
            if (scope.row.name == name) return scope;
        inner.emplace_back();
        inner.back().row.name = name;
        inner.back().row.depth = row.depth + 1;
        return inner.back();
    }
    void appendTo(std::vector<ProfileRow>& rows) const {
        rows.push_back(row);
        for (const Branch& scope : inner) scope.appendTo(rows);
    }
};

}  // namespace

std::vector<ProfileRow> profileByOp(const Graph& graph) {
    std::map<std::string_view, std::map<std::string, ProfileRow>> ops;
    for (const Graph::Node& node : graph.nodes()) add(ops[node.op][parametersOf(graph, node)], node);
    std::vector<ProfileRow> rows;
    for (const auto& [op, byParameters] : ops) {
        ProfileRow& row = rows.emplace_back();
        row.name = op;
        for (const auto& [names, part] : byParameters) {
            row.calls += part.calls;
            row.time += part.time;
            row.work += part.work;
        }
    }
    sortByTime(rows);
    std::vector<ProfileRow> all;
    for (ProfileRow& row : rows) {
        all.push_back(row);
        auto& byParameters = ops[row.name];
        if (byParameters.size() < 2) continue;
        std::vector<ProfileRow> parts;
        for (auto& [names, part] : byParameters) {
            part.name = names.empty() ? "without parameters" : names;
            part.depth = 1;
            parts.push_back(part);
        }
        sortByTime(parts);
        all.insert(all.end(), parts.begin(), parts.end());
    }
    return all;
}

std::vector<ProfileRow> profileByScope(const Graph& graph) {
    Branch all;
    all.row.name = "all";
    for (const Graph::Node& node : graph.nodes()) {
        add(all.row, node);
        Branch* at = &all;
        for (const std::string_view scope : scopesIn(graph.scopeOf(node))) {
            at = &at->in(withoutNumber(scope));
            add(at->row, node);
        }
    }
    // What was held between ops.
    for (const Graph::ScopePeak& scope : graph.scopes()) {
        Branch* at = &all;
        at->row.peakBytes = std::max(at->row.peakBytes, scope.peakBytes);
        for (const std::string_view part : scopesIn(scope.path)) {
            at = &at->in(withoutNumber(part));
            at->row.peakBytes = std::max(at->row.peakBytes, scope.peakBytes);
        }
    }
    std::vector<ProfileRow> rows;
    all.appendTo(rows);
    return rows;
}

}  // namespace axial
