#include "axial/ops/linear.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <string>

#include "axial/ops/activations.h"
#include "axial/ops/linear_kernels.h"
#include "axial/ops/superblock_kernels.h"
#include "axial/tensor/parallel.h"
#include "ops/each_unit.h"
#include "ops/linear_product.h"
#include "ops/stored_blocks.h"

using namespace axial;

namespace {

// Rows of codes of any form, filled by hand.
struct Codes {
    std::vector<std::int8_t> codes;
    std::vector<float> scale, minimum;
    std::size_t k, group;
    Codes(std::size_t rows, std::size_t length, std::size_t groupSize)
        : codes(rows * padded(length)),
          scale(rows * padded(length / groupSize), 1.0f),
          minimum(rows * padded(length / groupSize)),
          k(length),
          group(groupSize) {}
    static std::size_t padded(std::size_t n) { return (n + 63) / 64 * 64; }
    kernels::CodeRows rows() { return {codes.data(), padded(k), scale.data(), minimum.data(), padded(k / group)}; }
};

std::byte* aligned(std::vector<std::byte>& memory) {
    void* start = memory.data();
    std::size_t space = memory.size();
    return static_cast<std::byte*>(std::align(64, 1, start, space));
}

// Code i of a quantised row, put together from its planes.
int codeAt(const kernels::QuantisedRow& layout, const std::byte* row, std::size_t i) {
    const auto* codes = reinterpret_cast<const std::int8_t*>(row);
    return layout.planes == 2 ? 256 * codes[i] + codes[layout.low + i] : codes[i];
}

// Rows of activations as the integer kernels want them.
struct Activated {
    kernels::QuantisedRow layout;
    std::vector<std::byte> rows, tiles;
    Activated(const std::vector<float>& x, std::size_t m, std::size_t k, kernels::CodeForm form, std::size_t planes)
        : layout(k, planes) {
        rows.resize(m * layout.bytes + 64);
        for (std::size_t t = 0; t < m; ++t)
            kernels::quantiseRow(x.data() + t * k, layout, aligned(rows) + t * layout.bytes);
        if (!kernels::tilesWanted(m, form)) return;
        tiles.resize((m + 15) / 16 * kernels::tileBytes(layout) + 64);
        kernels::packTiles(layout, aligned(rows), m, aligned(tiles));
    }
    const std::byte* row(std::size_t t) const {
        return aligned(const_cast<std::vector<std::byte>&>(rows)) + t * layout.bytes;
    }
    const std::byte* tilesOrNull() const {
        return tiles.empty() ? nullptr : aligned(const_cast<std::vector<std::byte>&>(tiles));
    }
};

// `elements` values: random blocks, of which all but the halves is filled with one byte unless that is -1.
std::vector<std::byte> extremeBlocks(const FormatInfo& info, std::size_t elements, int filling) {
    auto bytes = randomBlocks(info.format, elements, 61);
    for (std::size_t at = 0; filling >= 0 && at < bytes.size(); at += info.blockBytes) {
        const std::vector<std::byte> before(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                                            bytes.begin() + static_cast<std::ptrdiff_t>(at + info.blockBytes));
        std::memset(bytes.data() + at, filling, info.blockBytes);
        for (const std::size_t half : halvesIn(info.format))
            std::memcpy(bytes.data() + at + half, before.data() + half, 2);
        if (info.format == Format::mxfp4) bytes[at] = before[0];
    }
    return bytes;
}

// The float64 value of what the integer kernels approximate in float32: the same codes, the sums exact.
double exactDot(const Codes& w, std::size_t row, bool minimum, const kernels::QuantisedRow& layout, const std::byte* x,
                double& magnitude) {
    const auto& at = layout.groupsOf(w.group);
    double total = 0;
    magnitude = 0;
    for (std::size_t g = 0; g < w.k / w.group; ++g) {
        std::int64_t dot = 0, sum = 0;
        for (std::size_t i = 0; i < w.group; ++i) {
            const int code = codeAt(layout, x, g * w.group + i);
            dot += w.codes[row * Codes::padded(w.k) + g * w.group + i] * code;
            sum += code;
        }
        float scale;
        std::memcpy(&scale, x + at.scale + 4 * g, 4);
        const std::size_t index = row * Codes::padded(w.k / w.group) + g;
        const double one = static_cast<double>(dot) * w.scale[index] * scale;
        const double two = minimum ? static_cast<double>(sum) * w.minimum[index] * scale : 0.0;
        total += one + two;
        magnitude += std::abs(one) + std::abs(two);
    }
    return total;
}

}  // namespace

TEST_CASE("unpackRows: code * scale + minimum is what decode says, bit for bit") {
    forEachUnit([](const std::string& target) {
        for (const FormatInfo& info : formats) {
            const kernels::CodeForm form = kernels::codeFormOf(info.format);
            if (form.group == 0) continue;
            CAPTURE(target);
            CAPTURE(info.name);
            const std::size_t k = 4 * blockOf(info.format), rows = 3;
            const auto bytes = randomBlocks(info.format, rows * k, 1);
            const auto values = decoded(info.format, bytes);
            Codes codes(rows, k, form.group);
            kernels::unpackRows(info.format, bytes.data(), static_cast<std::ptrdiff_t>(bytesOf(info.format, k)), rows,
                                k, codes.rows());
            std::size_t differ = 0;
            for (std::size_t r = 0; r < rows; ++r)
                for (std::size_t i = 0; i < k; ++i) {
                    const std::size_t g = r * Codes::padded(k / form.group) + i / form.group;
                    float value = codes.scale[g] * static_cast<float>(codes.codes[r * Codes::padded(k) + i]);
                    if (form.minimum) value += codes.minimum[g];
                    differ += value != values[r * k + i];
                }
            CHECK(differ == 0);
        }
    });
}

TEST_CASE("quantiseRow: codes, scales and sums by their definition") {
    for (const std::size_t planes : {1, 2})
        forEachUnit([&](const std::string& target) {
            CAPTURE(target);
            CAPTURE(planes);
            constexpr std::size_t k = 32 * 5;
            std::vector<float> x = randomFloats(k, 3);
            for (std::size_t i = 32; i < 64; ++i) x[i] = 0;
            for (std::size_t i = 64; i < 96; ++i) x[i] *= 1e-38f;
            x[100] = std::numeric_limits<float>::infinity();
            const kernels::QuantisedRow layout(k, planes);
            const float most = planes == 2 ? 32639.0f : 127.0f;
            std::vector<std::byte> row(layout.bytes);
            kernels::quantiseRow(x.data(), layout, row.data());
            const auto number = [&](std::size_t offset, std::size_t i) {
                float v;
                std::memcpy(&v, row.data() + offset + 4 * i, 4);
                return v;
            };
            const auto integer = [&](std::size_t offset, std::size_t i) {
                std::int32_t v;
                std::memcpy(&v, row.data() + offset + 4 * i, 4);
                return v;
            };
            for (std::size_t b = 0; b < 5; ++b) {
                CAPTURE(b);
                float largest = 0;
                for (std::size_t i = 32 * b; i < 32 * b + 32; ++i) largest = std::max(largest, std::abs(x[i]));
                const bool some = b == 0 || b == 4;
                int sums[2] = {};
                for (std::size_t i = 0; i < 32; ++i) {
                    const auto expected = some ? static_cast<int>(std::nearbyint(x[32 * b + i] * (most / largest))) : 0;
                    CHECK(codeAt(layout, row.data(), 32 * b + i) == expected);
                    sums[i / 16] += codeAt(layout, row.data(), 32 * b + i);
                }
                const float scale = number(layout.of32.scale, b);
                if (b == 3) {
                    CHECK(std::isnan(scale));
                    CHECK(std::isnan(number(layout.of16.scale, 2 * b)));
                    continue;
                }
                CHECK(scale == (some ? largest / most : 0.0f));
                CHECK(number(layout.of16.scale, 2 * b) == scale);
                CHECK(number(layout.of16.scale, 2 * b + 1) == scale);
                CHECK(integer(layout.of16.bias, 2 * b) == -128 * sums[0]);
                CHECK(integer(layout.of16.bias, 2 * b + 1) == -128 * sums[1]);
                CHECK(integer(layout.of32.bias, b) == -128 * (sums[0] + sums[1]));
                CHECK(number(layout.of16.sum, 2 * b + 1) == scale * static_cast<float>(sums[1]));
                CHECK(number(layout.of32.sum, b) == scale * static_cast<float>(sums[0] + sums[1]));
            }
        });
}

TEST_CASE("quantiseRow: the units beyond an instruction set give its bits") {
    forEachTarget([](const char*) {
        if (kernels::integerUnit() == kernels::IntegerUnit::portable) return;
        for (const std::size_t planes : {1, 2})
            for (const std::size_t k : {32, 64, 96, 288, 512, 544, 800, 1024}) {
                CAPTURE(k);
                CAPTURE(planes);
                std::vector<float> x = randomFloats(k, 51);
                for (std::size_t i = 0; i < 32; ++i) x[i] *= 1e-35f;
                if (k > 64) x[70] = std::numeric_limits<float>::quiet_NaN();
                if (k > 300) x[299] = -std::numeric_limits<float>::infinity();
                const kernels::QuantisedRow layout(k, planes);
                std::vector<std::byte> one(layout.bytes), other(layout.bytes);
                kernels::limitIntegerUnit(kernels::IntegerUnit::portable);
                kernels::quantiseRow(x.data(), layout, one.data());
                kernels::limitIntegerUnit(kernels::IntegerUnit::amx);
                kernels::quantiseRow(x.data(), layout, other.data());
                CHECK(std::memcmp(one.data(), other.data(), layout.wide) == 0);
            }
    });
}

TEST_CASE("dotCodes: integer sums are exact up to the extremes of the codes") {
    forEachUnit([](const std::string& target) {
        for (const std::size_t planes : {1, 2})
            for (const std::size_t group : {16, 32})
                for (const std::size_t k : {32, 96, 512})
                    for (const int extreme : {-128, -127, 127, 0}) {
                        CAPTURE(target);
                        CAPTURE(planes);
                        CAPTURE(group);
                        CAPTURE(k);
                        CAPTURE(extreme);
                        const kernels::CodeForm form{static_cast<std::uint8_t>(group), false};
                        Codes w(16, k, group);
                        std::mt19937 random(7);
                        for (std::size_t i = 0; i < w.codes.size(); ++i)
                            w.codes[i] = static_cast<std::int8_t>(i < 8 * Codes::padded(k) ? extreme : random() % 256);
                        const float most = planes == 2 ? 32639.0f : 127.0f;  // so that the scales are 1
                        std::vector<float> x(19 * k);
                        for (std::size_t i = 0; i < x.size(); ++i)
                            if (i / k % 2 == 0)
                                x[i] = i % 32 == 0 || extreme < 0 ? most : -most;
                            else
                                x[i] = i % 32 == 5 ? most : static_cast<float>(i % 251) - 125;
                        for (const std::size_t m : {1, 4, 19}) {
                            CAPTURE(m);
                            const Activated a(x, m, k, form, planes);
                            std::vector<float> out(16 * m);
                            std::vector<std::byte> scratch(kernels::panelBytes(k, form) + 64);
                            kernels::dotCodes({w.rows(), 16, form, &a.layout, a.row(0), a.tilesOrNull(), m, out.data(),
                                               16, nullptr, 0, aligned(scratch)});
                            std::size_t differ = 0;
                            for (std::size_t t = 0; t < m; ++t)
                                for (std::size_t j = 0; j < 16; ++j) {
                                    float expected = 0;  // with scales of 1 this is the whole rule
                                    for (std::size_t g = 0; g < k / group; ++g) {
                                        std::int64_t dot = 0;
                                        for (std::size_t i = g * group; i < (g + 1) * group; ++i)
                                            dot += w.codes[j * Codes::padded(k) + i] * codeAt(a.layout, a.row(t), i);
                                        expected += static_cast<float>(dot);
                                    }
                                    differ += out[16 * t + j] != expected;
                                }
                            CHECK(differ == 0);
                        }
                    }
    });
}

TEST_CASE("packBlocks: dotCodes gives the bits that it gives for unpackRows, up to the extremes of the codes") {
    forEachUnit([](const std::string& target) {
        for (const FormatInfo& info : formats) {
            const kernels::CodeForm form = kernels::codeFormOf(info.format);
            if (form.group == 0) continue;
            CAPTURE(target);
            CAPTURE(info.name);
            const std::size_t n = 16;
            for (const std::size_t k : {blockOf(info.format), 5 * blockOf(info.format)})
                for (const int filling : {-1, 0x00, 0x77, 0x7f, 0x80, 0xff}) {  // -1: random
                    CAPTURE(k);
                    CAPTURE(filling);
                    const auto bytes = extremeBlocks(info, n * k, filling);
                    const auto rowBytes = static_cast<std::ptrdiff_t>(bytesOf(info.format, k));
                    Codes codes(n, k, form.group);
                    kernels::unpackRows(info.format, bytes.data(), rowBytes, n, k, codes.rows());
                    for (const std::size_t planes : {1, 2})
                        for (const std::size_t m : {3, 21}) {
                            CAPTURE(planes);
                            CAPTURE(m);
                            std::vector<float> x(m * k);
                            for (std::size_t i = 0; i < x.size(); ++i)
                                x[i] = i / k % 3 == 0 ? 1.0f : i / k % 3 == 1 ? -1.0f : i % 3 == 0 ? 1.0f : -1.0f;
                            const Activated a(x, m, k, form, planes);
                            std::vector<std::byte> scratch(kernels::panelBytes(k, form) + 64);
                            std::vector<float> expected(m * n), out(m * n, 7.0f);
                            kernels::dotCodes({codes.rows(), n, form, &a.layout, a.row(0), a.tilesOrNull(), m,
                                               expected.data(), n, nullptr, 0, aligned(scratch)});
                            if (!kernels::packBlocks(info.format, bytes.data(), rowBytes, a.layout, aligned(scratch))) {
                                CHECK((target == "SCALAR" || target == "AVX3+VNNI" || target == "AVX3+AMX"));
                                continue;
                            }
                            kernels::dotCodes({{},
                                               n,
                                               form,
                                               &a.layout,
                                               a.row(0),
                                               nullptr,
                                               m,
                                               out.data(),
                                               n,
                                               nullptr,
                                               0,
                                               aligned(scratch),
                                               info.format});
                            CHECK(std::memcmp(out.data(), expected.data(), out.size() * sizeof(float)) == 0);
                        }
                }
        }
    });
}

TEST_CASE("dotBlocks: the bits of unpackRows and dotCodes, up to the extremes of the codes") {
    forEachUnit([](const std::string& target) {
        for (const FormatInfo& info : formats) {
            const kernels::CodeForm form = kernels::codeFormOf(info.format);
            if (form.group == 0) continue;
            CAPTURE(target);
            CAPTURE(info.name);
            const std::size_t n = 21, m = 3;
            for (const std::size_t k : {blockOf(info.format), 9 * blockOf(info.format)})
                for (const int filling : {-1, 0x00, 0x77, 0x7f, 0x80, 0xff}) {  // -1: random
                    CAPTURE(k);
                    CAPTURE(filling);
                    const auto bytes = extremeBlocks(info, n * k, filling);
                    for (const std::size_t planes : {1, 2}) {
                        CAPTURE(planes);
                        std::vector<float> x(m * k);
                        for (std::size_t i = 0; i < x.size(); ++i)
                            x[i] = i / k == 0 ? 1.0f : i / k == 1 ? -1.0f : i % 3 == 0 ? 1.0f : -1.0f;
                        const Activated a(x, m, k, form, planes);
                        const auto rowBytes = static_cast<std::ptrdiff_t>(bytesOf(info.format, k));
                        std::vector<std::byte> scratch(kernels::panelBytes(k, form) + 64);
                        Codes codes(n, k, form.group);
                        kernels::unpackRows(info.format, bytes.data(), rowBytes, n, k, codes.rows());
                        std::vector<float> expected(m * n), add(m * n, 0.5f);
                        kernels::dotCodes({codes.rows(), n, form, &a.layout, a.row(0), a.tilesOrNull(), m,
                                           expected.data(), n, add.data(), n, aligned(scratch)});
                        for (const std::size_t rows : {1, 3, 8, 21}) {
                            CAPTURE(rows);
                            std::vector<float> out(m * n, 7.0f);
                            if (!kernels::dotBlocks({info.format, bytes.data(), rowBytes, rows, &a.layout, a.row(0), m,
                                                     out.data(), n, add.data(), n, aligned(scratch)})) {
                                CHECK(target == "SCALAR");
                                continue;
                            }
                            std::size_t differ = 0;
                            for (std::size_t t = 0; t < m; ++t)
                                for (std::size_t j = 0; j < n; ++j)
                                    differ += out[t * n + j] != (j < rows ? expected[t * n + j] : 7.0f);
                            CHECK(differ == 0);
                        }
                    }
                }
        }
    });
}

TEST_CASE("integer linear layers: every format, against the exact product of the codes") {
    for (const Activations arithmetic : {Activations::int8, Activations::int16})
        forEachUnit([&](const std::string& target) {
            const UseActivations use(arithmetic);
            for (const FormatInfo& info : formats) {
                const kernels::CodeForm form = kernels::codeFormOf(info.format);
                if (form.group == 0 || kernels::superblocksWanted(info.format)) continue;  // superblock_test.cpp
                CAPTURE(target);
                CAPTURE(info.name);
                const std::size_t k = blockOf(info.format) == 32 ? 32 * 11 : 768, n = 37, m = 9;
                const auto bytes = randomBlocks(info.format, n * k, 5);
                const auto x = randomFloats(m * k, 6);
                const auto out = product(info.format, bytes, n, x, m, k);
                const kernels::QuantisedRow layout(k, arithmetic == Activations::int16 ? 2 : 1);
                std::vector<std::byte> row(layout.bytes);
                double worst = 0;
                for (std::size_t t = 0; t < m; ++t) {
                    kernels::quantiseRow(x.data() + t * k, layout, row.data());
                    for (std::size_t j = 0; j < n; ++j) {
                        Codes w(1, k, form.group);
                        plain::unpackCodes(info.format, bytes.data() + j * bytesOf(info.format, k), k, w.codes.data(),
                                           w.scale.data(), w.minimum.data());
                        double magnitude;
                        const double exact = exactDot(w, 0, form.minimum, layout, row.data(), magnitude);
                        worst = std::max(worst, std::abs(static_cast<double>(out[t * n + j]) - exact) / magnitude);
                    }
                }
                CHECK(worst < 1e-6);
            }
        });
}

TEST_CASE("dotCodes: the units beyond an instruction set give its bits") {
    forEachTarget([](const char*) {
        if (kernels::integerUnit() == kernels::IntegerUnit::portable) return;
        for (const FormatInfo& info : formats) {
            if (kernels::codeFormOf(info.format).group == 0) continue;
            CAPTURE(info.name);
            for (const std::size_t blocks : {1, 2, 3, 17})
                for (const std::size_t m : {2, 21})
                    for (const Activations arithmetic : {Activations::int8, Activations::int16}) {
                        const UseActivations use(arithmetic);
                        CAPTURE(blocks);
                        CAPTURE(m);
                        const std::size_t k = blocks * blockOf(info.format), n = 45;
                        const auto bytes = randomBlocks(info.format, n * k, 31);
                        const auto x = randomFloats(m * k, 32);
                        kernels::limitIntegerUnit(kernels::IntegerUnit::portable);
                        const auto portable = product(info.format, bytes, n, x, m, k);
                        for (const auto unit : unitsBeyond) {
                            CAPTURE(static_cast<int>(unit));
                            kernels::limitIntegerUnit(unit);
                            if (kernels::integerUnit() != unit) continue;  // belongs to another instruction set
                            if (kernels::superblocksWanted(info.format)) continue;  // another rule, on purpose
                            const auto beyond = product(info.format, bytes, n, x, m, k);
                            CHECK(std::memcmp(beyond.data(), portable.data(), beyond.size() * sizeof(float)) == 0);
                        }
                    }
        }
    });
}
