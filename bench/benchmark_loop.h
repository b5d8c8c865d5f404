// The loop that Google Benchmark times, and what it prints beside the time. Included where its header is.
#pragma once
#include <benchmark/benchmark.h>

#include "axial/bench/op_cases.h"

namespace axial::bench {

// Counters: GB/s, GMAC/s, and their shares of the limits.
void loop(benchmark::State&, const OpCase&, const Memory&, const Limits&);

}  // namespace axial::bench
