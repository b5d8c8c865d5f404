// dotAll, swigluDot, addDot: several ops that go through the weights in one pass. Each has the bits of the plain ops
// that it stands for, and who watches every value (tensor/observe.h) sees those.
#pragma once
#include <span>
#include <tuple>

#include "axial/ops/dot.h"
#include "axial/ops/elementwise.h"

namespace axial {

namespace erased {
// out[i] = dot(*operands[0], *operands[i + 1], *plan[i]), for each operand behind the first.
void dotAll(std::span<const TensorRef* const> operands, const DotPlan* const* plan, Owned* out);
// swiglu(dot(a, gate), dot(a, up)), both by one plan.
Owned swigluDot(const TensorRef& a, const TensorRef& gate, const TensorRef& up, const DotPlan&);
// x + dot(a, b); x's axes are the product's, in its order.
Owned addDot(Loan x, const TensorRef& a, const TensorRef& b, const DotPlan&);
}  // namespace erased

// auto [q, k, v] = dotAll(h, embed, wq, wk, wv) is the tuple of dot(h, wq, embed), dot(h, wk, embed), dot(h, wv,
// embed): x is quantised once, and all the products are one parallel region. Any mix of formats. Throws as dot does.
template <TensorLike L, AxisTag X, TensorLike... R>
auto dotAll(const L& x, X, const R&... w) {
    using Checks = All<typename detail::DotOver<"dotAll", L, R, X>::Checks...>;
    using Out = std::tuple<typename detail::DotOver<"dotAll", L, R, X>::Out...>;
    if constexpr (!Checks::ok)
        return (void)sizeof(*Checks::error()), Out();
    else {
        const TensorRef* const operands[] = {&x.ref(), &w.ref()...};
        const erased::DotPlan* const plans[] = {&detail::DotOver<"dotAll", L, R, X>::plan...};
        Owned out[sizeof...(R)];
        erased::dotAll(operands, plans, out);
        return [&]<std::size_t... I>(std::index_sequence<I...>) {
            return Out(typename detail::DotOver<"dotAll", L, R, X>::Out(std::move(out[I]))...);
        }(std::index_sequence_for<R...>());
    }
}

// swiglu(dot(x, gate, axis), dot(x, up, axis)); gate and up have the same axes in the same order. Neither product is
// stored. Throws as dot does, and ShapeError if gate and up differ in an extent.
template <TensorLike L, TensorLike R, AxisTag X>
auto swigluDot(const L& x, const R& gate, const R& up, X) {
    using D = detail::DotOver<"swigluDot", L, R, X>;
    using Out = typename D::Out;
    using Checks = typename D::Checks;
    if constexpr (!Checks::ok)
        return (void)sizeof(*Checks::error()), Out();
    else
        return Out(erased::swigluDot(x.ref(), gate.ref(), up.ref(), D::plan));
}

// add(x, dot(y, w, axes...)), where the product has x's axes in x's order: what a block adds to its stream. An x given
// as Tensor&& lends its buffer to the result. Throws as dot and add do, and x is then untouched.
template <TensorLike S, TensorLike L, TensorLike R, AxisTag... X>
auto addDot(S&& x, const L& y, const R& w, X...) {
    static_assert(sizeof...(X) > 0, "addDot: name the axes to sum over");
    using D = detail::DotOver<"addDot", L, R, X...>;
    using Out = typename D::Out;
    using Product = typename Out::Set;
    using Checks = All<typename D::Checks, FloatValues<"addDot", S>, SizesAgree<"addDot", SetOf<S>, Product>,
                       WantsAxes<"addDot", SetOf<S>, Product, std::is_same_v<SetOf<S>, Product>>>;
    if constexpr (!Checks::ok)
        return (void)sizeof(*Checks::error()), Out();
    else
        return Out(erased::addDot(lend(std::forward<S>(x)), y.ref(), w.ref(), D::plan));
}

}  // namespace axial
