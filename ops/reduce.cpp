#include "axial/ops/reduce.h"

#include "axial/ops/reduce_kernels.h"
#include "axial/ops/rows.h"
#include "axial/ops/work.h"
#include "axial/tensor/error.h"
#include "axial/tensor/observe.h"

namespace axial::erased {

Owned reduce(Reduction reduction, const TensorRef& operand, const AxisMap& rows, const std::string_view* names) {
    constexpr std::string_view opNames[] = {"sum", "mean", "max"};
    const std::string_view op = opNames[static_cast<std::size_t>(reduction)];
    OpCall call(op, {&operand});
    const std::size_t last = rows.rank - 1u;
    const auto along = static_cast<std::size_t>(rows.from[last]);
    const std::size_t n = operand.extent[along];
    if (n == 0 && reduction != Reduction::sum)
        throw ShapeError(std::string(op) + ": axis " + std::string(operand.axis[along]) + " has no positions");
    const RowsOf x(operand, rows);
    Owned out = allocate(Format::f32, names, last, x.ref().extent);
    forEachRow<2>(last, {&out.ref, &x.ref()}, n, [&](const std::array<std::ptrdiff_t, 2>& at) {
        const float* row = floats(x.ref()) + at[1];
        float& result = floats(out.ref)[at[0]];
        if (reduction == Reduction::max)
            result = kernels::maxRow(row, n);
        else
            result = static_cast<float>(kernels::sumRow(row, n) /
                                        (reduction == Reduction::mean ? static_cast<double>(n) : 1.0));
    });
    call.done(out.ref, [&] { return reduction == Reduction::max ? Work() : work::sum(operand.size()); });
    return out;
}

}  // namespace axial::erased
