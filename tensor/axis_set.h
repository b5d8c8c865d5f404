// The algebra of axis sets: which axes an op's result has. Order is kept, so a set is also a layout.
// Plain folds, not Boost.Hana: 4.5 ms of compile time for a pair of ops against 58 to 92 (docs/architecture.md);
// the tests hold it against Hana's sets.
#pragma once
#include <array>

#include "axial/tensor/axis.h"
#include "axial/tensor/ref.h"

namespace axial {

// A set of axes in an order: Axes<seq, embed>.
template <auto... A>
struct Axes {
    static constexpr std::size_t size = sizeof...(A);
};

namespace detail {
template <auto... A, auto... B>
Axes<A..., B...> operator+(Axes<A...>, Axes<B...>);
template <bool Keep, auto A>
using If = std::conditional_t<Keep, Axes<A>, Axes<>>;

template <class Set, class X>
inline constexpr bool contains = false;
template <auto... A, class X>
inline constexpr bool contains<Axes<A...>, X> = (std::is_same_v<const X, const decltype(A)> || ...);

template <class L, class R>
struct Algebra;
template <auto... A, auto... B>
struct Algebra<Axes<A...>, Axes<B...>> {
    using Without = decltype((Axes<>{} + ... + If<!contains<Axes<B...>, std::remove_const_t<decltype(A)>>, A>{}));
    using Shared = decltype((Axes<>{} + ... + If<contains<Axes<B...>, std::remove_const_t<decltype(A)>>, A>{}));
};

template <class Set, class Old, class... New>
struct Replace;
template <auto... A, class Old, class... New>
struct Replace<Axes<A...>, Old, New...> {
    using type = decltype((
        Axes<>{} + ... + std::conditional_t<std::is_same_v<const Old, const decltype(A)>, Axes<New{}...>, Axes<A>>{}));
};

}  // namespace detail

// contains<Axes<seq, embed>, Axis<"seq">> is true.
template <class Set, class X>
inline constexpr bool contains = detail::contains<Set, X>;
// L's axes that R lacks, in L's order: L \ R.
template <class L, class R>
using without = typename detail::Algebra<L, R>::Without;
// L's axes that R has too, in L's order.
template <class L, class R>
using shared = typename detail::Algebra<L, R>::Shared;
// L's axes, then R's.
template <class L, class R>
using joined = decltype(detail::operator+(L{}, R{}));
// L's axes, then those of R that L lacks.
template <class L, class R>
using united = joined<L, without<R, L>>;
// The set with New... in the place of Old.
template <class Set, class Old, class... New>
using replaced = typename detail::Replace<Set, Old, New...>::type;
// The same axes, in whatever order.
template <class L, class R>
inline constexpr bool sameSet = L::size == R::size && without<L, R>::size == 0;

// Where X stands in the set; the set's size if it is not in it.
template <class X, auto... A>
consteval std::size_t indexOf(Axes<A...>) {
    std::size_t i = 0;
    (void)((std::is_same_v<const X, const decltype(A)> || (++i, false)) || ...);
    return i;
}

// The same sets as data, for the untyped layer and for messages.
struct AxisInfo {
    std::string_view name;
    std::size_t fixed;
};
namespace detail {
template <class Set>
struct Data;
template <auto... A>
struct Data<Axes<A...>> {
    static constexpr std::array<AxisInfo, sizeof...(A)> info{{{A.name, A.fixed}...}};
    static constexpr std::array<std::string_view, sizeof...(A)> names{A.name...};
};
template <std::size_t N, std::size_t M>
consteval AxisMap mapInto(const std::array<AxisInfo, N>& from, const std::array<AxisInfo, M>& to) {
    AxisMap map{M, {}};
    for (std::size_t i = 0; i < M; ++i) {
        map.from[i] = -1;
        for (std::size_t j = 0; j < N; ++j)
            if (from[j].name == to[i].name) map.from[i] = static_cast<std::int8_t>(j);
    }
    return map;
}
}  // namespace detail
template <class Set>
inline constexpr const auto& infoOfAxes = detail::Data<Set>::info;
// The names as a table that lives forever.
template <class Set>
inline constexpr const std::string_view* names = detail::Data<Set>::names.data();
// Where To's axes are found in From.
template <class From, class To>
inline constexpr AxisMap mapTo = detail::mapInto(infoOfAxes<From>, infoOfAxes<To>);

}  // namespace axial
