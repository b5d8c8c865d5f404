// Where the time of a benchmark's test goes: by op and by scope, beside what the machine can do.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "axial/tensor/profile.h"
#include "machine_limits.h"

namespace axial::cli {

struct BenchProfile {
    explicit BenchProfile(const Graph&);

    std::vector<ProfileRow> ops, scopes;
    double seconds = 0;                   // of the run that was recorded
    std::optional<MachineLimits> limits;  // of as many threads, measured after it
};

// What fraction of what the machine can do a row reaches: 1 is the limit.
struct LimitShares {
    double read, multiply;
};
LimitShares sharesOf(const ProfileRow&, const MachineLimits&);

// Both tables as text; `tokens` went through the model.
std::string describe(const BenchProfile&, const std::string& test, double tokens);

}  // namespace axial::cli
