#include "axial/ops/norm.h"

#include "axial/ops/norm_rope_kernels.h"
#include "axial/ops/rows.h"
#include "axial/ops/structure.h"
#include "axial/ops/work.h"
#include "axial/tensor/observe.h"

namespace axial::erased {

Owned rmsNormMul(Loan operand, const AxisMap& rows, const TensorRef& weightOperand, float eps) {
    OpCall call("rmsNormMul", {operand.ref, &weightOperand});
    const auto along = static_cast<std::size_t>(rows.from[rows.rank - 1]);
    const std::size_t n = operand.ref->extent[along];
    requireSame("rmsNormMul", operand.ref->axis[along], n, weightOperand.extent[0]);
    if (detail::normsAreLeftOut) {
        Owned out = copyAsFloat(*operand.ref);
        call.done(out.ref);
        return out;
    }
    const AsFloat x(operand), weight(weightOperand, true);
    Owned out = mapRows(unlessShared(x.loan(), {&weight.ref()}), rows, [&](const TensorRef& to, const TensorRef& from) {
        forEachRow<2>(rows.rank - 1u, {&to, &from}, n, [&](const std::array<std::ptrdiff_t, 2>& at) {
            kernels::rmsNormMulRow(floats(to) + at[0], floats(from) + at[1], weight.values(), n, eps);
        });
    });
    call.done(out.ref, [&] { return work::rmsNormMul(out.ref.size()); });
    return out;
}

}  // namespace axial::erased
