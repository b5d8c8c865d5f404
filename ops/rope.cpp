#include "axial/ops/rope.h"

#include "axial/ops/norm.h"
#include "axial/ops/norm_rope_kernels.h"
#include "axial/ops/rows.h"
#include "axial/ops/work.h"
#include "axial/tensor/error.h"
#include "axial/tensor/observe.h"

namespace axial::erased {
namespace {

// Where each of x's rows finds its angles: the table stretched over x's outer axes, of which seq is the last.
TensorRef tableRows(const TensorRef& table, const TensorRef& x) {
    TensorRef rows = x;
    rows.stride = {};
    rows.stride[x.rank - 2u] = table.stride[0];
    return rows;
}

// The table's cosines and sines of a position lie in two gapless runs.
void requireTable(std::string_view operation, const TensorRef& x, const AxisMap& rows, const TensorRef& table) {
    const auto sequence = static_cast<std::size_t>(rows.from[rows.rank - 2u]);
    const auto channel = static_cast<std::size_t>(rows.from[rows.rank - 1u]);
    requireSame(operation, "seq", x.extent[sequence], table.extent[0]);
    if (x.extent[channel] < 2 * table.extent[2])
        throw ShapeError(std::string(operation) + ": axis channel is " + std::to_string(x.extent[channel]) +
                         ", but the table turns " + std::to_string(table.extent[2]) + " pairs of channels");
}

}  // namespace

Owned rope(RopePairs kind, Loan operand, const AxisMap& rows, const TensorRef& table) {
    const bool half = kind == RopePairs::half;
    const std::string_view name = half ? "ropeHalf" : "ropeInterleaved";
    OpCall call(name, {operand.ref, &table});
    requireTable(name, *operand.ref, rows, table);
    const AsFloat x(operand);
    const std::size_t pairs = table.extent[2];
    const auto turn = half ? kernels::ropeHalfRow : kernels::ropeInterleavedRow;
    Owned out = mapRows(unlessShared(x.loan(), {&table}), rows, [&](const TensorRef& to, const TensorRef& from) {
        const TensorRef angles = tableRows(table, from);
        const std::size_t n = from.extent[rows.rank - 1u];
        forEachRow<3>(rows.rank - 1u, {&to, &from, &angles}, n, [&](const std::array<std::ptrdiff_t, 3>& at) {
            const float* cosine = floats(table) + at[2];
            turn(floats(to) + at[0], floats(from) + at[1], cosine, cosine + table.stride[1], pairs, n);
        });
    });
    call.done(out.ref, [&] {
        // The channels behind the pairs stay as they are.
        const std::size_t channels = out.ref.extent[static_cast<std::size_t>(rows.from[rows.rank - 1u])];
        return work::rope(channels == 0 ? 0 : out.ref.size() / channels * 2 * pairs);
    });
    return out;
}

Owned rmsNormMulRopeHalf(Loan operand, const AxisMap& rows, const TensorRef& weightOperand, const TensorRef& table,
                         float eps) {
    constexpr std::string_view name = "rmsNormMulRopeHalf";
    if (detail::normsAreLeftOut) return rope(RopePairs::half, operand, rows, table);
    OpCall call(name, {operand.ref, &weightOperand, &table});
    requireTable(name, *operand.ref, rows, table);
    const std::size_t n = operand.ref->extent[static_cast<std::size_t>(rows.from[rows.rank - 1u])];
    requireSame(name, "channel", n, weightOperand.extent[0]);
    const AsFloat x(operand), weight(weightOperand, true);
    const std::size_t pairs = table.extent[2];
    const Loan loan = unlessShared(x.loan(), {&weight.ref(), &table});
    Owned out = mapRows(loan, rows, [&](const TensorRef& to, const TensorRef& from) {
        const TensorRef angles = tableRows(table, from);
        forEachRow<3>(rows.rank - 1u, {&to, &from, &angles}, n, [&](const std::array<std::ptrdiff_t, 3>& at) {
            const float* cosine = floats(table) + at[2];
            kernels::rmsNormMulRopeHalfRow(floats(to) + at[0], floats(from) + at[1], weight.values(), eps, cosine,
                                           cosine + table.stride[1], pairs, n);
        });
    });
    call.done(out.ref, [&] { return work::rmsNormMulRope(out.ref.size()); });
    return out;
}

}  // namespace axial::erased
