// F16 and BF16 weights where there is AMX: against their rule in scalar arithmetic, and what only such arithmetic can
// get wrong.
#include "axial/ops/split_floats.h"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include "axial/ops/activations.h"
#include "axial/ops/gather.h"
#include "axial/ops/interleaved_kernels.h"
#include "axial/tensor/parallel.h"
#include "ops/each_unit.h"
#include "ops/linear_product.h"
#include "ops/mapped_weight.h"
#include "ops/samples.h"
#include "ops/stored_blocks.h"

using namespace axial;

namespace {

inline constexpr Axis<"row"> rowAxis;
inline constexpr Axis<"column"> columnAxis;
inline constexpr Axis<"id"> idAxis;

constexpr Format bothFormats[] = {Format::f16, Format::bf16};

bool wanted() {
    if (kernels::splitWanted(Format::f16)) return true;
    MESSAGE("no AMX for bfloat16 here: ", instructionSet());
    return false;
}

float flushed(float v) { return std::abs(v) < std::numeric_limits<float>::min() ? std::copysign(0.0f, v) : v; }
float toBf16(float v) { return bf16ToF32(f32ToBf16(v)); }

// The parts of an activation, and of a weight, the first part first.
std::array<float, 3> partsOfActivation(float v) {
    std::array<float, 3> parts;
    for (float& part : parts) {
        part = toBf16(v);
        v -= part;
        part = flushed(part);
    }
    return parts;
}
std::array<float, 2> partsOfWeight(float v) {
    std::uint32_t bits;
    std::memcpy(&bits, &v, 4);
    bits = (bits + 0x8000u) & 0xffff0000u;
    float first;
    std::memcpy(&first, &bits, 4);
    return {flushed(first), flushed(v - first)};
}

// The rule of split_floats.h for one output.
float byRule(Format format, const float* w, const float* x, std::size_t k) {
    using Which = std::pair<std::size_t, std::size_t>;
    const std::array<Which, 3> products = format == Format::f16 ? std::array<Which, 3>{{{0, 1}, {0, 0}, {1, 0}}}
                                                                : std::array<Which, 3>{{{0, 2}, {0, 1}, {0, 0}}};
    float c = 0;
    for (std::size_t s = 0; s < k; s += 32)
        for (const auto& [a, b] : products) {
            float sum[2] = {0, 0};
            for (std::size_t i = s; i < std::min(k, s + 32); ++i) {
                float& part = sum[(i - s) % 2];
                part = flushed(std::fma(partsOfWeight(w[i])[a], partsOfActivation(x[i])[b], part));
            }
            c = flushed(c + flushed(sum[0] + sum[1]));
        }
    return c;
}

std::vector<float> times(const erased::WeightRows& w, std::size_t n, const std::vector<float>& x, std::size_t m,
                         std::size_t k, const float* add = nullptr, const erased::WeightRows* up = nullptr) {
    std::vector<float> out(m * n, -1.0f);
    const erased::RowsProduct p{
        w, n, 0, m, out.data(), static_cast<std::ptrdiff_t>(n), add, static_cast<std::ptrdiff_t>(n), up};
    erased::multiply({x.data(), static_cast<std::ptrdiff_t>(k), m, k}, &p, 1);
    return out;
}
bool same(const std::vector<float>& a, const std::vector<float>& b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

}  // namespace

TEST_CASE("split floats: the rule, from stored and from interleaved weights, whatever is computed together") {
    if (!wanted()) return;
    const AtFirstReading first;
    ThreadTeam one(1), three(3);
    for (const Format format : bothFormats)
        for (const std::size_t k : {1, 2, 31, 32, 33, 64, 203, 1024, 1056, 2080})
            for (const std::size_t n : {std::size_t{1}, std::size_t{16}, std::size_t{37}, std::size_t{144}}) {
                if (k > 203 && n == 1) continue;
                const std::size_t most = 97;
                const auto bytes = randomBlocks(format, n * k, 7);
                const auto w = decoded(format, bytes);
                std::vector<float> x = randomValues(most * k, 8);
                for (std::size_t i = 0; i < k; ++i) x[i] *= 1e-36f;  // one row whose products are hardly normal
                std::vector<float> expected(most * n);
                for (std::size_t t = 0; t < most; ++t) {
                    if (k * n > 5000 && t % 16 > 1) continue;  // compared below with what is not left out
                    for (std::size_t j = 0; j < n; ++j)
                        expected[t * n + j] = byRule(format, w.data() + j * k, x.data() + t * k, k);
                }
                OnDisk mapped(bytes);
                const erased::WeightRows stored{format, bytes.data(), static_cast<std::ptrdiff_t>(bytesOf(format, k))};
                const auto all = times(stored, n, x, most, k);
                CAPTURE(nameOf(format));
                CAPTURE(k);
                CAPTURE(n);
                for (std::size_t t = 0; t < most; ++t)
                    if (k * n <= 5000 || t % 16 <= 1)
                        REQUIRE(std::memcmp(&all[t * n], &expected[t * n], n * sizeof(float)) == 0);
                for (const std::size_t m : {1, 2, 3, 15, 16, 17, 33, 49, 64, 65, 81, 97}) {
                    const UseTeam team(m % 2 == 0 ? one : three);
                    CAPTURE(m);
                    const std::vector<float> some(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(m * n));
                    REQUIRE(same(times(stored, n, x, m, k), some));
                    REQUIRE(same(times(mapped.rows(format, k), n, x, m, k), some));
                }
                CHECK((mapped.slot().form() != nullptr) == (n >= 16));
            }
}

TEST_CASE("split floats: numbers that have no finite high part, and what is added in place") {
    if (!wanted()) return;
    const AtFirstReading first;
    constexpr std::size_t n = 40, k = 96, most = 70;
    const float infinity = std::numeric_limits<float>::infinity();
    const float odd[] = {infinity, -infinity, std::numeric_limits<float>::quiet_NaN(),
                         std::numeric_limits<float>::max(), std::numeric_limits<float>::lowest()};
    for (const Format format : bothFormats) {
        const auto bytes = randomBlocks(format, n * k, 3);
        OnDisk mapped(bytes);
        std::vector<float> x = randomValues(most * k, 4), clean = x, add = randomValues(most * n, 5);
        for (std::size_t t = 0; t < most; t += 3) x[t * k + t % k] = odd[t / 3 % 5];
        for (const std::size_t m : {std::size_t{1}, std::size_t{2}, std::size_t{7}, std::size_t{40}, most}) {
            for (int round = 0; round < 2; ++round) {
                const auto exact = [&] {
                    const UseActivations floats(Activations::float32);
                    return times(mapped.rows(format, k), n, x, m, k, add.data());
                }();
                const auto usual = times(mapped.rows(format, k), n, clean, m, k, add.data());
                std::vector<float> out = add;  // what is added is where the result goes
                const erased::RowsProduct p{mapped.rows(format, k), n, 0, m, out.data(), n, out.data(), n};
                erased::multiply({x.data(), k, m, k}, &p, 1);
                CAPTURE(nameOf(format));
                CAPTURE(m);
                for (std::size_t t = 0; t < m; ++t) {
                    CAPTURE(t);
                    const auto& expected = t % 3 == 0 ? exact : usual;
                    REQUIRE(std::memcmp(&out[t * n], &expected[t * n], n * sizeof(float)) == 0);
                    if (t % 3 == 0 && t / 3 % 5 != 2) REQUIRE(!std::isnan(out[t * n]));
                }
            }
        }
    }
}

TEST_CASE("split floats: every finite F16 weight is multiplied as it is") {
    if (!wanted()) return;
    std::vector<std::byte> bytes(65536 * 2 * 2);  // rows of two weights: each number, and a zero
    std::vector<float> expected(65536);
    for (std::size_t i = 0; i < 65536; ++i) {
        const auto half = static_cast<std::uint16_t>(i);
        std::memcpy(bytes.data() + 4 * i, &half, 2);
        expected[i] = f16ToF32(half);
    }
    for (const std::size_t m : {1, 5}) {
        const auto out = product(Format::f16, bytes, 65536, std::vector<float>(2 * m, 1.0f), m, 2);
        for (std::size_t t = 0; t < m; ++t)
            for (std::size_t i = 0; i < 65536; ++i) {
                if (std::isfinite(expected[i]))
                    REQUIRE(out[t * 65536 + i] == expected[i]);
                else
                    REQUIRE(std::isnan(out[t * 65536 + i]));
            }
    }
}

TEST_CASE("split floats: float activations stay exact, and other instruction sets never split") {
    constexpr std::size_t n = 33, k = 100, m = 9;
    for (const Format format : bothFormats) {
        const auto bytes = randomBlocks(format, n * k, 13);
        const std::vector<float> x = randomValues(m * k, 14);
        OnDisk mapped(bytes);
        std::vector<float> floats;
        forEachUnit([&](const std::string& unit) {
            const auto usual = product(format, bytes, n, x, m, k);
            const UseActivations use(Activations::float32);
            floats = product(format, bytes, n, x, m, k);
            CAPTURE(unit);
            CHECK(same(floats, times(mapped.rows(format, k), n, x, m, k)));
            CHECK(same(floats, usual) == !kernels::splitWanted(format));
        });
    }
}

TEST_CASE("split floats: halves side by side come back as they were, rows are gathered, and gated products agree") {
    if (!wanted()) return;
    const AtFirstReading first;
    for (const Format format : bothFormats) {
        CAPTURE(nameOf(format));
        for (const std::size_t k : {1, 2, 7, 31, 32, 33, 95}) {
            const auto rows = randomBlocks(format, 16 * k, 1);
            std::vector<std::byte> group(32 * k + 64, std::byte{0x55}), back = group;
            kernels::interleave(format, rows.data(), static_cast<std::ptrdiff_t>(2 * k), k, group.data());
            kernels::restore(format, group.data(), k, back.data());
            CAPTURE(k);
            CHECK(std::memcmp(back.data(), rows.data(), 32 * k) == 0);
            for (std::size_t r = 0; r < 16; ++r)
                CHECK(std::memcmp(group.data() + 2 * (16 * (k - 1) + r), rows.data() + 2 * (r * k + k - 1), 2) == 0);
            for (const auto* end : {group.data() + 32 * k, back.data() + 32 * k})
                for (int i = 0; i < 64; ++i) REQUIRE(end[i] == std::byte{0x55});
        }
        constexpr std::size_t n = 56, k = 100;
        const auto gate = randomBlocks(format, n * k, 8), up = randomBlocks(format, n * k, 9);
        const erased::WeightRows plainGate{format, gate.data(), 2 * k}, plainUp{format, up.data(), 2 * k};
        OnDisk g(gate), u(up);
        const auto rowsOfUp = u.rows(format, k);
        for (const std::size_t m : {1, 6, 70}) {
            const std::vector<float> x = randomValues(m * k, 4);
            CHECK(same(times(plainGate, n, x, m, k, nullptr, &plainUp),
                       times(g.rows(format, k), n, x, m, k, nullptr, &rowsOfUp)));
        }
        REQUIRE(g.slot().form());
        TensorRef table = dense(format, names<Axes<rowAxis, columnAxis>>, 2, Extents{n, k});
        const auto ids = tensor<std::int32_t>(std::vector<std::int32_t>{55, 0, 17, 31, 32}, idAxis(5));
        table.data = const_cast<std::byte*>(gate.data());
        const Owned expected = erased::gather(table, 0, ids.ref(), names<Axes<idAxis, columnAxis>>);
        table.data = const_cast<std::byte*>(g.slot().data());
        table.slot = &g.slot();
        const Owned got = erased::gather(table, 0, ids.ref(), names<Axes<idAxis, columnAxis>>);
        CHECK(std::memcmp(got.ref.data, expected.ref.data, 5 * k * sizeof(float)) == 0);
    }
}

TEST_CASE("split floats: products of some rows, each with its own weights") {
    if (!wanted()) return;
    constexpr std::size_t n = 24, k = 64, rows = 50;
    const auto a = randomBlocks(Format::f16, n * k, 1), b = randomBlocks(Format::f16, n * k, 2);
    const std::vector<float> x = randomValues(rows * k, 3);
    const erased::WeightRows wa{Format::f16, a.data(), 2 * k}, wb{Format::f16, b.data(), 2 * k};
    const auto all = times(wa, n, x, rows, k), other = times(wb, n, x, rows, k);
    std::vector<float> out(rows * n);
    const erased::RowsProduct products[] = {{wa, n, 0, 3, out.data(), n},
                                            {wb, n, 3, 1, out.data() + 3 * n, n},
                                            {wb, n, 4, 21, out.data() + 4 * n, n},
                                            {wa, n, 25, 25, out.data() + 25 * n, n}};
    erased::multiply({x.data(), k, rows, k}, products, 4);
    for (std::size_t t = 0; t < rows; ++t) {
        CAPTURE(t);
        CHECK(std::memcmp(&out[t * n], &(t < 3 || t >= 25 ? all : other)[t * n], n * sizeof(float)) == 0);
    }
}
