// rmsNormMul: root-mean-square normalisation (Zhang and Sennrich 2019, "Root Mean Square Layer Normalization").
#pragma once
#include <utility>

#include "axial/ops/checks.h"

namespace axial {

namespace erased {
// `rows` has the axis of the weight last.
Owned rmsNormMul(Loan x, const AxisMap& rows, const TensorRef& weight, float eps);
}  // namespace erased

namespace detail {
inline constinit thread_local bool normsAreLeftOut = false;
}

// An experiment, to see what norms are for: as long as one lives, rmsNormMul on this thread gives x as it is, neither
// divided nor multiplied, and rmsNormMulRopeHalf only rotates.
class LeaveOutNorms {
  public:
    LeaveOutNorms() : before_(std::exchange(detail::normsAreLeftOut, true)) {}
    ~LeaveOutNorms() { detail::normsAreLeftOut = before_; }
    LeaveOutNorms(const LeaveOutNorms&) = delete;
    LeaveOutNorms& operator=(const LeaveOutNorms&) = delete;

  private:
    bool before_;
};

// x / sqrt(mean(x^2) + eps) * weight, along the weight's one axis; the other axes of x are independent rows. The weight
// may be stored in any format. An x given as Tensor&& lends its buffer. Accurate to 1e-6 of the row's largest result;
// a row's bits do not depend on the other rows. Throws ShapeError if x and the weight differ in extent.
template <TensorLike X, TensorLike W>
auto rmsNormMul(X&& x, const W& weight, float eps) {
    using Set = SetOf<X>;
    using Along = SetOf<W>;
    using Out = TensorOf<float, Set>;
    using Checks = All<FloatValues<"rmsNormMul", X>, FloatValues<"rmsNormMul", W>, OneAxis<"rmsNormMul weight", Along>,
                       AxesAmong<"rmsNormMul weight", Along, Set>, SizesAgree<"rmsNormMul", Set, Along>>;
    if constexpr (!Checks::ok)
        return (void)sizeof(*Checks::error()), Out();
    else
        return Out(erased::rmsNormMul(lend(std::forward<X>(x)), mapTo<Set, RowsAlong<Set, Along>>, weight.ref(), eps));
}

}  // namespace axial
