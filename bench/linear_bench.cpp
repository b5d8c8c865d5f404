// Linear layers: GMAC/s and GB/s of weights, by format, shape and number of rows computed together.
#include <benchmark/benchmark.h>

#include <random>
#include <span>
#include <string>
#include <vector>

#include "axial/ops/activations.h"
#include "axial/ops/instruction_set.h"
#include "axial/ops/linear.h"
#include "axial/tensor/buffer.h"
#include "axial/tensor/parallel.h"

namespace {

using namespace axial;

// Enough different weights that they cannot stay in a cache from one call to the next.
constexpr std::size_t streamBytes = std::size_t{400} << 20;

struct Case {
    Format format;
    std::size_t n, k, m, threads;
    bool stream;  // weights from memory, not from a cache
    Activations arithmetic;
};

void linear(benchmark::State& state, Case c) {
    const UseActivations arithmetic(c.arithmetic);
    ThreadTeam team(c.threads);
    const UseTeam use(team);
    const std::size_t bytes = bytesOf(c.format, c.n * c.k);
    const std::size_t copies = c.stream ? std::max<std::size_t>(1, streamBytes / bytes) : 1;
    const Buffer stored(copies * bytes), activations(c.m * c.k * sizeof(float)), results(c.m * c.n * sizeof(float));
    const std::span weights(static_cast<std::byte*>(stored.data()), copies * bytes);
    std::mt19937_64 random(1);
    for (std::size_t i = 0; i + 8 <= weights.size(); i += 8) {
        // Ordinary numbers as halves, bfloat16 and floats: nothing infinite, nothing that multiplies to a subnormal.
        const std::uint64_t word = (random() & 0xa3ffa3ffa3ffa3ffULL) | 0x1c001c001c001c00ULL;
        std::copy_n(reinterpret_cast<const std::byte*>(&word), 8, weights.data() + i);
    }
    const std::span x(static_cast<float*>(activations.data()), c.m * c.k);
    auto* const out = static_cast<float*>(results.data());
    std::normal_distribution<float> normal;
    for (float& v : x) v = normal(random);
    std::size_t which = 0;
    for (auto _ : state) {
        const erased::RowsProduct product{
            {c.format, weights.data() + which * bytes, static_cast<std::ptrdiff_t>(bytesOf(c.format, c.k))},
            c.n,
            0,
            c.m,
            out,
            static_cast<std::ptrdiff_t>(c.n)};
        erased::multiply({x.data(), static_cast<std::ptrdiff_t>(c.k), c.m, c.k}, &product, 1);
        benchmark::DoNotOptimize(*out);
        which = (which + 1) % copies;
    }
    const auto rate = [&](double amount) {
        return benchmark::Counter(amount * 1e-9, benchmark::Counter::kIsIterationInvariantRate);
    };
    state.counters["GMAC/s"] = rate(static_cast<double>(c.n * c.k * c.m));
    state.counters["GB/s"] = rate(static_cast<double>(bytes));
}

// What decode is bounded by: reading memory and adding it up.
void readMemory(benchmark::State& state, std::size_t threads) {
    ThreadTeam team(threads);
    std::vector<std::uint64_t> numbers(streamBytes / 8, 1);
    constexpr std::size_t part = std::size_t{1} << 17;
    std::vector<std::uint64_t> sums(numbers.size() / part);
    auto task = [&](std::size_t i) {
        std::uint64_t sum[4]{};
        for (std::size_t at = i * part; at < (i + 1) * part; at += 8)
            for (std::size_t j = 0; j < 8; ++j) sum[j % 4] += numbers[at + j];
        sums[i] = sum[0] + sum[1] + sum[2] + sum[3];
    };
    for (auto _ : state) {
        team.run(sums.size(), task);
        benchmark::DoNotOptimize(sums.data());
    }
    state.counters["GB/s"] = benchmark::Counter(static_cast<double>(sums.size() * part * 8) * 1e-9,
                                                benchmark::Counter::kIsIterationInvariantRate);
}

}  // namespace

// --instructions=NAME: on another of instructionSets() than the default.
int main(int argc, char** argv) {
    benchmark::Initialize(&argc, argv);
    const std::string_view flag = "--instructions=";
    if (argc > 1 && std::string_view(argv[1]).starts_with(flag)) useInstructionSet(argv[1] + flag.size());
    benchmark::AddCustomContext("instructions", instructionSet());
    for (const std::size_t threads : {1, 2})
        benchmark::RegisterBenchmark(("read/t" + std::to_string(threads)).c_str(), readMemory, threads)->UseRealTime();
    for (const FormatInfo& info : formats) {
        if (infoOf(info.format).blockElements == 1 && info.format > Format::bf16) continue;
        for (const auto& [n, k] : {std::pair<std::size_t, std::size_t>{3072, 1024}, {1024, 3072}})
            for (const auto& [m, stream] :
                 {std::pair<std::size_t, bool>{1, true}, {1, false}, {8, false}, {512, false}})
                for (const std::size_t threads : {1, 2})
                    for (const Activations arithmetic : {Activations::int8, Activations::int16, Activations::float32}) {
                        const std::string name = std::string(info.name) + "/n" + std::to_string(n) + "/k" +
                                                 std::to_string(k) + "/m" + std::to_string(m) +
                                                 (stream ? "/stream" : "/cached") + "/t" + std::to_string(threads) +
                                                 (arithmetic == Activations::int8    ? "/int8"
                                                  : arithmetic == Activations::int16 ? "/int16"
                                                                                     : "/float32");
                        benchmark::RegisterBenchmark(name.c_str(), linear,
                                                     Case{info.format, n, k, m, threads, stream, arithmetic})
                            ->UseRealTime();
                    }
    }
    benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
}
