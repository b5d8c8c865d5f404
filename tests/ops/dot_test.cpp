#include "axial/ops/dot.h"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <cmath>
#include <numeric>

#include "ops/each_target.h"
#include "ops/stored_blocks.h"

using namespace axial;

namespace {

constexpr std::string_view axisNames[] = {"a", "b", "c", "d", "e", "f", "g", "h"};

// A float operand with its axes laid out in memory in a random order, with gaps between the rows.
struct Operand {
    std::vector<float> values;
    TensorRef ref;
};
Operand operand(const std::vector<std::size_t>& extents, const std::vector<std::size_t>& order, unsigned seed) {
    Operand o;
    o.ref.axis = axisNames;
    o.ref.rank = static_cast<std::uint8_t>(extents.size());
    std::ptrdiff_t step = 1;
    for (std::size_t i = extents.size(); i-- > 0;) {
        const std::size_t axis = order[i];
        o.ref.extent[axis] = extents[axis];
        o.ref.stride[axis] = step;
        step *= static_cast<std::ptrdiff_t>(extents[axis] + (seed % 3 == 0 ? 1 : 0));
    }
    o.values = randomFloats(static_cast<std::size_t>(step) + 1, seed);
    o.ref.data = o.values.data();
    return o;
}

AxisMap inOrder(std::size_t rank) {
    AxisMap map{static_cast<std::uint8_t>(rank), {}};
    for (std::size_t i = 0; i < rank; ++i) map.from[i] = static_cast<std::int8_t>(i);
    return map;
}

}  // namespace

TEST_CASE("dot: any groups of axes in any memory order, as the plain definition says") {
    forEachTarget([](const char* target) {
        CAPTURE(target);
        CHECK(rc::check("dot", [] {
            const auto some = [](std::size_t most) {
                return *rc::gen::container<std::vector<std::size_t>>(*rc::gen::inRange<std::size_t>(0, 3),
                                                                     rc::gen::inRange<std::size_t>(1, most));
            };
            const auto batch = some(4), m = some(8), n = some(8);
            auto k = some(20);
            if (k.empty()) k.push_back(*rc::gen::inRange<std::size_t>(0, 70));
            std::vector<std::size_t> a = batch, b = batch;
            a.insert(a.end(), m.begin(), m.end());
            a.insert(a.end(), k.begin(), k.end());
            b.insert(b.end(), n.begin(), n.end());
            b.insert(b.end(), k.begin(), k.end());
            const auto shuffled = [](std::size_t size) {
                std::vector<std::size_t> order(size);
                std::iota(order.begin(), order.end(), std::size_t{0});
                for (std::size_t i = size; i > 1; --i)
                    std::swap(order[i - 1], order[*rc::gen::inRange<std::size_t>(0, i)]);
                return order;
            };
            const unsigned seed = *rc::gen::inRange(1, 1000);
            const Operand x = operand(a, shuffled(a.size()), seed), y = operand(b, shuffled(b.size()), seed + 1);
            const DotShape shape{static_cast<std::uint8_t>(batch.size()), static_cast<std::uint8_t>(m.size()),
                                 static_cast<std::uint8_t>(n.size()), static_cast<std::uint8_t>(k.size())};
            const erased::DotPlan plan{axisNames, inOrder(a.size()), inOrder(b.size()), shape};
            const Owned out = erased::dot(x.ref, y.ref, plan);
            TensorRef expected = out.ref;
            std::vector<float> wanted(std::max<std::size_t>(1, out.ref.size()));
            expected.data = wanted.data();
            plain::dot(shape, expected, x.ref, y.ref);
            const auto* got = static_cast<const float*>(out.ref.data);
            const std::size_t terms = std::accumulate(k.begin(), k.end(), std::size_t{1}, std::multiplies<>());
            for (std::size_t i = 0; i < out.ref.size(); ++i)
                RC_ASSERT(std::abs(got[i] - wanted[i]) <= 2e-6f * static_cast<float>(terms + 1));
        }));
    });
}

TEST_CASE("dot: by name") {
    constexpr Axis<"row"> row;
    constexpr Axis<"col"> col;
    constexpr Axis<"inner"> inner;
    const auto a = tensor<float>({1, 2, 3, 4, 5, 6}, row(2), inner(3));
    const auto b = tensor<float>({1, 0, 0, 1, 1, 1}, inner(3), col(2));
    const auto c = dot(a, b, inner);  // [row, col]
    CHECK(c(row(0), col(0)) == 4);
    CHECK(c(row(0), col(1)) == 5);
    CHECK(c(row(1), col(0)) == 10);
    CHECK(c(row(1), col(1)) == 11);
    const auto all = dot(a, a, row, inner);
    CHECK(*all.data() == 91);
    const auto each = dot(a, a, inner);  // row is shared, so it stays
    CHECK(each(row(0)) == 14);
    CHECK(each(row(1)) == 77);
}
