// What the machine can do at most (bench/limits.h), where this build can measure it.
#pragma once
#include <optional>

#include "axial/ops/activations.h"

namespace axial::cli {

struct MachineLimits {
    double readRate;             // bytes a second
    double floatRate, codeRate;  // multiply-adds a second: of floats, and of integer codes in the arithmetic
};

// Of so many threads on the instruction set in use; nothing in a build without benchmarks.
std::optional<MachineLimits> measureLimits(std::size_t threads, Activations);

}  // namespace axial::cli
