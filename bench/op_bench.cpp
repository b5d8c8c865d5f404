// Every op on the shapes of Qwen3-0.6B, in every format and arithmetic, with all of Google Benchmark's own flags:
//   op_bench --benchmark_filter='dot/ffn_gate/Q4_K/seq:1/'
// --instructions=NAME: on another of instructionSets() than the default. `axial opbench` measures the same.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <deque>
#include <exception>
#include <set>
#include <string>

#include "axial/bench/benchmark_loop.h"
#include "axial/ops/instruction_set.h"
#include "axial/tensor/parallel.h"

namespace axial::bench {
namespace {

std::vector<OpCase> allCases() {
    std::vector<Format> stored;
    for (const FormatInfo& info : formats)
        if (isStoredAs(info.format)) stored.push_back(info.format);
    Selection selection;
    selection.activations = {Activations::int8, Activations::int16, Activations::float32};
    const Shapes shapes = qwen3Shapes(stored, {});
    std::vector<OpCase> cases = opCases(shapes, selection);
    selection.ops = {"dot"};
    selection.cached = true;
    for (OpCase& c : opCases(shapes, selection)) cases.push_back(std::move(c));
    return cases;
}

void run(int argc, char** argv) {
    benchmark::Initialize(&argc, argv);
    std::size_t most = 0;
    const std::vector<OpCase> cases = allCases();
    for (const OpCase& c : cases) most = std::max(most, c.operandBytes);
    const Memory memory(most);
    std::deque<Limits> limits;
    for (const std::size_t threads : std::set<std::size_t>{1, usableCores()})
        limits.push_back({threads, measureReadRate(threads, memory), {}});
    const std::string_view flag = "--instructions=";
    if (argc > 1 && std::string_view(argv[1]).starts_with(flag)) useInstructionSet(argv[1] + flag.size());
    benchmark::AddCustomContext("instructions", instructionSet());
    for (Limits& l : limits) {
        l.productRate = measureProductRates(l.threads);
        const std::string of = " of " + std::to_string(l.threads) + " threads";
        benchmark::AddCustomContext("read GB/s" + of, std::to_string(l.readRate * 1e-9));
        for (std::size_t i = 0; i < products; ++i)
            if (l.productRate[i] > 0)
                benchmark::AddCustomContext(std::string(nameOf(static_cast<Product>(i))) + " GMAC/s" + of,
                                            std::to_string(l.productRate[i] * 1e-9));
    }
    for (const OpCase& c : cases)
        for (const Limits& l : limits)
            benchmark::RegisterBenchmark((c.name() + "/threads:" + std::to_string(l.threads)).c_str(),
                                         [&](benchmark::State& state) { loop(state, c, memory, l); })
                ->UseRealTime();
    benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
}

}  // namespace
}  // namespace axial::bench

int main(int argc, char** argv) {
    try {
        axial::bench::run(argc, argv);
    } catch (const std::exception& e) {
        std::fprintf(stderr, "op_bench: %s\n", e.what());
        return 1;
    }
}
