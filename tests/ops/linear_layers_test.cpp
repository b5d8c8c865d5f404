// Whole linear layers, as ops call them: how exact they are, and that nothing but the row decides a row's bits.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <string>

#include "axial/ops/activations.h"
#include "axial/tensor/parallel.h"
#include "ops/each_unit.h"
#include "ops/linear_product.h"
#include "ops/stored_blocks.h"

using namespace axial;

// In float32, and with 16-bit activations where the format has integer codes, whose rounding leaves at most
// max|x| / (2 * 32639) of 32 values.
TEST_CASE("linear layers that are meant to be exact: every format, against float64") {
    for (const Activations arithmetic : {Activations::float32, Activations::int16})
        forEachUnit([&](const std::string& target) {
            const UseActivations use(arithmetic);
            for (const FormatInfo& info : formats) {
                CAPTURE(target);
                CAPTURE(info.name);
                const std::size_t k = info.blockElements == 1 ? 203 : 512, n = 37;
                for (const std::size_t m : {1, 7}) {
                    const auto bytes = randomBlocks(info.format, n * k, 8);
                    const auto w = decoded(info.format, bytes);
                    const auto x = randomFloats(m * k, 9);
                    const auto out = product(info.format, bytes, n, x, m, k);
                    double worst = 0;
                    for (std::size_t t = 0; t < m; ++t)
                        for (std::size_t j = 0; j < n; ++j) {
                            double exact = 0, magnitude = 0;
                            for (std::size_t i = 0; i < k; ++i) {
                                const double one =
                                    static_cast<double>(x[t * k + i]) * static_cast<double>(w[j * k + i]);
                                exact += one;
                                magnitude += std::abs(one);
                            }
                            worst = std::max(worst, std::abs(static_cast<double>(out[t * n + j]) - exact) / magnitude);
                        }
                    CHECK(worst < (arithmetic == Activations::float32 ? 2e-6 : 2e-5));
                }
            }
        });
}

TEST_CASE("linear layers: a row has the same bits alone, in any batch, and with any number of threads") {
    ThreadTeam one(1), two(2), three(3), four(4);
    ThreadTeam* const teams[] = {&one, &two, &three, &four};
    forEachUnit([&](const std::string& target) {
        for (const Activations arithmetic : {Activations::int8, Activations::int16, Activations::float32})
            for (const FormatInfo& info : formats) {
                const UseActivations use(arithmetic);
                CAPTURE(target);
                CAPTURE(info.name);
                CAPTURE(static_cast<int>(arithmetic));
                const std::size_t k = blockOf(info.format) == 256 ? 256 : 96 * (blockOf(info.format) == 64 ? 2 : 1);
                const std::size_t n = 53, most = 64;
                const auto w = randomBlocks(info.format, n * k, 11);
                const auto x = randomFloats(most * k, 12);
                std::vector<float> alone;
                {
                    const UseTeam team(one);
                    for (std::size_t t = 0; t < most; ++t) {
                        const std::vector<float> row(x.begin() + static_cast<std::ptrdiff_t>(t * k),
                                                     x.begin() + static_cast<std::ptrdiff_t>((t + 1) * k));
                        const auto out = product(info.format, w, n, row, 1, k);
                        alone.insert(alone.end(), out.begin(), out.end());
                    }
                }
                for (const std::size_t m : {1, 2, 3, 5, 6, 7, 8, 9, 12, 13, 16, 17, 31, 64}) {
                    const UseTeam team(*teams[m % 4]);
                    const auto out = product(info.format, w, n, x, m, k);
                    CAPTURE(m);
                    CHECK(std::memcmp(out.data(), alone.data(), out.size() * sizeof(float)) == 0);
                }
            }
    });
}
