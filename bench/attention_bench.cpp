// Attention: GMAC/s and GB/s of keys and values, for decoding (one query) and for prompts, by format and group size.
#include <benchmark/benchmark.h>

#include <random>
#include <string>
#include <vector>

#include "axial/ops/attention.h"
#include "axial/tensor/half.h"
#include "axial/tensor/parallel.h"

namespace {

using namespace axial;
using namespace axial::axes;

struct Case {
    Format format;
    std::size_t queries, keys, heads, kvHeads, channels, threads;
};

std::vector<std::byte> randomBlocks(Format format, std::size_t elements, unsigned seed) {
    std::vector<std::byte> bytes(bytesOf(format, elements));
    std::mt19937 random(seed);
    std::normal_distribution<float> normal;
    if (format == Format::q8_0) {
        for (std::byte& b : bytes) b = static_cast<std::byte>(random());
        const std::uint16_t scale = f32ToF16(0.01f);
        for (std::size_t i = 0; i < bytes.size(); i += 34)
            std::copy_n(reinterpret_cast<const std::byte*>(&scale), 2, &bytes[i]);
    } else if (format == Format::f16) {
        for (std::size_t i = 0; i < elements; ++i) {
            const std::uint16_t half = f32ToF16(normal(random));
            std::copy_n(reinterpret_cast<const std::byte*>(&half), 2, &bytes[2 * i]);
        }
    } else {
        for (std::size_t i = 0; i < elements; ++i) {
            const float value = normal(random);
            std::copy_n(reinterpret_cast<const std::byte*>(&value), 4, &bytes[4 * i]);
        }
    }
    return bytes;
}

void attention(benchmark::State& state, Case c) {
    ThreadTeam team(c.threads);
    const UseTeam use(team);
    const std::size_t elements = c.keys * c.kvHeads * c.channels;
    // [kvHead, key, channel], as a cache lies; enough of them that one call's are not in a cache at the next
    const std::size_t bytes = bytesOf(c.format, elements);
    const std::size_t copies = c.queries > 1 ? 1 : std::max<std::size_t>(1, (std::size_t{200} << 20) / bytes / 2);
    const auto k = randomBlocks(c.format, elements * copies, 1), v = randomBlocks(c.format, elements * copies, 2);
    auto q = zeros<float>(seq(c.queries), head(c.heads), channel(c.channels));
    std::mt19937 random(3);
    std::normal_distribution<float> normal;
    for (float& x : q.values()) x = normal(random);
    std::size_t which = 0;
    for (auto _ : state) {
        const Weight<kvHead, key, channel> keys(k.data() + which * bytes, c.format, {c.kvHeads, c.keys, c.channels});
        const Weight<kvHead, key, channel> values(v.data() + which * bytes, c.format, {c.kvHeads, c.keys, c.channels});
        auto out = groupedAttention(q, keys, values);
        benchmark::DoNotOptimize(out.values().data());
        which = (which + 1) % copies;
    }
    const auto rate = [&](double amount) {
        return benchmark::Counter(amount * 1e-9, benchmark::Counter::kIsIterationInvariantRate);
    };
    double seen = 0;
    for (std::size_t i = 0; i < c.queries; ++i) seen += static_cast<double>(c.keys - c.queries + i + 1);
    state.counters["GMAC/s"] = rate(2 * seen * static_cast<double>(c.heads * c.channels));
    state.counters["GB/s"] = rate(2 * static_cast<double>(bytes));
}

}  // namespace

int main(int argc, char** argv) {
    for (const Format format : {Format::f32, Format::f16, Format::q8_0})
        for (const std::size_t threads : {1, 2})
            for (const auto& [queries, keys] : {std::pair<std::size_t, std::size_t>{1, 512}, {1, 4096}, {512, 512}})
                for (const std::size_t group : {1, 2, 4}) {
                    const Case c{format, queries, keys, 8 * group, 8, 128, threads};
                    const std::string name = "attention/" + std::string(nameOf(format)) +
                                             "/queries:" + std::to_string(queries) + "/keys:" + std::to_string(keys) +
                                             "/group:" + std::to_string(group) + "/threads:" + std::to_string(threads);
                    benchmark::RegisterBenchmark(name.c_str(), attention, c)->UseRealTime();
                }
    benchmark::Initialize(&argc, argv);
    benchmark::RunSpecifiedBenchmarks();
}
