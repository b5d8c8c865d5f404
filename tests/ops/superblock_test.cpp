// Blocks of 256 whose scales are integers, multiplied in integers as a whole: against their definition in float64, and
// few rows against many.
#include "axial/ops/superblock_kernels.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "axial/ops/linear_codes.h"
#include "axial/ops/linear_kernels.h"
#include "axial/tensor/buffer.h"
#include "axial/tensor/half.h"
#include "ops/stored_blocks.h"

using namespace axial;

namespace {

constexpr Format superFormats[] = {Format::q4_k, Format::q5_k, Format::q6_k};

bool absent() {
    if (kernels::superblocksWanted(Format::q4_k)) return false;
    MESSAGE("this machine has no AMX: nothing of this is tested");
    return true;
}

std::byte* bytesOf(const Buffer& buffer) { return static_cast<std::byte*>(buffer.data()); }

// m rows of k activations, quantised; and as tiles.
struct Rows {
    kernels::SuperRow layout;
    Buffer rows, tiles;
    Rows(const std::vector<float>& x, std::size_t m, std::size_t k, std::size_t planes)
        : layout(k, planes), rows(m * layout.bytes), tiles((m + 15) / 16 * kernels::superTileBytes(layout)) {
        for (std::size_t t = 0; t < m; ++t)
            kernels::quantiseSuper(x.data() + t * k, layout, bytesOf(rows) + t * layout.bytes);
        kernels::packSuperTiles(layout, bytesOf(rows), m, bytesOf(tiles));
    }
    const std::byte* row(std::size_t t) const { return bytesOf(rows) + t * layout.bytes; }
    int code(std::size_t t, std::size_t i) const {
        const auto* codes = reinterpret_cast<const std::int8_t*>(row(t));
        return layout.planes == 2 ? 256 * codes[i] + codes[layout.low + i] : codes[i];
    }
    float scale(std::size_t t, std::size_t block) const {
        float value;
        std::memcpy(&value, row(t) + layout.scale + 4 * block, 4);
        return value;
    }
};

// The sum by its definition in float64, and the sum of its terms' magnitudes.
struct Exact {
    double sum = 0, magnitude = 0;
    Exact(Format format, const std::byte* w, const Rows& x, std::size_t t) {
        const kernels::CodeForm form = kernels::codeFormOf(format);
        const std::size_t k = x.layout.k, group = form.group;
        std::vector<std::int8_t> codes(k);
        std::vector<float> scale(k / group), minimum(k / group);
        plain::unpackCodes(format, w, k, codes.data(), scale.data(), minimum.data());
        for (std::size_t g = 0; g < k / group; ++g) {
            std::int64_t product = 0, all = 0;
            for (std::size_t i = g * group; i < (g + 1) * group; ++i) {
                product += codes[i] * x.code(t, i);
                all += x.code(t, i);
            }
            const double by = x.scale(t, g * group / 256);
            const double one = static_cast<double>(product) * scale[g] * by;
            const double least = form.minimum ? static_cast<double>(all) * minimum[g] * by : 0;
            sum += one + least;
            magnitude += std::abs(one) + std::abs(least);
        }
    }
};

std::vector<float> byRows(Format format, const std::vector<std::byte>& w, std::size_t n, const Rows& x, std::size_t m,
                          const float* add = nullptr) {
    std::vector<float> out(m * n);
    const Buffer scratch(kernels::superScratchBytes(x.layout.k, m));
    const auto columns = static_cast<std::ptrdiff_t>(n);
    const auto rowBytes = static_cast<std::ptrdiff_t>(axial::bytesOf(format, x.layout.k));
    kernels::dotSuperRows(
        {format, w.data(), rowBytes, n, &x.layout, x.row(0), m, out.data(), columns, add, columns, bytesOf(scratch)});
    return out;
}
std::vector<float> byTiles(Format format, const std::vector<std::byte>& w, std::size_t n, const Rows& x, std::size_t m,
                           const float* add = nullptr) {
    std::vector<float> out(m * n);
    const Buffer scratch(kernels::superScratchBytes(x.layout.k, m));
    const auto columns = static_cast<std::ptrdiff_t>(n);
    const auto rowBytes = static_cast<std::ptrdiff_t>(axial::bytesOf(format, x.layout.k));
    kernels::dotSuperTiles({format, w.data(), rowBytes, n, &x.layout, bytesOf(x.tiles), m, out.data(), columns, add,
                            columns, bytesOf(scratch)});
    return out;
}

}  // namespace

TEST_CASE("superblocks: rows against the definition in float64, tiles with the same bits") {
    if (absent()) return;
    for (const Format format : superFormats)
        for (const std::size_t planes : {1, 2})
            for (const std::size_t blocks : {1, 2, 5})
                for (const std::size_t n : {1, 15, 16, 17, 32})
                    for (const std::size_t m : {1, 3, 16, 37}) {
                        CAPTURE(nameOf(format));
                        CAPTURE(planes);
                        CAPTURE(blocks);
                        CAPTURE(n);
                        CAPTURE(m);
                        const std::size_t k = 256 * blocks, rowBytes = axial::bytesOf(format, k);
                        const auto w = randomBlocks(format, n * k, 41);
                        const auto values = randomFloats(m * k, 42), add = randomFloats(m * n, 43);
                        const Rows x(values, m, k, planes);
                        const auto out = byRows(format, w, n, x, m);
                        double worst = 0;
                        for (std::size_t t = 0; t < m; ++t)
                            for (std::size_t j = 0; j < n; ++j) {
                                const Exact exact(format, w.data() + j * rowBytes, x, t);
                                worst = std::max(worst, std::abs(out[t * n + j] - exact.sum) / exact.magnitude);
                            }
                        CHECK(worst < 1e-6);
                        CHECK(std::memcmp(byTiles(format, w, n, x, m).data(), out.data(), 4 * out.size()) == 0);
                        const auto added = byRows(format, w, n, x, m, add.data());
                        CHECK(added[m * n - 1] == add[m * n - 1] + out[m * n - 1]);
                        CHECK(std::memcmp(byTiles(format, w, n, x, m, add.data()).data(), added.data(),
                                          4 * added.size()) == 0);
                    }
}

TEST_CASE("superblocks: exact up to the extremes of codes, scales and activations") {
    if (absent()) return;
    const std::size_t m = 6, k = 512, n = 5;
    for (const Format format : superFormats)
        for (const std::size_t planes : {1, 2})
            for (const int fill : {0x00, 0x7f, 0x80, 0xff}) {
                CAPTURE(nameOf(format));
                CAPTURE(planes);
                CAPTURE(fill);
                const std::size_t rowBytes = axial::bytesOf(format, k), block = rowBytes / 2;
                std::vector<std::byte> w(n * rowBytes, static_cast<std::byte>(fill));
                const std::uint16_t one = f32ToF16(1.0f);
                for (std::size_t b = 0; b < 2 * n; ++b) {
                    std::memcpy(&w[b * block + (format == Format::q6_k ? 208 : 0)], &one, 2);
                    if (format != Format::q6_k) std::memcpy(&w[b * block + 2], &one, 2);
                }
                std::vector<float> values(m * k);  // rows of one sign, of both, and with low bytes of -128 and 127
                for (std::size_t i = 0; i < values.size(); ++i) {
                    const std::size_t t = i / k;
                    const float sign = t % 2 == 0 || i % 2 == 0 ? 1.0f : -1.0f;
                    values[i] = i % 256 == 0 ? 32639.0f
                                : t < 2      ? sign * 32639.0f
                                : t < 4      ? sign * 32384.0f
                                             : sign * 32511.0f;
                }
                const Rows x(values, m, k, planes);
                const auto out = byRows(format, w, n, x, m);
                for (std::size_t t = 0; t < m; ++t) {
                    const Exact exact(format, w.data(), x, t);
                    CHECK(std::abs(out[t * n] - exact.sum) <= 1e-6 * exact.magnitude);
                }
                CHECK(std::memcmp(byTiles(format, w, n, x, m).data(), out.data(), 4 * out.size()) == 0);
            }
}

TEST_CASE("superblocks: quantised activations by their definition") {
    if (absent()) return;
    auto values = randomFloats(5 * 256, 44);
    std::fill_n(values.begin() + 256, 256, 0.0f);
    std::fill_n(values.begin() + 512, 256, 1e-35f);  // counts as zero
    values[3 * 256 + 200] = std::numeric_limits<float>::infinity();
    values[4 * 256 + 31] = std::numeric_limits<float>::quiet_NaN();
    for (const std::size_t planes : {1, 2}) {
        CAPTURE(planes);
        const float most = planes == 2 ? 32639.0f : 127.0f;
        const Rows x(values, 1, values.size(), planes);
        float largest = 0;
        for (std::size_t i = 0; i < 256; ++i) largest = std::max(largest, std::abs(values[i]));
        CHECK(x.scale(0, 0) == largest / most);
        for (std::size_t i = 0; i < 256; ++i)
            CHECK(x.code(0, i) == static_cast<int>(std::nearbyint(values[i] * (most / largest))));
        for (const std::size_t block : {1, 2}) CHECK(x.scale(0, block) == 0);
        for (const std::size_t block : {3, 4}) CHECK(std::isnan(x.scale(0, block)));
        for (std::size_t i = 256; i < values.size(); ++i) CHECK(x.code(0, i) == 0);
        for (std::size_t plane = 0; plane < planes; ++plane)
            for (std::size_t group = 0; group < values.size() / 16; ++group) {
                const auto* codes = reinterpret_cast<const std::int8_t*>(x.row(0) + plane * x.layout.low);
                int sum = 0;
                for (std::size_t i = 16 * group; i < 16 * group + 16; ++i) sum += codes[i];
                std::int16_t sixteen, both;
                std::memcpy(&sixteen, x.row(0) + x.layout.sum16[plane] + 2 * group, 2);
                std::memcpy(&both, x.row(0) + x.layout.sum32[plane] + group / 2 * 2, 2);
                CHECK(sixteen == sum);
                if (group % 2 == 0) continue;
                for (std::size_t i = 16 * group - 16; i < 16 * group; ++i) sum += codes[i];
                CHECK(both == sum);
            }
    }
}
