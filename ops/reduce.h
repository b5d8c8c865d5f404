// sum, mean and max along an axis.
#pragma once
#include "axial/ops/checks.h"

namespace axial {

namespace erased {
enum class Reduction : std::uint8_t { sum, mean, max };
// `rows` has the axis that is reduced last; `names` are the other axes.
Owned reduce(Reduction reduction, const TensorRef& x, const AxisMap& rows, const std::string_view* names);
}  // namespace erased

namespace detail {
template <Name Op, TensorLike X, class Along>
auto reduce(erased::Reduction reduction, const X& x, Along) {
    using Set = SetOf<X>;
    using Rest = without<Set, Axes<Along{}>>;
    using Out = TensorOf<float, Rest>;
    using Checks = All<FloatValues<Op, X>, HasAxis<Op, Set, Along>>;
    if constexpr (!Checks::ok)
        return (void)sizeof(*Checks::error()), Out();
    else
        return Out(erased::reduce(reduction, x.ref(), mapTo<Set, RowsAlong<Set, Axes<Along{}>>>, names<Rest>));
}
}  // namespace detail

// The sum of x along an axis, which the result lacks; 0 of no values. Summed in double over runs of 512 floats, so the
// relative error does not grow with the extent.
template <TensorLike X, class Along>
auto sum(const X& x, Along along) {
    return detail::reduce<"sum">(erased::Reduction::sum, x, along);
}
// sum / extent. Throws ShapeError for an extent of 0.
template <TensorLike X, class Along>
auto mean(const X& x, Along along) {
    return detail::reduce<"mean">(erased::Reduction::mean, x, along);
}
// The largest value along an axis; NaN where one of them is. Throws ShapeError for an extent of 0.
template <TensorLike X, class Along>
auto max(const X& x, Along along) {
    return detail::reduce<"max">(erased::Reduction::max, x, along);
}

}  // namespace axial
