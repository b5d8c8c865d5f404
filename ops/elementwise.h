// Ops element by element: add, sub, mul, outer, scale, swiglu, splitGated, +=. Operands meet by name, in any order; an
// axis that one side lacks is broadcast. A size of 1 is not stretched: extents of a shared axis are equal, or it is a
// ShapeError.
#pragma once
#include "axial/ops/checks.h"
#include "axial/ops/elementwise_kernels.h"

namespace axial {

namespace erased {
// How two operands lie along the result's axes.
struct PairPlan {
    const std::string_view* names;
    AxisMap a, b;
};
Owned pointwise(kernels::Pointwise op, std::string_view name, Loan a, const TensorRef& b, const PairPlan& plan);
Owned scale(Loan x, float factor);
Owned splitGated(const TensorRef& x, std::size_t axis, const std::string_view* names);
}  // namespace erased

namespace detail {
template <class A, class B>
inline constexpr erased::PairPlan pairPlan{names<united<A, B>>, mapTo<A, united<A, B>>, mapTo<B, united<A, B>>};

template <Name Op, template <Name, class, class> class Meet, TensorLike L, TensorLike R>
auto pointwise(kernels::Pointwise op, L&& l, const R& r) {
    using A = SetOf<L>;
    using B = SetOf<R>;
    using Out = TensorOf<float, united<A, B>>;
    using Checks = All<FloatValues<Op, L>, FloatValues<Op, R>, Meet<Op, A, B>, SizesAgree<Op, A, B>>;
    if constexpr (!Checks::ok)
        return (void)sizeof(*Checks::error()), Out();
    else
        return Out(erased::pointwise(op, Op.view(), lend(std::forward<L>(l)), r.ref(), pairPlan<A, B>));
}

template <Name Op, class L, class R>
struct NothingShared {
    static constexpr bool ok = shared<L, R>::size == 0;
    static consteval auto text() {
        Text t;
        return t << Op.view() << ": " << L{} << " and " << R{} << " share " << shared<L, R>{} << "; mul() is meant";
    }
};
}  // namespace detail

// l + r, l - r, l * r. The result has l's axes, then those of r that l lacks. Two operands that share no axis are a
// compile error unless one has no axes at all: it catches the forgotten rename. An l given as Tensor&& that has all
// the axes lends its buffer to the result. Throws ShapeError if a shared axis has two extents; then l is untouched.
template <TensorLike L, TensorLike R>
auto add(L&& l, const R& r) {
    return detail::pointwise<"add", SomethingShared>(kernels::Pointwise::add, std::forward<L>(l), r);
}
template <TensorLike L, TensorLike R>
auto sub(L&& l, const R& r) {
    return detail::pointwise<"sub", SomethingShared>(kernels::Pointwise::sub, std::forward<L>(l), r);
}
template <TensorLike L, TensorLike R>
auto mul(L&& l, const R& r) {
    return detail::pointwise<"mul", SomethingShared>(kernels::Pointwise::mul, std::forward<L>(l), r);
}

// Every value of l times every value of r, which share no axis: result [l's axes, r's axes].
template <TensorLike L, TensorLike R>
auto outer(const L& l, const R& r) {
    return detail::pointwise<"outer", detail::NothingShared>(kernels::Pointwise::mul, l, r);
}

// silu(gate) * up with silu(x) = x / (1 + e^-x); axes and errors as for add. Within 3 ulp. (Shazeer 2020, "GLU Variants
// Improve Transformer".)
template <TensorLike L, TensorLike R>
auto swiglu(L&& gate, const R& up) {
    return detail::pointwise<"swiglu", SomethingShared>(kernels::Pointwise::swiglu, std::forward<L>(gate), up);
}

// x * factor.
template <TensorLike X>
auto scale(X&& x, float factor) {
    using Out = TensorOf<float, SetOf<X>>;
    using Checks = All<FloatValues<"scale", X>>;
    if constexpr (!Checks::ok)
        return (void)sizeof(*Checks::error()), Out();
    else
        return Out(erased::scale(lend(std::forward<X>(x)), factor));
}

// swiglu of the two halves of one tensor's axis, the gate first: result(.., into = i) = silu(x(.., axis = i)) *
// x(.., axis = n + i) for i < n, where the axis has 2 n positions. The result has `into` where x had the axis; it may
// be the axis itself. Throws ShapeError if the extent is odd.
template <TensorLike X, class Along, class Into>
auto splitGated(const X& x, Along, Into) {
    using Set = SetOf<X>;
    using Rest = without<Set, Axes<Along{}>>;
    using OutSet = replaced<Set, Along, Into>;
    using Checks =
        All<FloatValues<"splitGated", X>, HasAxis<"splitGated", Set, Along>, AxisIsNew<"splitGated", Rest, Into>>;
    if constexpr (!Checks::ok)
        return (void)sizeof(*Checks::error()), View<float>();
    else
        return TensorOf<float, OutSet>(erased::splitGated(x.ref(), indexOf<Along>(Set{}), names<OutSet>));
}

// x = x + y, where y's axes are among x's. Throws ShapeError, and x is then untouched.
template <auto... A, TensorLike R>
Tensor<float, A...>& operator+=(Tensor<float, A...>& x, const R& y) {
    static_assert(sizeof(*All<AxesAmong<"+=", SetOf<R>, Axes<A...>>>::error()));
    return x = add(std::move(x), y);
}

}  // namespace axial
