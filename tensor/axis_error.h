// One-line compile errors that spell the axes: error: ... 'axis_error<"dot: [seq, vocab] has no axis embed">'.
#pragma once
#include <cstddef>

#include "axial/tensor/axis_set.h"

namespace axial {

template <Name... Message>
struct axis_error;  // never defined: naming it IS the error

namespace detail {
struct Text {
    char s[1000]{};
    std::size_t n = 0;
    constexpr Text& operator<<(std::string_view t) {
        for (char c : t) s[n++] = c;
        return *this;
    }
    constexpr Text& operator<<(std::size_t v) {
        char d[20];
        std::size_t k = 0;
        do d[k++] = char('0' + v % 10);
        while (v /= 10);
        while (k) s[n++] = d[--k];
        return *this;
    }
    template <auto... A>
    constexpr Text& operator<<(Axes<A...>) {
        [[maybe_unused]] bool first = true;
        *this << "[";
        ((*this << (first ? "" : ", ") << AxisInfo{A.name, A.fixed}, first = false), ...);
        return *this << "]";
    }
    constexpr Text& operator<<(AxisInfo axis) {
        *this << axis.name;
        return axis.fixed == anySize ? *this : *this << "=" << axis.fixed;
    }
};

// Clang cuts a printed string argument at 36 characters, so there the message goes in pieces, cut at spaces.
#ifdef __clang__
inline constexpr std::size_t pieceLimit = 34;
#else
inline constexpr std::size_t pieceLimit = 1000;
#endif
constexpr std::size_t pieceEnd(const Text& t, std::size_t from) {
    if (t.n - from <= pieceLimit) return t.n;
    for (std::size_t i = from + pieceLimit; i > from; --i)
        if (t.s[i] == ' ') return i + 1;
    return from + pieceLimit;
}
template <std::size_t N>
consteval bool hasName(const std::array<AxisInfo, N>& set, std::string_view name) {
    for (AxisInfo axis : set)
        if (axis.name == name) return true;
    return false;
}
template <std::size_t N, std::size_t M>
consteval bool shareName(const std::array<AxisInfo, N>& l, const std::array<AxisInfo, M>& r) {
    for (AxisInfo axis : l)
        if (hasName(r, axis.name)) return true;
    return false;
}
template <std::size_t N>
consteval std::size_t firstRepeated(const std::array<AxisInfo, N>& set) {
    for (std::size_t i = 0; i < N; ++i)
        for (std::size_t j = 0; j < i; ++j)
            if (set[i].name == set[j].name) return i;
    return N;
}
template <std::size_t N, std::size_t M>
consteval std::array<int, 2> sizeClash(const std::array<AxisInfo, N>& l, const std::array<AxisInfo, M>& r) {
    for (std::size_t i = 0; i < N; ++i)
        for (std::size_t j = 0; j < M; ++j)
            if (l[i].fixed != r[j].fixed && l[i].name == r[j].name) return {int(i), int(j)};
    return {-1, -1};
}
template <class Check, std::size_t From, std::size_t End>
consteval auto piece() {
    constexpr Text t = Check::text();
    Name<End - From + 1> r;
    std::copy_n(t.s + From, End - From, r.text);
    r.text[End - From] = '\0';  // written out, or Clang prints some lengths as numbers
    return r;
}
template <class Check, std::size_t From, Name... Done>
consteval auto* spell() {
    constexpr Text t = Check::text();
    if constexpr (From == t.n)
        return static_cast<axis_error<Done...>*>(nullptr);
    else {
        constexpr std::size_t end = pieceEnd(t, From);
        return spell<Check, end, Done..., piece<Check, From, end>()>();
    }
}
// The first check that fails.
template <class Check, class... More>
consteval auto firstText() {
    if constexpr (!Check::ok)
        return Check::text();
    else
        return firstText<More...>();
}
}  // namespace detail

// An op gathers its checks in All<Check...> and says
//   if constexpr (!Checks::ok) return (void)sizeof(*Checks::error()), Out();
// which gives one error, at the op's own line, whatever the op would go on to do.
// An All can stand among the checks of another.
template <class... Check>
struct All {
    static constexpr bool ok = (Check::ok && ...);
    static consteval auto text() { return detail::firstText<Check...>(); }
    static consteval auto* error() {
        if constexpr (ok)
            return "";
        else
            return detail::spell<All, 0>();
    }
};

// The checks. Each is a type: it costs a line of bool algebra while it holds, and spells its text only when it fails.
template <Name Op, class Set, class X>
struct HasAxis {
    static constexpr bool ok = contains<Set, X>;
    static consteval auto text() {
        detail::Text t;
        t << Op.view() << ": ";
        if constexpr (!isAxis<X>)
            return t << X::name << "(...) is a number along " << X::name << "; name the axis alone";
        t << Set{} << " has no axis " << AxisInfo{X::name, X::fixed};
        for (AxisInfo axis : infoOfAxes<Set>)
            if (axis.name == X::name) t << (X::fixed ? "" : " of any size") << "; rename() it first";
        return t;
    }
};
// No name stands twice in the set.
template <Name Op, class Set>
struct NoAxisTwice {
    static constexpr std::size_t second = detail::firstRepeated(infoOfAxes<Set>);
    static constexpr bool ok = second == Set::size;
    static consteval auto text() {
        detail::Text t;
        return t << Op.view() << ": axis " << infoOfAxes<Set>[second].name << " stands twice in " << Set{}
                 << "; rename one of them";
    }
};
// The set has no axis of X's name.
// `Whole` is what the text shows: the set with what is being replaced.
template <Name Op, class Set, class X, class Whole = Set>
struct AxisIsNew {
    static constexpr bool ok = !detail::hasName(infoOfAxes<Set>, X::name);
    static consteval auto text() {
        detail::Text t;
        return t << Op.view() << ": " << Whole{} << " already has an axis " << X::name;
    }
};
template <Name Op, class Set>
struct RankFits {
    static constexpr bool ok = Set::size <= maxRank;
    static consteval auto text() {
        detail::Text t;
        return t << Op.view() << ": " << Set{} << " are " << Set::size << " axes, but at most " << maxRank
                 << " are possible";
    }
};
// Whether a tensor can have these axes.
template <class Set>
inline constexpr bool possibleAxes = All<NoAxisTwice<"axes", Set>, RankFits<"axes", Set>>::ok;

template <Name Op, class Got, class Wanted, bool Ok = sameSet<Got, Wanted>>
struct WantsAxes {
    static constexpr bool ok = Ok;
    static consteval auto text() {
        detail::Text t;
        return t << Op.view() << ": wants " << Wanted{} << " but got " << Got{};
    }
};
// An axis of one name has one size on both sides: two fixed sizes, or a fixed and a free one, never meet.
template <Name Op, class L, class R>
struct SizesAgree {
    static constexpr std::array<int, 2> clash = detail::sizeClash(infoOfAxes<L>, infoOfAxes<R>);
    static constexpr bool ok = clash[0] < 0;
    static consteval auto text() {
        const AxisInfo l = infoOfAxes<L>[clash[0]], r = infoOfAxes<R>[clash[1]];
        detail::Text t;
        t << Op.view() << ": axis " << l.name << " is ";
        l.fixed ? t << l.fixed : t << "of any size";
        t << " on the left and ";
        r.fixed ? t << r.fixed : t << "of any size";
        t << " on the right";
        return l.fixed && r.fixed ? t : t << "; rename() one of them";
    }
};
template <Name Op, class L, class R>
struct SomethingShared {  // by name: if the sizes differ, SizesAgree says so
    static constexpr bool ok = L::size == 0 || R::size == 0 || detail::shareName(infoOfAxes<L>, infoOfAxes<R>);
    static consteval auto text() {
        detail::Text t;
        return t << Op.view() << ": " << L{} << " and " << R{}
                 << " share no axis; if an outer product is meant, say outer()";
    }
};
// X's axes stand next to each other in the set, in this order.
template <Name Op, class Set, class X>
struct Adjacent;
template <Name Op, auto... A, auto... X>
struct Adjacent<Op, Axes<A...>, Axes<X...>> {
    static constexpr bool ok = [] {
        constexpr std::string_view all[] = {A.name..., ""}, part[] = {X.name...};
        for (std::size_t i = 0; i + sizeof...(X) <= sizeof...(A); ++i)
            if (std::equal(part, part + sizeof...(X), all + i)) return true;
        return false;
    }();
    static consteval auto text() {
        detail::Text t;
        return t << Op.view() << ": " << Axes<X...>{} << " are not adjacent in that order in " << Axes<A...>{}
                 << "; use as(...) and copy() first";
    }
};
template <Name Op, class Set, class Trailing, bool Ok>
struct ContractsTrailing {
    static constexpr bool ok = Ok;
    static consteval auto text() {
        detail::Text t;
        return t << Op.view() << ": " << Trailing{} << " are not the trailing axes of Weight " << Set{};
    }
};
// The axis may change its extent.
template <Name Op, class X>
struct SizeIsFree {
    static constexpr bool ok = X::fixed == anySize;
    static consteval auto text() {
        detail::Text t;
        return t << Op.view() << ": axis " << X::name << " always has " << X::fixed << " positions; rename() it first";
    }
};
// At most one of the parts of an axis is without a size.
template <Name Op, class Parts, std::size_t Unsized>
struct OneSizeOpen {
    static constexpr bool ok = Unsized < 2;
    static consteval auto text() {
        detail::Text t;
        return t << Op.view() << ": " << Parts{} << " leaves " << Unsized
                 << " sizes open, but only one can be worked out; say the others, as in " << infoOfAxes<Parts>[0].name
                 << "(2)";
    }
};
// The parts multiply to the whole, if all have fixed sizes.
template <Name Op, class Whole, class... Part>
struct FixedProduct {
    static constexpr std::size_t product = (Part::fixed * ... * std::size_t{1});
    static constexpr bool ok = Whole::fixed == anySize || product == 0 || product == Whole::fixed;
    static consteval auto text() {
        detail::Text t;
        return t << Op.view() << ": axis " << Whole::name << " always has " << Whole::fixed << " positions, but "
                 << Axes<Part{}...>{} << " has " << product;
    }
};

}  // namespace axial
