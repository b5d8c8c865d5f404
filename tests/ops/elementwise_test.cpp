#include "axial/ops/elementwise.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>

#include "axial/ops/elementwise_plain.h"
#include "axial/ops/structure.h"
#include "axial/tensor/error.h"
#include "axial/tensor/parallel.h"
#include "ops/each_target.h"
#include "ops/samples.h"
#include "oracle.h"

using namespace axial;

namespace {

constexpr Axis<"seq"> seq;
constexpr Axis<"embed"> embed;
constexpr Axis<"head"> head;
constexpr Axis<"ff"> ff;

std::string errorOf(auto&& f) {
    try {
        f();
    } catch (const Error& e) {
        return e.what();
    }
    return "none";
}

std::vector<float> flat(const nlohmann::json& j) {
    if (j.is_number()) return {j.get<float>()};
    std::vector<float> all;
    for (const auto& part : j)
        for (const float v : flat(part)) all.push_back(v);
    return all;
}

// The distance in units of the last place of the wanted value.
double ulps(float got, double want) {
    if (static_cast<double>(got) == want) return 0;
    const float near = static_cast<float>(want);
    const double step = std::max(std::nextafter(std::abs(near), INFINITY) - std::abs(near), 0x1p-149f);
    return std::abs(static_cast<double>(got) - want) / step;
}

}  // namespace

TEST_CASE("add, sub, mul: every length, equal to the plain definitions bit for bit, on every instruction set") {
    forEachTarget([&](const char*) {
        for (std::size_t n = 0; n <= 70; ++n) {
            CAPTURE(n);
            const auto a = randomTensor(1, embed(n)), b = randomTensor(2, embed(n));
            std::vector<float> want(n);
            plain::add(want.data(), a.data(), b.data(), n);
            CHECK(sameBits(add(a, b), std::span<const float>(want)));
            plain::sub(want.data(), a.data(), b.data(), n);
            CHECK(sameBits(sub(a, b), std::span<const float>(want)));
            plain::mul(want.data(), a.data(), b.data(), n);
            CHECK(sameBits(mul(a, b), std::span<const float>(want)));
        }
    });
}

TEST_CASE("swiglu: reference cases, on every instruction set") {
    if (!oracle::present()) return;
    const auto reference = oracle::json("ops/swiglu.json");
    for (const auto& c : reference["cases"]) {
        const std::vector<float> gates = flat(c["gate"]), ups = flat(c["up"]);
        const std::size_t n = gates.size();
        const auto gate = tensor<float>(std::span<const float>(gates), embed(n));
        const auto up = tensor<float>(std::span<const float>(ups), embed(n));
        std::vector<double> want;
        for (const auto& row : c["out"])
            for (const auto& v : row) want.push_back(v.get<double>());
        forEachTarget([&](const char*) {
            const auto out = swiglu(gate, up);
            for (std::size_t i = 0; i < n; ++i) {
                CAPTURE(gates[i]);
                CHECK(std::abs(static_cast<double>(out(embed(i))) - want[i]) <= 1e-6 * std::abs(want[i]) + 1e-42);
            }
        });
    }
}

TEST_CASE("swiglu: silu within 3 ulp of float64 over the whole range, on every instruction set") {
    const std::size_t n = 40001;
    auto x = zeros<float>(embed(n));
    auto one = zeros<float>(embed(n));
    for (std::size_t i = 0; i < n; ++i) {
        x(embed(i)) = static_cast<float>(-110 + 0.0055 * static_cast<double>(i));
        one(embed(i)) = 1;
    }
    forEachTarget([&](const char*) {
        const auto out = swiglu(x, one);
        double worst = 0;
        for (std::size_t i = 0; i < n; ++i)
            if (x(embed(i)) > -87)
                worst = std::max(worst, ulps(out(embed(i)), plain::silu(static_cast<double>(x(embed(i))))));
            else  // e^x is subnormal: absolute
                CHECK(std::abs(out(embed(i)) - plain::silu(static_cast<double>(x(embed(i))))) < 1e-42);
        CHECK(worst < 3);

        const float infinity = std::numeric_limits<float>::infinity();
        const auto edge = tensor<float>({infinity, -infinity, std::nanf(""), -0.0f}, embed(4));
        const auto unit = tensor<float>({1, 1, 1, 1}, embed(4));
        const auto at = swiglu(edge, unit);
        CHECK(at(embed(0)) == infinity);
        CHECK(at(embed(1)) == 0);
        CHECK(std::isnan(at(embed(2))));
        CHECK(at(embed(3)) == 0);
    });
}

TEST_CASE("swiglu: a value's bits do not depend on where it stands in a row") {
    const auto x = randomTensor(3, embed(67));
    forEachTarget([&](const char*) {
        const auto whole = swiglu(x, x);
        for (std::size_t i = 0; i < 67; ++i) {
            const auto one = swiglu(x.narrow(embed, i, 1), x.narrow(embed, i, 1));
            CHECK(one(embed(0)) == whole(embed(i)));
        }
    });
}

TEST_CASE("add: operands meet by name in any order, and broadcast by absence of an axis") {
    const auto x = randomTensor(4, seq(3), head(4), embed(21));
    const auto turned = randomTensor(5, embed(21), seq(3), head(4));
    const auto bias = randomTensor(6, embed(21));
    const auto perHead = randomTensor(7, head(4));
    forEachTarget([&](const char*) {
        const auto all = add(x, turned);
        const auto biased = add(x, bias);
        const auto ahead = mul(perHead, x);  // [head, seq, embed]
        const auto scalar = mul(tensor<float>({2}), x);
        for (std::size_t s = 0; s < 3; ++s)
            for (std::size_t h = 0; h < 4; ++h)
                for (std::size_t e = 0; e < 21; ++e) {
                    const float v = x(seq(s), head(h), embed(e));
                    CHECK(all(seq(s), head(h), embed(e)) == v + turned(seq(s), head(h), embed(e)));
                    CHECK(biased(seq(s), head(h), embed(e)) == v + bias(embed(e)));
                    CHECK(ahead(seq(s), head(h), embed(e)) == v * perHead(head(h)));
                    CHECK(scalar(seq(s), head(h), embed(e)) == v * 2);
                }
        static_assert(std::is_same_v<decltype(mul(perHead, x)), Tensor<float, head, seq, embed>>);
    });
    const auto products = outer(bias, perHead);
    CHECK(products(embed(20), head(3)) == bias(embed(20)) * perHead(head(3)));
}

TEST_CASE("add: large operands, in parallel, same bits for any number of threads") {
    const auto a = randomTensor(8, seq(130), embed(700)), b = randomTensor(9, seq(130), embed(700));
    const auto bias = randomTensor(10, embed(700));
    ThreadTeam one(1), four(4);
    const auto with = [&](ThreadTeam& team) {
        UseTeam use(team);
        return swiglu(add(a, bias), b);
    };
    const auto first = with(one), second = with(four);
    CHECK(sameBits(first, second));
    CHECK(first(seq(129), embed(699)) ==
          doctest::Approx(plain::silu(a(seq(129), embed(699)) + bias(embed(699))) * b(seq(129), embed(699))));
}

TEST_CASE("add: a lent operand gives its buffer to the result, unless another view looks into it") {
    auto x = randomTensor(11, seq(4), embed(4));
    const auto before = copy(x);
    const float* address = x.data();
    x = add(std::move(x), before);
    CHECK(x.data() == address);
    CHECK(x(seq(1), embed(2)) == 2 * before(seq(1), embed(2)));

    x = add(std::move(x), x.as(seq, embed));  // the same elements
    CHECK(x(seq(1), embed(2)) == 4 * before(seq(1), embed(2)));

    auto y = copy(before);
    const auto transposed = y.rename(seq, head).rename(embed, seq).rename(head, embed);
    y = add(std::move(y), transposed);
    for (std::size_t i = 0; i < 4; ++i)
        for (std::size_t j = 0; j < 4; ++j)
            CHECK(y(seq(i), embed(j)) == before(seq(i), embed(j)) + before(seq(j), embed(i)));
}

TEST_CASE("add: on an error the lent operand is intact") {
    auto x = randomTensor(12, seq(2), embed(3));
    const auto before = copy(x);
    const auto wrong = zeros<float>(embed(4));
    CHECK(errorOf([&] { (void)add(std::move(x), wrong); }) == "add: axis embed is 3 on the left and 4 on the right");
    CHECK(sameBits(x, before));
    CHECK(errorOf([&] { x += wrong; }) == "add: axis embed is 3 on the left and 4 on the right");
    CHECK(sameBits(x, before));
    // no size-1 stretch
    CHECK(errorOf([&] { (void)mul(x, zeros<float>(embed(1))); }) ==
          "mul: axis embed is 3 on the left and 1 on the right");
    x += before;
    CHECK(x(seq(1), embed(1)) == 2 * before(seq(1), embed(1)));
    (void)add(std::move(x), before);
    CHECK(errorOf([&] { (void)add(x, before); }) != "none");  // empty now
}

TEST_CASE("scale, splitGated") {
    const auto x = randomTensor(13, seq(5), embed(38));
    forEachTarget([&](const char*) {
        const auto half = scale(x, 0.5f);
        CHECK(half(seq(4), embed(37)) == x(seq(4), embed(37)) * 0.5f);

        const auto gated = splitGated(x, embed, ff);  // [seq, ff]
        static_assert(std::is_same_v<decltype(splitGated(x, embed, ff)), Tensor<float, seq, ff>>);
        CHECK(gated.extent(ff) == 19);
        const auto same = swiglu(x.narrow(embed, 0, 19), x.narrow(embed, 19, 19));
        CHECK(sameBits(gated, same));
        std::vector<float> want(19);
        plain::swiglu(want.data(), x.data() + 38, x.data() + 38 + 19, 19);
        const auto row = copy(gated(seq(1)));
        CHECK(largestDifference(row, want) < 1e-6);

        const auto outer = copy(x.as(embed, seq));
        const auto first = splitGated(outer, embed, embed);  // [embed, seq]
        CHECK(first(embed(18), seq(2)) == gated(seq(2), ff(18)));
    });
    CHECK(errorOf([&] { (void)splitGated(zeros<float>(embed(3)), embed, ff); }) ==
          "splitGated: axis embed has extent 3, which has no halves");
    CHECK(splitGated(zeros<float>(seq(0), embed(4)), embed, ff).size() == 0);
    CHECK(scale(zeros<float>(seq(0)), 2).size() == 0);
}

TEST_CASE("add: a stored operand is decoded") {
    const std::uint16_t halves[] = {0x3c00, 0x4000, 0xc000};  // 1, 2, -2
    const Weight<embed> bias(halves, Format::f16, {3});
    const auto x = tensor<float>({10, 20, 30}, embed(3));
    const auto sum = add(x, bias);
    CHECK(sum(embed(0)) == 11);
    CHECK(sum(embed(2)) == 28);
    const auto other = add(bias, x);
    CHECK(sameBits(other, sum));
}
