// softmax: numbers to a probability distribution.
#pragma once
#include "axial/ops/checks.h"

namespace axial {

namespace erased {
// `rows` has the axis of the distribution last.
Owned softmax(Loan x, const AxisMap& rows);
}  // namespace erased

// e^(x - m) / (the sum of e^(x - m)) along an axis, with m the largest x, so that nothing overflows; the other axes are
// independent rows. Minus infinity gets probability 0; a row of nothing else gets zeros; NaN or plus infinity makes its
// row NaN. Within 1e-6. An x given as Tensor&& lends its buffer.
template <TensorLike X, class Along>
auto softmax(X&& x, Along) {
    using Set = SetOf<X>;
    using Out = TensorOf<float, Set>;
    using Checks = All<FloatValues<"softmax", X>, HasAxis<"softmax", Set, Along>>;
    if constexpr (!Checks::ok)
        return (void)sizeof(*Checks::error()), Out();
    else
        return Out(erased::softmax(lend(std::forward<X>(x)), mapTo<Set, RowsAlong<Set, Axes<Along{}>>>));
}

}  // namespace axial
