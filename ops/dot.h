// dot(x, w, axes...): sums over the named axes. Linear layers, attention scores and outer products by name are all it.
#pragma once
#include "axial/ops/checks.h"
#include "axial/ops/dot_plain.h"

namespace axial {

namespace erased {

// How the operands of a contraction lie: a as [batch, m, k], b as [batch, n, k], the result as [batch, m, n].
struct DotPlan {
    const std::string_view* names;
    AxisMap a, b;
    DotShape shape;
};

// Throws ShapeError if the operands differ in the extent of an axis they share.
Owned dot(const TensorRef& a, const TensorRef& b, const DotPlan&);
}  // namespace erased

namespace detail {
template <class L, class R, class Over>
struct DotAxes {
    using Batch = without<shared<L, R>, Over>;
    using M = without<without<L, R>, Over>;
    using N = without<without<R, L>, Over>;
    using Out = joined<Batch, joined<M, N>>;
    static constexpr erased::DotPlan plan{names<Out>,
                                          mapTo<L, joined<joined<Batch, M>, Over>>,
                                          mapTo<R, joined<joined<Batch, N>, Over>>,
                                          {Batch::size, M::size, N::size, Over::size}};
};
// Blocks of a Stored run along its last axis, so what is summed over must be its trailing axes.
template <class R, class B, class Over>
inline constexpr bool sumsTrailing = !isStored<R> || std::is_same_v<joined<without<B, Over>, Over>, B>;

// What the contraction of an L with an R over some axes is: its checks, its plan and its result.
template <Name Op, class L, class R, class... X>
struct DotOver {
    using A = SetOf<L>;
    using B = SetOf<R>;
    using Over = shared<B, Axes<X{}...>>;  // in R's order, so that the rows of a Stored stay whole
    using Plan = DotAxes<A, B, Over>;
    using Out = TensorOf<float, typename Plan::Out>;
    using Checks = All<FloatValues<Op, L>, FloatValues<Op, R>, SizesAgree<Op, A, B>, HasAxis<Op, A, X>...,
                       HasAxis<Op, B, X>..., ContractsTrailing<Op, B, Axes<X{}...>, sumsTrailing<R, B, Over>>>;
    static constexpr const erased::DotPlan& plan = Plan::plan;
};
}  // namespace detail

// result[batch.., own of x.., own of w..] = sum over `axes` of x * w
// x: float, any axes, among them `axes`. w: a float tensor or view, or a Stored or Weight in any number format, which
// can be summed only over its trailing axes (else a compile error). Axes that both have and that are not summed over
// are batch axes: position i of one meets position i of the other. Float meets float in float32; for stored formats
// see ops/activations.h. Each output is added up in an order that depends on nothing but the summed extents, so a row
// has the same bits alone as in a batch. Extents of 0 are legal: a sum over nothing is 0.
// Throws ShapeError if the operands differ in the extent of an axis, or if the summed axes of a Stored do not lie side
// by side (it was narrowed along one of them).
template <TensorLike L, TensorLike R, class... X>
auto dot(const L& x, const R& w, X...) {
    static_assert(sizeof...(X) > 0, "dot: name the axes to sum over");
    using D = detail::DotOver<"dot", L, R, X...>;
    using Out = typename D::Out;
    using Checks = typename D::Checks;
    if constexpr (!Checks::ok)
        return (void)sizeof(*Checks::error()), Out();
    else
        return Out(erased::dot(x.ref(), w.ref(), D::plan));
}

}  // namespace axial
