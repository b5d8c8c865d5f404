#include "machine_limits.h"

#include "axial/bench/limits.h"

namespace axial::cli {

std::optional<MachineLimits> measureLimits(std::size_t threads, Activations activations) {
    const bench::Memory memory(0);
    bench::Limits limits{threads, bench::measureReadRate(threads, memory), bench::measureProductRates(threads)};
    const bench::Arithmetic codes =
        activations == Activations::int8 ? bench::Arithmetic::int8 : bench::Arithmetic::int16;
    return MachineLimits{limits.readRate, limits.productLimit(bench::Arithmetic::float32).rate,
                         limits.productLimit(codes).rate};
}

}  // namespace axial::cli
