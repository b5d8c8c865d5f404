#include "axial/bench/measure.h"

#include <algorithm>
#include <chrono>
#include <exception>

#include "axial/bench/benchmark_loop.h"
#include "axial/tensor/parallel.h"

namespace axial::bench {
namespace {

// Keeps the time of each repetition.
class Times : public benchmark::BenchmarkReporter {
  public:
    bool ReportContext(const Context&) override { return true; }
    void ReportRuns(const std::vector<Run>& runs) override {
        for (const Run& run : runs)
            if (run.run_type == Run::RT_Iteration)
                seconds.push_back(run.real_accumulated_time / static_cast<double>(run.iterations));
    }
    std::vector<double> seconds;
};

double median(std::vector<double> numbers) {
    std::sort(numbers.begin(), numbers.end());
    const std::size_t half = numbers.size() / 2;
    return numbers.size() % 2 != 0 ? numbers[half] : (numbers[half - 1] + numbers[half]) / 2;
}

Measured ratesOf(const OpCase& c, const Limits& limits, double seconds) {
    const double readRate = c.bytes / seconds, productRate = c.products / seconds;
    return {seconds, readRate, productRate, readRate / limits.readRate,
            productRate / limits.productLimit(c.arithmetic).rate};
}

}  // namespace

void loop(benchmark::State& state, const OpCase& c, const Memory& memory, const Limits& limits) {
    ThreadTeam team(limits.threads);
    const UseTeam use(team);
    const auto call = c.prepare(memory);
    const auto start = std::chrono::steady_clock::now();
    for (auto _ : state) call();
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    // Rates that are counters of Google Benchmark's own are printed with units that suit no share.
    const Measured m = ratesOf(c, limits, elapsed.count() / static_cast<double>(state.iterations()));
    state.counters["GB/s"] = m.readRate * 1e-9;
    state.counters["read%"] = m.readShare * 100;
    state.counters["GMAC/s"] = m.productRate * 1e-9;
    state.counters["MAC%"] = m.productShare * 100;
}

Measured measure(const OpCase& c, const Memory& memory, const Limits& limits, double seconds, std::size_t repetitions) {
    std::exception_ptr thrown;
    benchmark::ClearRegisteredBenchmarks();
    benchmark::RegisterBenchmark(c.op.c_str(),
                                 [&](benchmark::State& state) {
                                     try {
                                         loop(state, c, memory, limits);
                                     } catch (...) {
                                         thrown = std::current_exception();
                                         state.SkipWithError("thrown");
                                     }
                                 })
        ->UseRealTime()
        ->MinTime(seconds)
        ->Repetitions(static_cast<int>(repetitions));
    Times times;
    benchmark::RunSpecifiedBenchmarks(&times, nullptr, ".");
    if (thrown) std::rethrow_exception(thrown);
    return ratesOf(c, limits, median(times.seconds));
}

}  // namespace axial::bench
