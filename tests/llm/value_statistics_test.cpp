// Statistics of tensors in any format and layout, against sums spelled out here.
#include "axial/llm/value_statistics.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "axial/llm/axes.h"
#include "axial/tensor/parallel.h"
#include "axial/tensor/tensor.h"

using namespace axial;
using namespace axial::llm;

TEST_CASE("statistics: minimum, maximum, mean and root mean square") {
    const auto x = tensor<float>({3, -4, 0, 1, 2, 4}, seq(2), embed(3));
    const ValueStatistics s = statisticsOf(x.ref());
    CHECK(s.count == 6);
    CHECK(s.nans + s.infinite == 0);
    CHECK(s.minimum == -4);
    CHECK(s.maximum == 4);
    CHECK(s.mean == doctest::Approx(1));
    CHECK(s.rms == doctest::Approx(std::sqrt(46.0 / 6)));
    CHECK(firstValues(x.ref(), 4) == std::vector<float>{3, -4, 0, 1});
    CHECK(firstValues(x.ref(), 9) == std::vector<float>{3, -4, 0, 1, 2, 4});
    const auto column = x.narrow(embed, 1, 1);  // not dense
    CHECK(statisticsOf(column.ref()).minimum == -4);
    CHECK(statisticsOf(column.ref()).maximum == 2);
    CHECK(firstValues(column.ref(), 2) == std::vector<float>{-4, 2});
    const auto ids = tensor<std::int32_t>({7, 151935}, seq(2));
    CHECK(statisticsOf(ids.ref()).maximum == 151935);
    CHECK(firstValues(ids.ref(), 2) == std::vector<float>{7, 151935});
}

TEST_CASE("statistics: NaN and infinities are counted, and the others described") {
    constexpr float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
    const ValueStatistics some = statisticsOf(tensor<float>({nan, 2, infinity, -infinity, -2}, embed(5)).ref());
    CHECK(some.count == 5);
    CHECK(some.nans == 1);
    CHECK(some.infinite == 2);
    CHECK(some.minimum == -2);
    CHECK(some.mean == 0);
    CHECK(some.rms == 2);
    const ValueStatistics none = statisticsOf(tensor<float>({nan, nan}, embed(2)).ref());
    CHECK(none.nans == 2);
    CHECK(none.minimum == 0);
    CHECK(none.rms == 0);
    const ValueStatistics empty = statisticsOf(zeros<float>(seq(0), embed(2)).ref());
    CHECK(empty.count == 0);
    CHECK(empty.rms == 0);
}

TEST_CASE("statistics: many values of a block format, the same on any number of threads") {
    // Blocks of Q8_0: a scale of 0.5 as a half, and 32 codes.
    const std::size_t blocks = 3000;
    std::vector<std::byte> bytes;
    double sum = 0, squares = 0;
    for (std::size_t b = 0; b < blocks; ++b) {
        bytes.push_back(std::byte{0x00});
        bytes.push_back(std::byte{0x38});
        for (std::size_t i = 0; i < 32; ++i) {
            const auto code = static_cast<std::int8_t>((b * 37 + i * 11) % 255 - 127);
            bytes.push_back(static_cast<std::byte>(code));
            sum += 0.5 * code;
            squares += 0.25 * code * code;
        }
    }
    ValueStatistics one, two;
    {
        ThreadTeam team(1);
        const UseTeam use(team);
        one = statisticsOf(Format::q8_0, bytes.data(), blocks * 32);
    }
    {
        ThreadTeam team(3);
        const UseTeam use(team);
        two = statisticsOf(Format::q8_0, bytes.data(), blocks * 32);
    }
    CHECK(one.minimum == -63.5);
    CHECK(one.maximum == 63.5);
    CHECK(one.mean == doctest::Approx(sum / (blocks * 32)));
    CHECK(one.rms == doctest::Approx(std::sqrt(squares / (blocks * 32))));
    CHECK(one.mean == two.mean);
    CHECK(one.rms == two.rms);
}
