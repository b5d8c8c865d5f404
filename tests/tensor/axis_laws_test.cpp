// The algebra of axis sets against Boost.Hana's sets, over every pair of subsets of five axes; and Hana walking axes.
#include <string>

#include <boost/hana/difference.hpp>
#include <boost/hana/equal.hpp>
#include <boost/hana/fold_left.hpp>
#include <boost/hana/for_each.hpp>
#include <boost/hana/intersection.hpp>
#include <boost/hana/length.hpp>
#include <boost/hana/set.hpp>
#include <boost/hana/type.hpp>
#include <boost/hana/union.hpp>
#include <boost/hana/unpack.hpp>
#include <doctest/doctest.h>

#include "axial/tensor/hana.h"
#include "axial/tensor/stored.h"
#include "axial/tensor/tensor.h"

using namespace axial;
namespace hana = boost::hana;

namespace {

constexpr Axis<"a"> a;
constexpr Axis<"b"> b;
constexpr Axis<"c"> c;
constexpr Axis<"c", 3> c3;  // another axis, though of the same name
constexpr Axis<"d"> d;

constexpr auto set = []<auto... A>(Axes<A...>) {
    return hana::make_set(hana::type_c<std::remove_const_t<decltype(A)>>...);
};

// The members of a set whose bit is set.
template <unsigned Bits>
constexpr Axes<> chosen(Axes<>) {
    return {};
}
template <unsigned Bits, auto First, auto... Rest>
constexpr auto chosen(Axes<First, Rest...>) {
    using Here = std::conditional_t<(Bits & 1) != 0, Axes<First>, Axes<>>;
    return joined<Here, decltype(chosen<Bits / 2>(Axes<Rest...>{}))>{};
}
using Universe = Axes<a, b, c, c3>;
using Backwards = Axes<d, c, b, a>;

// Whether every name of the algebra agrees with Hana for these two sets.
template <class L, class R>
constexpr bool agree() {
    constexpr auto l = set(L{});
    constexpr auto r = set(R{});
    static_assert(hana::difference(l, r) == set(without<L, R>{}));
    static_assert(hana::intersection(l, r) == set(shared<L, R>{}));
    static_assert(hana::union_(l, r) == set(united<L, R>{}));
    static_assert(hana::value(l == r) == sameSet<L, R>);
    static_assert(joined<L, R>::size == L::size + R::size);
    return true;
}
template <unsigned Left, unsigned... Right>
constexpr bool agreeWithEach(std::integer_sequence<unsigned, Right...>) {
    return (agree<decltype(chosen<Left>(Universe{})), decltype(chosen<Right>(Backwards{}))>() && ...);
}
template <unsigned... Left>
constexpr bool agreeOnEach(std::integer_sequence<unsigned, Left...> all) {
    return (agreeWithEach<Left>(all) && ...);
}

}  // namespace

TEST_CASE("Hana's sets agree with the algebra on 256 pairs of axis sets") {
    static_assert(agreeOnEach(std::make_integer_sequence<unsigned, 16>{}));
}

TEST_CASE("the algebra keeps order: the left set's, then the right's") {
    using L = Axes<a, b, c>;
    using R = Axes<c, d, a>;
    static_assert(std::is_same_v<without<L, R>, Axes<b>>);
    static_assert(std::is_same_v<shared<L, R>, Axes<a, c>>);
    static_assert(std::is_same_v<shared<R, L>, Axes<c, a>>);
    static_assert(std::is_same_v<united<L, R>, Axes<a, b, c, d>>);
    static_assert(std::is_same_v<joined<Axes<a>, Axes<d, b>>, Axes<a, d, b>>);
    static_assert(std::is_same_v<replaced<L, Axis<"b">, Axis<"x">, Axis<"y">>, Axes<a, Axis<"x">{}, Axis<"y">{}, c>>);
    static_assert(std::is_same_v<replaced<L, Axis<"z">, Axis<"x">>, L>);
    static_assert(sameSet<L, Axes<c, a, b>>);
    static_assert(!sameSet<L, Axes<a, b, c3>>);
    static_assert(contains<L, Axis<"b">>);
    static_assert(!contains<L, Axis<"c", 3>>);
    static_assert(indexOf<Axis<"c">>(L{}) == 2);
    static_assert(indexOf<Axis<"d">>(L{}) == 3);
}

TEST_CASE("the same sets as data") {
    using From = Axes<a, b, c>;
    using To = Axes<c, d, a>;
    constexpr AxisMap map = mapTo<From, To>;
    static_assert(map.rank == 3);
    static_assert(map.from[0] == 2);
    static_assert(map.from[1] == -1);
    static_assert(map.from[2] == 0);
    CHECK(names<To>[1] == "d");
    static_assert(infoOfAxes<Axes<a, c3>>[1].fixed == 3);
}

TEST_CASE("Hana walks the axes of a view, a tensor, a weight") {
    const auto x = zeros<float>(a(2), c3(3));
    const View<const float, c3, a> v = x;
    const Weight<b, d> w;
    const auto spelled = [](const auto& value) {
        std::string text;
        hana::for_each(axesOf(value), [&](auto axis) { text.append(axis.name).append(" "); });
        return text;
    };
    CHECK(spelled(x) == "a c ");
    CHECK(spelled(v) == "c a ");
    CHECK(spelled(w) == "b d ");
    const std::size_t product =
        hana::fold_left(axesOf(x), std::size_t{1}, [&](std::size_t n, auto axis) { return n * x.extent(axis); });
    CHECK(product == x.size());
    static_assert(hana::unpack(axesOf(v), [](auto... axis) { return (axis.fixed + ...); }) == 3);
}
