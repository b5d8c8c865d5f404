// dot(x, w, axes...): sums over the named axes. Linear layers, attention scores and outer products by name are all it.
#pragma once
#include <tuple>

#include "axial/ops/dot_plain.h"
#include "axial/tensor/owned.h"
#include "axial/tensor/stored.h"
#include "axial/tensor/tensor.h"

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
// out[i] = dot(a, *b[i], *plan[i]), all in one go. Only the first `count` of the arrays are used.
void dotAll(const TensorRef& a, const TensorRef* const* b, const DotPlan* const* plan, std::size_t count, Owned* out);

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
// Blocks of a Stored run along its last axis, so what is summed over must be its trailing axes, in its own order.
template <class R, class Set, class D, class Over>
inline constexpr bool dotTrailing = !isStored<R> || std::is_same_v<joined<without<Set, Over>, shared<Set, Over>>, Set>;
template <class L, class R, class... X>
struct DotCheck {
    using A = SetOf<L>;
    using B = SetOf<R>;
    using Over = shared<B, Axes<X{}...>>;  // in b's order, so that a Stored's rows stay whole
    using D = DotAxes<A, B, Over>;
    using Out = TensorOf<float, typename D::Out>;
    using Checks = All<HasAxis<"dot", A, X>..., HasAxis<"dot", B, X>..., SizesAgree<"dot", A, B>,
                       ContractsTrailing<"dot", B, Axes<X{}...>, dotTrailing<R, B, D, Over>>>;
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
    using C = detail::DotCheck<L, R, X...>;
    using Out = typename C::Out;
    if constexpr (!C::Checks::ok)
        return (void)sizeof(*C::Checks::error()), Out();
    else
        return Out(erased::dot(x.ref(), w.ref(), C::D::plan));
}

// auto [q, k, v] = dotAll(h, embed, wq, wk, wv) is the tuple (dot(h, wq, embed), dot(h, wk, embed), dot(h, wv, embed)),
// bit for bit, computed in one parallel region with x quantised once. Any mix of formats.
template <TensorLike L, AxisTag X, TensorLike... R>
auto dotAll(const L& x, X, const R&... w) {
    using Checks = All<typename detail::DotCheck<L, R, X>::Checks...>;
    using Out = std::tuple<typename detail::DotCheck<L, R, X>::Out...>;
    if constexpr (!Checks::ok)
        return (void)sizeof(*Checks::error()), Out();
    else {
        const TensorRef* const operands[] = {&w.ref()...};
        const erased::DotPlan* const plans[] = {&detail::DotCheck<L, R, X>::D::plan...};
        Owned out[sizeof...(R)];
        erased::dotAll(x.ref(), operands, plans, sizeof...(R), out);
        return [&]<std::size_t... I>(std::index_sequence<I...>) {
            return Out(typename detail::DotCheck<L, R, X>::Out(std::move(out[I]))...);
        }(std::index_sequence_for<R...>());
    }
}

}  // namespace axial
