#include "axial/bench/limits.h"

#include "axial/ops/targets.h"
// After targets.h:
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "axial/bench/limits.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "axial/bench/limits_units.h"
#include "axial/ops/integer_products-inl.h"

HWY_BEFORE_NAMESPACE();
namespace axial::bench::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Adds up `count` words; asks for each line so many bytes early, if that is not 0.
uint64_t ReadAll(const uint64_t* from, size_t count, size_t early) {
    const hn::ScalableTag<uint64_t> d;
    const size_t lanes = hn::Lanes(d);
    auto s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
    for (size_t i = 0; i + 32 * lanes <= count; i += 32 * lanes) {
        if (early != 0)
            for (size_t j = 0; j < 32 * lanes; j += 8)
                hwy::Prefetch(reinterpret_cast<const char*>(from + i + j) + early);
        for (size_t j = i; j < i + 32 * lanes; j += 4 * lanes) {
            s0 = hn::Add(s0, hn::Load(d, from + j));
            s1 = hn::Add(s1, hn::Load(d, from + j + lanes));
            s2 = hn::Add(s2, hn::Load(d, from + j + 2 * lanes));
            s3 = hn::Add(s3, hn::Load(d, from + j + 3 * lanes));
        }
    }
    return hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(s0, s1), hn::Add(s2, s3))));
}

// So many passes of four by three sums over a and b, whose vectors are loaded anew each time, as a matrix product does:
// nothing can be taken out of the loop. `multiply(d, a, b, sum)` is one step.
template <class DA, class DC, class Multiply>
HWY_INLINE size_t Products(DA da, DC dc, const hn::TFromD<DA>* a, const hn::TFromD<DA>* b, size_t passes,
                           hn::TFromD<DC>* sums, Multiply multiply) {
    const size_t lanes = hn::Lanes(da), steps = bytesOfA / (4 * lanes * sizeof(*a));
    auto c00 = hn::Zero(dc), c01 = c00, c02 = c00, c10 = c00, c11 = c00, c12 = c00, c20 = c00, c21 = c00, c22 = c00,
         c30 = c00, c31 = c00, c32 = c00;
    for (size_t pass = 0; pass < passes; ++pass)
        for (size_t i = 0; i < steps; ++i) {
            const auto *x = a + 4 * lanes * i, *y = b + 3 * lanes * i;
            const auto b0 = hn::Load(da, y), b1 = hn::Load(da, y + lanes), b2 = hn::Load(da, y + 2 * lanes);
            auto v = hn::Load(da, x);
            c00 = multiply(v, b0, c00), c01 = multiply(v, b1, c01), c02 = multiply(v, b2, c02);
            v = hn::Load(da, x + lanes);
            c10 = multiply(v, b0, c10), c11 = multiply(v, b1, c11), c12 = multiply(v, b2, c12);
            v = hn::Load(da, x + 2 * lanes);
            c20 = multiply(v, b0, c20), c21 = multiply(v, b1, c21), c22 = multiply(v, b2, c22);
            v = hn::Load(da, x + 3 * lanes);
            c30 = multiply(v, b0, c30), c31 = multiply(v, b1, c31), c32 = multiply(v, b2, c32);
        }
    const auto low = hn::Add(hn::Add(hn::Add(c00, c01), hn::Add(c02, c10)), hn::Add(c11, c12));
    const auto high = hn::Add(hn::Add(hn::Add(c20, c21), hn::Add(c22, c30)), hn::Add(c31, c32));
    *sums = hn::GetLane(hn::SumOfLanes(dc, hn::Add(low, high)));
    return steps * 12 * lanes;
}

struct FloatStep {
    template <class V>
    HWY_INLINE V operator()(V a, V b, V sum) const {
        return hn::MulAdd(a, b, sum);
    }
};
struct PairsStep {
    template <class V, class S>
    HWY_INLINE S operator()(V a, V b, S sum) const {
        const hn::DFromV<S> d;
        S rest = hn::Zero(d);
        sum = hn::ReorderWidenMulAccumulate(d, a, b, sum, rest);
        // Where the operation splits its sums over two vectors (not on x86), both count.
        return HWY_ARCH_X86 ? sum : hn::Add(sum, rest);
    }
};

size_t FloatProducts(const float* a, const float* b, size_t passes, float* sums) {
    const hn::ScalableTag<float> d;
    return Products(d, d, a, b, passes, sums, FloatStep());
}
size_t PairProducts(const int16_t* a, const int16_t* b, size_t passes, int32_t* sums) {
    const hn::ScalableTag<int16_t> d;
    return Products(d, hn::RepartitionToWide<decltype(d)>(), a, b, passes, sums, PairsStep());
}

#if HWY_TARGET == HWY_AVX2
struct BytesStep {  // of AVX-VNNI
    template <class V, class S>
    HWY_INLINE S operator()(V a, V b, S sum) const {
        return kernels::HWY_NAMESPACE::DotBytes(sum, hn::BitCast(hn::DFromV<S>(), a), hn::BitCast(hn::DFromV<S>(), b));
    }
};
size_t BytesProducts(const uint8_t* a, const uint8_t* b, size_t passes, int32_t* sums) {
    const hn::ScalableTag<uint8_t> d;
    return Products(d, hn::Repartition<int32_t, decltype(d)>(), a, b, passes, sums, BytesStep());
}
#else
size_t BytesProducts(const uint8_t*, const uint8_t*, size_t, int32_t*) { return 0; }
#endif

}  // namespace axial::bench::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <algorithm>
#include <chrono>
#include <limits>
#include <vector>

#include "axial/ops/instruction_set.h"
#include "axial/tensor/parallel.h"

namespace axial::bench {
namespace {

HWY_EXPORT(ReadAll);
HWY_EXPORT(FloatProducts);
HWY_EXPORT(PairProducts);
HWY_EXPORT(BytesProducts);

template <class F>
double secondsOf(F&& f) {
    const auto start = std::chrono::steady_clock::now();
    f();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Products a second of a loop `run(passes, sums)` on all threads of the team: the best that one of them does while all
// are at it, for each that has a core. Whatever else the machine does makes others slower and none faster; the time of
// all together would count it.
template <class Run>
double bestRate(ThreadTeam& team, Run run) {
    struct alignas(128) Task {
        float floats[16];
        std::int32_t integers[16];
        double seconds;
    };
    std::vector<Task> tasks(16 * team.size());
    std::size_t perPass = 0, passes = 16;
    // About 100 microseconds each: long against reading the clock, too short to be interrupted often.
    while (secondsOf([&] { perPass = run(passes, tasks[0]); }) < 1e-4) passes *= 2;
    double best = std::numeric_limits<double>::infinity();
    for (int round = 0; round < 20; ++round) {
        auto task = [&](std::size_t i) { tasks[i].seconds = secondsOf([&] { run(passes, tasks[i]); }); };
        team.run(tasks.size(), task);
        for (const Task& t : tasks) best = std::min(best, t.seconds);
    }
    return static_cast<double>(std::min(team.size(), usableCores()) * passes * perPass) / best;
}

}  // namespace

std::string_view nameOf(Product product) {
    constexpr std::string_view names[products] = {"float", "int16 pairs", "bytes (VNNI)", "bytes (AMX)"};
    return names[static_cast<std::size_t>(product)];
}

ProductLimit Limits::productLimit(Arithmetic arithmetic) const {
    ProductLimit best{nameOf(Product::float32), productRate[0]};
    if (arithmetic == Arithmetic::float32) return best;
    for (std::size_t i = 1; i < products; ++i) {
        const auto product = static_cast<Product>(i);
        const bool halved = arithmetic == Arithmetic::int16 && product != Product::int16Pairs;
        const double rate = productRate[i] / (halved ? 2 : 1);
        if (rate > best.rate) best = {nameOf(product), rate};
    }
    return best;
}

double measureReadRate(std::size_t threads, const Memory& memory) {
    ThreadTeam team(threads);
    const auto bytes = memory.bytes();
    const std::size_t part =
        std::max<std::size_t>(std::size_t{1} << 20, bytes.size() / (32 * team.size())) / 4096 * 4096;
    std::vector<std::uint64_t> sums((bytes.size() / part) * 16);
    double best = 0;
    for (int round = 0; round < 6; ++round) {
        auto task = [&](std::size_t i) {
            sums[16 * i] = HWY_DYNAMIC_DISPATCH(ReadAll)(
                reinterpret_cast<const std::uint64_t*>(bytes.data() + i * part), part / 8, round % 2 == 0 ? 0 : 2048);
        };
        const double seconds = secondsOf([&] { team.run(bytes.size() / part, task); });
        best = std::max(best, static_cast<double>(bytes.size() / part * part) / seconds);
    }
    return best;
}

std::array<double, products> measureProductRates(std::size_t threads) {
    ThreadTeam team(threads);
    const Buffer memory(2 * bytesOfA);
    auto* a = static_cast<std::byte*>(memory.data());
    auto* b = a + bytesOfA;
    std::fill_n(reinterpret_cast<float*>(a), 2 * bytesOfA / sizeof(float), 0.5f);
    std::array<double, products> rates{};
    rates[0] = bestRate(team, [&](std::size_t passes, auto& sums) {
        return HWY_DYNAMIC_DISPATCH(FloatProducts)(reinterpret_cast<const float*>(a), reinterpret_cast<const float*>(b),
                                                   passes, sums.floats);
    });
    rates[1] = bestRate(team, [&](std::size_t passes, auto& sums) {
        return HWY_DYNAMIC_DISPATCH(PairProducts)(reinterpret_cast<const std::int16_t*>(a),
                                                  reinterpret_cast<const std::int16_t*>(b), passes, sums.integers);
    });
    const std::string set = instructionSet();
    const bool amx = set.ends_with("+AMX"), vnni = amx || set.ends_with("+VNNI");
    if (vnni && set.starts_with("AVX2"))
        rates[2] = bestRate(team, [&](std::size_t passes, auto& sums) {
            return HWY_DYNAMIC_DISPATCH(BytesProducts)(reinterpret_cast<const std::uint8_t*>(a),
                                                       reinterpret_cast<const std::uint8_t*>(b), passes, sums.integers);
        });
    else if (unitsBuilt() && vnni)
        rates[2] =
            bestRate(team, [&](std::size_t passes, auto& sums) { return vnniProducts(a, b, passes, sums.integers); });
    if (unitsBuilt() && amx)
        rates[3] =
            bestRate(team, [&](std::size_t passes, auto& sums) { return amxProducts(a, b, passes, sums.integers); });
    return rates;
}

}  // namespace axial::bench
#endif
