// Ops that move numbers and do not compute: copy, concat, select. (rename, narrow, split, merge, as and indexing move
// none: they are members of View and Tensor.)
#pragma once
#include <span>

#include "axial/ops/checks.h"

namespace axial {

namespace erased {
// A dense copy, axes in the order in which the reference has them; floats, whatever the format of `from`. Throws
// ShapeError if the rows of a block format are not whole blocks.
Owned copyAsFloat(const TensorRef& from);
// A dense copy of a tensor of a plain element type, bit by bit, axes in the order in which the reference has them.
Owned copyDense(const TensorRef& from);
// into = from: the same axes in the same order and one plain element type, bit by bit. Extents agree, no overlap.
void copyValues(const TensorRef& from, const TensorRef& into) noexcept;

Owned copy(const TensorRef& from, Format as);  // as: its own format, or F32
void copy(const TensorRef& from, const TensorRef& into);
Owned concat(std::initializer_list<const TensorRef*> parts, std::size_t axis);
Owned select(const TensorRef& from, std::size_t axis, std::span<const std::size_t> positions);
}  // namespace erased

// A dense tensor with x's numbers: the way to own what a View shows, and, as copy(x.as(embed, seq)), to change the
// order in which the axes lie in memory. A Stored is decoded to float. Throws std::bad_alloc.
template <TensorLike X>
auto copy(const X& x) {
    return TensorOf<ElementOf<X>, SetOf<X>>(erased::copy(x.ref(), formatOf<ElementOf<X>>));
}

// into = from, axes meeting by name in any order; nothing is broadcast. `from` and `into` must not overlap unless they
// are the same view. Throws ShapeError if extents differ.
template <TensorLike F, class T, auto... A>
void copy(const F& from, const View<T, A...>& into) {
    static_assert(std::is_same_v<ElementOf<F>, T> && !isStored<F>, "copy: both sides hold the same type of element");
    static_assert(sizeof(*All<WantsAxes<"copy", SetOf<F>, Axes<A...>>>::error()));
    erased::copy(arranged(renamed(from.ref(), names<Axes<A...>>), mapTo<SetOf<F>, Axes<A...>>), into.ref());
}

// The parts one after the other along an axis that all have: concat(key, past, now). The other axes meet by name and
// have equal extents. The result's axes are in the first part's order. Throws ShapeError if other extents differ.
template <class Along, TensorLike First, TensorLike... More>
auto concat(Along, const First& first, const More&... more) {
    using Set = SetOf<First>;
    using Out = TensorOf<ElementOf<First>, Set>;
    static_assert(
        (std::is_same_v<ElementOf<First>, ElementOf<More>> && ...) && !(isStored<First> || ... || isStored<More>),
        "concat: all parts hold the same type of element");
    using Checks =
        All<HasAxis<"concat", Set, Along>, SizeIsFree<"concat", Along>, WantsAxes<"concat", SetOf<More>, Set>...>;
    if constexpr (!Checks::ok)
        return (void)sizeof(*Checks::error()), Out();
    else {
        const auto join = [](const auto&... part) { return erased::concat({&part...}, indexOf<Along>(Set{})); };
        return Out(join(first.ref(), arranged(renamed(more.ref(), names<Set>), mapTo<SetOf<More>, Set>)...));
    }
}

// The given positions of an axis, in the given order, repeats allowed: select(x, seq, {4, 2, 2}). The result has x's
// axes in x's order. Throws ShapeError for a position past the end.
template <TensorLike X, class Along>
auto select(const X& x, Along, std::span<const std::size_t> positions) {
    using Out = TensorOf<ElementOf<X>, SetOf<X>>;
    static_assert(!isStored<X>, "select: gather() takes rows of a Stored");
    using Checks = All<HasAxis<"select", SetOf<X>, Along>, SizeIsFree<"select", Along>>;
    if constexpr (!Checks::ok)
        return (void)sizeof(*Checks::error()), Out();
    else
        return Out(erased::select(x.ref(), indexOf<Along>(SetOf<X>{}), positions));
}
template <TensorLike X, class Along>
auto select(const X& x, Along along, std::initializer_list<std::size_t> positions) {
    return select(x, along, std::span<const std::size_t>(positions.begin(), positions.size()));
}

}  // namespace axial
