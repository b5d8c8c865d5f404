// Renaming, cutting and regrouping axes: for each, what must hold, which axes come out, and the untyped function that
// does it. View, Tensor, Stored and Weight offer them as members.
#pragma once
#include "axial/tensor/axis_error.h"
#include "axial/tensor/error.h"
#include "axial/tensor/ref.h"

namespace axial {

// An axis, or an axis with an extent, as an argument: its axis, and its extent if one is said.
template <class P>
struct axisIn {
    using type = P;
};
template <class X>
struct axisIn<At<X>> {
    using type = X;
};
template <class P>
using AxisIn = typename axisIn<std::remove_cvref_t<P>>::type;
template <class P>
constexpr std::size_t sizeIn(P p) {
    if constexpr (isAxis<P>)
        return P::fixed == anySize ? unsaid : P::fixed;
    else
        return p.value;
}

namespace detail {

// The value, once each axis of a fixed size has that size.
template <class Set>
const TensorRef& checked(std::string_view operation, const TensorRef& v) {
    for (std::size_t i = 0; i < Set::size; ++i)
        requireFixed(operation, infoOfAxes<Set>[i].name, infoOfAxes<Set>[i].fixed, v.extent[i]);
    return v;
}
template <auto... A>
inline constexpr bool anyFixed = ((A.fixed != anySize) || ...);

template <class Set, class Old, class New>
struct Rename {
    using Checks = All<HasAxis<"rename", Set, Old>, AxisIsNew<"rename", without<Set, Axes<Old{}>>, New, Set>,
                       FixedProduct<"rename", Old, New>>;
    using Out = replaced<Set, Old, New>;
    static TensorRef of(const TensorRef& v) { return checked<Out>("rename", renamed(v, names<Out>)); }
};

template <class Set, class X>
struct Narrow {
    using Checks = All<HasAxis<"narrow", Set, X>, SizeIsFree<"narrow", X>>;
    static TensorRef of(const TensorRef& v, std::size_t first, std::size_t count) {
        return narrowed(v, indexOf<X>(Set{}), first, count);
    }
};

template <class Set, class X, class... Part>
struct Split {
    using Out = replaced<Set, X, AxisIn<Part>...>;
    static constexpr std::size_t unsized = ((isAxis<Part> && AxisIn<Part>::fixed == anySize) + ... + 0);
    using Checks =
        All<HasAxis<"split", Set, X>, NoAxisTwice<"split", Out>, RankFits<"split", Out>,
            OneSizeOpen<"split", Axes<AxisIn<Part>{}...>, unsized>, FixedProduct<"split", X, AxisIn<Part>...>>;
    static TensorRef of(const TensorRef& v, Part... part) {
        const std::size_t sizes[] = {sizeIn(part)...};
        return checked<Out>("split", splitAxis(v, indexOf<X>(Set{}), sizes, sizeof...(Part), names<Out>));
    }
};

template <class Set, class Into, class X, class... More>
struct Merge {
    using Checks =
        All<HasAxis<"merge", Set, X>, HasAxis<"merge", Set, More>..., Adjacent<"merge", Set, Axes<X{}, More{}...>>,
            AxisIsNew<"merge", without<Set, Axes<X{}, More{}...>>, Into, Set>, FixedProduct<"merge", Into, X, More...>>;
    using Out = replaced<without<Set, Axes<More{}...>>, X, Into>;
    static TensorRef of(const TensorRef& v) {
        return checked<Out>("merge", mergeAxes(v, indexOf<X>(Set{}), 1 + sizeof...(More), names<Out>));
    }
};

template <class Set, class... X>
struct Index {
    using Checks = All<HasAxis<"index", Set, X>..., NoAxisTwice<"index", Axes<X{}...>>>;
    using Out = without<Set, Axes<X{}...>>;
    static TensorRef of(const TensorRef& v, At<X>... i) {
        std::size_t at[maxRank];
        std::fill_n(at, maxRank, unsaid);
        ((at[indexOf<X>(Set{})] = i.value), ...);
        return picked(v, at, names<Out>);
    }
    // Where the element lies, in elements from the first; all axes are said.
    static std::ptrdiff_t offset(const TensorRef& v, At<X>... i) {
        if (!v.data) [[unlikely]]
            failEmpty("index");
        return (step(v, indexOf<X>(Set{}), i.value) + ... + 0);
    }

  private:
    static std::ptrdiff_t step(const TensorRef& v, std::size_t k, std::size_t i) {
        if (i >= v.extent[k]) [[unlikely]]
            failIndex(infoOfAxes<Set>[k].name, v.extent[k], i);
        return static_cast<std::ptrdiff_t>(i) * v.stride[k];
    }
};

template <class Set, class X>
struct Extent {
    using Checks = All<HasAxis<"extent", Set, X>>;
};
template <class Set, class X>
struct Stride {
    using Checks = All<HasAxis<"stride", Set, X>>;
};
template <class Set, class... X>
struct Reorder {
    using Checks = All<NoAxisTwice<"as", Axes<X{}...>>, WantsAxes<"as", Axes<X{}...>, Set>>;
};

}  // namespace detail
}  // namespace axial
