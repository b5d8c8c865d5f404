// Times a case by Google Benchmark.
#pragma once
#include <cstddef>

#include "axial/bench/op_cases.h"

namespace axial::bench {

struct Measured {
    double seconds;                  // of a call; the median of the repetitions
    double readRate, productRate;    // bytes and multiply-accumulates a second
    double readShare, productShare;  // of the limits
};

// Repetitions of at least `seconds` each, on the threads that the limits are of. What the op throws is thrown.
Measured measure(const OpCase&, const Memory&, const Limits&, double seconds, std::size_t repetitions);

}  // namespace axial::bench
