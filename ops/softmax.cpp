#include "axial/ops/softmax.h"

#include "axial/ops/reduce_kernels.h"
#include "axial/ops/rows.h"
#include "axial/ops/work.h"
#include "axial/tensor/observe.h"

namespace axial::erased {

Owned softmax(Loan operand, const AxisMap& rows) {
    OpCall call("softmax", {operand.ref});
    const AsFloat x(operand);
    Owned out = mapRows(x.loan(), rows, [&](const TensorRef& to, const TensorRef& from) {
        const std::size_t last = rows.rank - 1u, n = from.extent[last];
        forEachRow<2>(last, {&to, &from}, n, [&](const std::array<std::ptrdiff_t, 2>& at) {
            kernels::softmaxRow(floats(to) + at[0], floats(from) + at[1], n);
        });
    });
    call.done(out.ref, [&] { return work::softmax(out.ref.size()); });
    return out;
}

}  // namespace axial::erased
