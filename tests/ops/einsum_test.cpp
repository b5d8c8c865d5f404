#include "axial/ops/einsum.h"

#include <doctest/doctest.h>

#include <cstring>

#include "ops/stored_blocks.h"

using namespace axial;

namespace {
constexpr Axis<"i"> i;
constexpr Axis<"j"> j;
constexpr Axis<"k"> k;
constexpr Axis<"b"> b;

template <class... X>
auto filled(unsigned seed, At<X>... extent) {
    auto t = uninitialized<float>(extent...);
    const auto values = randomFloats(t.size(), seed);
    std::copy(values.begin(), values.end(), t.values().begin());
    return t;
}
}  // namespace

TEST_CASE("einsum: the result's axes are the equation") {
    const auto x = filled(1, b(2), i(3), k(4));
    const auto w = filled(2, j(5), k(4), b(2));

    SUBCASE("a matrix product in a batch, in the order that is asked for") {
        const auto out = einsum(into(j, b, i), x, w);
        static_assert(std::is_same_v<SetOf<decltype(out)>, Axes<j, b, i>>);
        for (std::size_t B = 0; B < 2; ++B)
            for (std::size_t I = 0; I < 3; ++I)
                for (std::size_t J = 0; J < 5; ++J) {
                    double sum = 0;
                    for (std::size_t K = 0; K < 4; ++K)
                        sum += static_cast<double>(x(b(B), i(I), k(K))) * static_cast<double>(w(j(J), k(K), b(B)));
                    CHECK(out(j(J), b(B), i(I)) == doctest::Approx(sum).epsilon(1e-5));
                }
    }
    SUBCASE("it is dot, where dot can say it") {
        const auto out = einsum(into(b, i, j), x, w);
        const auto same = dot(x, w, k);
        CHECK(std::memcmp(out.data(), same.data(), out.size() * sizeof(float)) == 0);
    }
    SUBCASE("three operands, an axis of the first and the last") {
        const auto v = filled(3, j(5), i(3));
        const auto out = einsum(into(b), x, w, v);
        for (std::size_t B = 0; B < 2; ++B) {
            double sum = 0;
            for (std::size_t I = 0; I < 3; ++I)
                for (std::size_t J = 0; J < 5; ++J)
                    for (std::size_t K = 0; K < 4; ++K)
                        sum += static_cast<double>(x(b(B), i(I), k(K))) * static_cast<double>(w(j(J), k(K), b(B))) *
                               static_cast<double>(v(j(J), i(I)));
            CHECK(out(b(B)) == doctest::Approx(sum).epsilon(1e-4));
        }
    }
    SUBCASE("an outer product, spelt out") {
        const auto l = filled(4, i(3));
        const auto r = filled(5, j(2));
        const auto out = einsum(into(i, j), l, r);
        for (std::size_t I = 0; I < 3; ++I)
            for (std::size_t J = 0; J < 2; ++J) CHECK(out(i(I), j(J)) == l(i(I)) * r(j(J)));
    }
    SUBCASE("a number") {
        const auto all = einsum(into(), x, x);
        double sum = 0;
        for (const float value : x.values()) sum += static_cast<double>(value) * static_cast<double>(value);
        CHECK(*all.data() == doctest::Approx(sum).epsilon(1e-5));
    }
}
