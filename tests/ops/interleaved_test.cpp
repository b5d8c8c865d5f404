#include "axial/ops/interleaved.h"

#include <doctest/doctest.h>

#include <atomic>
#include <cstring>
#include <random>
#include <string>
#include <thread>

#include "axial/ops/activations.h"
#include "axial/ops/gather.h"
#include "axial/ops/interleaved_kernels.h"
#include "axial/tensor/form_slot.h"
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

constexpr Format inFormats[] = {Format::q4_0, Format::q4_1, Format::q5_0, Format::q5_1,  Format::q8_0,
                                Format::q4_k, Format::q5_k, Format::q6_k, Format::iq4_nl};

std::vector<float> times(const erased::WeightRows& w, std::size_t n, const std::vector<float>& x, std::size_t m,
                         std::size_t k, const erased::WeightRows* up = nullptr, const float* add = nullptr) {
    std::vector<float> out(m * n, -1.0f);
    const erased::RowsProduct p{w, n, 0, m, out.data(), static_cast<std::ptrdiff_t>(n), add, 0, up};
    erased::multiply({x.data(), static_cast<std::ptrdiff_t>(k), m, k}, &p, 1);
    return out;
}
bool same(const std::vector<float>& a, const std::vector<float>& b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

}  // namespace

TEST_CASE("interleaved rows come back as they were") {
    forEachTarget([](const char*) {
        for (const Format format : inFormats)
            for (const std::size_t blocks : {1, 3, 4, 12}) {
                const std::size_t k = blocks * blockOf(format), bytes = bytesOf(format, k);
                const auto rows = randomBlocks(format, 16 * k, 5 + blocks);
                std::vector<std::byte> group(16 * bytes + 64, std::byte{0x55}), back = group;
                kernels::interleave(format, rows.data(), static_cast<std::ptrdiff_t>(bytes), k, group.data());
                kernels::restore(format, group.data(), k, back.data());
                CAPTURE(nameOf(format));
                CAPTURE(blocks);
                CHECK(std::memcmp(rows.data(), back.data(), 16 * bytes) == 0);
                for (const auto* end : {group.data() + 16 * bytes, back.data() + 16 * bytes})
                    for (int i = 0; i < 64; ++i) REQUIRE(end[i] == std::byte{0x55});
                // four bytes of each row, beginning with the first
                const kernels::BlockCut cut = kernels::cutOf(format);
                for (std::size_t r = 0; r < 16; ++r)
                    CHECK(std::memcmp(group.data() + 4 * r, rows.data() + r * bytes + cut.first, 4) == 0);
            }
    });
}

TEST_CASE("interleaved weights give the bits that stored ones give") {
    const AtFirstReading first;
    forEachUnit([](const std::string& unit) {
        for (const Format format : inFormats)
            for (const auto activations : {Activations::int8, Activations::int16, Activations::float32}) {
                const UseActivations use(activations);
                const std::size_t block = blockOf(format);
                CAPTURE(unit);
                CAPTURE(nameOf(format));
                if (unit.rfind("AVX2", 0) == 0 || unit == "AVX3" || unit == "AVX3+AMX")
                    REQUIRE(kernels::interleavedWanted(format));
                // Where nothing is interleaved, one comparison says so.
                OnDisk probe(randomBlocks(format, 16 * block, 1));
                if (!erased::interleaved(probe.rows(format, block), 16, block, true)) {
                    const std::vector<float> x = randomValues(block, 3);
                    REQUIRE(same(times(probe.rows(format, block), 16, x, 1, block),
                                 product(format, randomBlocks(format, 16 * block, 1), 16, x, 1, block)));
                    continue;
                }
                for (const std::size_t k : {block, 3 * block, std::size_t{1024}})
                    for (const std::size_t n : {std::size_t{16}, std::size_t{40}, std::size_t{96}}) {
                        const auto bytes = randomBlocks(format, n * k, 77);
                        OnDisk stored(bytes);
                        for (const std::size_t m : {1, 2, 3, 4, 5, 7, 8, 11, 16, 17, 19, 24, 28, 29, 32, 33, 50, 64, 65}) {
                            const std::vector<float> x = randomValues(m * k, 3);
                            CAPTURE(k);
                            CAPTURE(n);
                            CAPTURE(m);
                            REQUIRE(
                                same(product(format, bytes, n, x, m, k), times(stored.rows(format, k), n, x, m, k)));
                        }
                        const bool wanted = kernels::interleavedWanted(format);
                        CHECK((stored.slot().form() != nullptr) == (wanted && activations != Activations::float32));
                    }
            }
    });
}

TEST_CASE("interleaved weights in a gated and an added product") {
    const AtFirstReading first;
    constexpr std::size_t n = 56, k = 512;
    for (const Format format : inFormats) {
        const auto gate = randomBlocks(format, n * k, 8), up = randomBlocks(format, n * k, 9);
        const erased::WeightRows plainGate{format, gate.data(), static_cast<std::ptrdiff_t>(bytesOf(format, k))},
            plainUp{format, up.data(), plainGate.rowBytes};
        OnDisk g(gate), u(up);
        const auto rowsOfUp = u.rows(format, k);
        for (const std::size_t m : {1, 6, 20}) {
            const std::vector<float> x = randomValues(m * k, 4), add = randomValues(n, 5);
            CAPTURE(nameOf(format));
            CAPTURE(m);
            CHECK(same(times(plainGate, n, x, m, k, &plainUp), times(g.rows(format, k), n, x, m, k, &rowsOfUp)));
            CHECK(same(times(plainGate, n, x, m, k, nullptr, add.data()),
                       times(g.rows(format, k), n, x, m, k, nullptr, add.data())));
        }
    }
}

TEST_CASE("weights are interleaved at the third reading for few rows, and only whole ones") {
    if (!kernels::interleavedWanted(Format::q8_0)) {
        MESSAGE("no kernel for interleaved rows on ", instructionSet());
        return;
    }
    constexpr std::size_t n = 64, k = 256;
    const auto bytes = randomBlocks(Format::q8_0, n * k, 6);
    OnDisk stored(bytes);
    const erased::WeightRows rows = stored.rows(Format::q8_0, k);
    for (int i = 0; i < 5; ++i) CHECK(erased::interleaved(rows, n, k, false) == nullptr);
    for (int i = 0; i < 2; ++i) CHECK(erased::interleaved(rows, n, k, true) == nullptr);
    for (int i = 0; i < 5; ++i) CHECK(erased::interleaved(rows, n / 2, k, true) == nullptr);  // part of it
    const std::byte* all = erased::interleaved(rows, n, k, true);
    REQUIRE(all);
    CHECK(erased::interleaved(rows, n, k, true) == all);
    // a part of a weight that is interleaved by now: only from a group's first row on
    erased::WeightRows part = rows;
    part.data += 32 * rows.rowBytes;
    CHECK(erased::interleaved(part, 32, k, true) == all + 32 * rows.rowBytes);
    part.data += rows.rowBytes;
    CHECK(erased::interleaved(part, 16, k, true) == nullptr);
    // seen as rows of another length
    CHECK(erased::interleaved(stored.rows(Format::q8_0, 2 * k), n / 2, 2 * k, true) == nullptr);
    CHECK(std::memcmp(stored.slot().data(), bytes.data(), bytes.size()) == 0);  // read from the file again

    OnDisk other(bytes);
    erased::interleaveAtReading(0);
    for (int i = 0; i < 5; ++i) CHECK(erased::interleaved(other.rows(Format::q8_0, k), n, k, true) == nullptr);
    erased::interleaveAtReading(3);
    OnDisk floats(std::vector<std::byte>(16 * 64 * 4));
    for (int i = 0; i < 5; ++i) CHECK(erased::interleaved(floats.rows(Format::f32, 64), 16, 64, true) == nullptr);
}

TEST_CASE("rows are gathered from interleaved weights") {
    const AtFirstReading first;
    constexpr std::size_t n = 40, k = 256;
    for (const Format format : inFormats) {
        const auto bytes = randomBlocks(format, n * k, 21);
        OnDisk stored(bytes);
        TensorRef table = dense(format, names<Axes<rowAxis, columnAxis>>, 2, Extents{n, k});
        std::vector<std::int32_t> chosen{39, 0, 17, 31, 32, 15, 16, 0, 38};
        const auto ids = tensor<std::int32_t>(chosen, idAxis(chosen.size()));
        table.data = const_cast<std::byte*>(bytes.data());
        const Owned expected = erased::gather(table, 0, ids.ref(), names<Axes<idAxis, columnAxis>>);
        table.data = const_cast<std::byte*>(stored.slot().data());
        table.slot = &stored.slot();
        const bool wanted = erased::interleaved(stored.rows(format, k), n, k, true) != nullptr;
        CHECK(wanted == (stored.slot().form() != nullptr));
        const Owned got = erased::gather(table, 0, ids.ref(), names<Axes<idAxis, columnAxis>>);
        CAPTURE(nameOf(format));
        CHECK(std::memcmp(got.ref.data, expected.ref.data, chosen.size() * k * sizeof(float)) == 0);
    }
}

TEST_CASE("threads that read weights for the first time together") {
    const AtFirstReading first;
    constexpr std::size_t n = 512, k = 512;
    const auto bytes = randomBlocks(Format::q4_0, n * k, 12);
    const std::vector<float> x = randomValues(k, 1), expected = product(Format::q4_0, bytes, n, x, 1, k);
    for (int round = 0; round < 10; ++round) {
        OnDisk stored(bytes);
        std::atomic<int> right{0};
        std::vector<std::thread> threads;
        for (int i = 0; i < 4; ++i)
            threads.emplace_back([&] {
                ThreadTeam team(1);
                const UseTeam use(team);
                for (int j = 0; j < 5; ++j) right += same(times(stored.rows(Format::q4_0, k), n, x, 1, k), expected);
            });
        for (std::thread& t : threads) t.join();
        CHECK(right == 20);
    }
}
