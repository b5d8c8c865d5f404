// Where the time of a record went: added up by op and by scope.
#pragma once
#include <string>
#include <vector>

#include "axial/tensor/graph.h"

namespace axial {

struct ProfileRow {
    std::string name;
    std::size_t depth = 0;  // a row is a part of the last one above it that is less deep
    std::size_t calls = 0;
    std::chrono::nanoseconds time{};
    Work work = Work::none();
    std::size_t peakBytes = 0;  // of a scope: the most that tensors took at once, beyond what they did at the beginning
};

// A row an op, the longest first. Behind an op that is called with several parameters, deeper, a row for each of them
// ("ffn_down.weight"; those of all layers together).
std::vector<ProfileRow> profileByOp(const Graph&);
// "all" and, deeper, a row a scope in the order in which they were entered, with what is inside of it; numbers of
// scopes
// ("layer 3") are added up ("layer *").
std::vector<ProfileRow> profileByScope(const Graph&);

}  // namespace axial
