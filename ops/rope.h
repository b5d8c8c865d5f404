// Rotary position embedding (Su et al. 2021, "RoFormer"): ropeHalf, ropeInterleaved, and ropeHalf fused with a norm.
#pragma once
#include "axial/ops/checks.h"
#include "axial/ops/rope_table.h"

namespace axial {

namespace erased {
enum class RopePairs : std::uint8_t { half, interleaved };
// `rows` has channel last and seq before it; the table is [seq, turn, pair].
Owned rope(RopePairs pairs, Loan x, const AxisMap& rows, const TensorRef& table);
Owned rmsNormMulRopeHalf(Loan x, const AxisMap& rows, const TensorRef& weight, const TensorRef& table, float eps);
}  // namespace erased

namespace detail {
using RopeAxes = Axes<axes::seq, axes::channel>;

template <Name Op, TensorLike X>
auto rope(erased::RopePairs pairs, X&& x, const RopeTable& table) {
    using Set = SetOf<X>;
    using Out = TensorOf<float, Set>;
    using Checks = All<FloatValues<Op, X>, HasAxis<Op, Set, Axis<"seq">>, HasAxis<Op, Set, Axis<"channel">>>;
    if constexpr (!Checks::ok)
        return (void)sizeof(*Checks::error()), Out();
    else
        return Out(erased::rope(pairs, lend(std::forward<X>(x)), mapTo<Set, RowsAlong<Set, RopeAxes>>, table.ref()));
}
}  // namespace detail

// Turns pairs of channels by their position's angles: the pair (a, b) becomes
//   (a cos - b sin, b cos + a sin).
// In a head whose first n = 2 * table.extent(pair) channels turn, pair i is (channel i, channel i + n/2); the channels
// from n on stay. x has the axes seq and channel; any others (head, kvHead, a batch) are independent. An x given as
// Tensor&& lends its buffer. Throws ShapeError if seq differs from the table's, or if there are fewer than n channels.
template <TensorLike X>
auto ropeHalf(X&& x, const RopeTable& table) {
    return detail::rope<"ropeHalf">(erased::RopePairs::half, std::forward<X>(x), table);
}
// The same, but pair i is (channel 2 i, channel 2 i + 1): the form of the RoFormer paper and of GGUF's llama models.
template <TensorLike X>
auto ropeInterleaved(X&& x, const RopeTable& table) {
    return detail::rope<"ropeInterleaved">(erased::RopePairs::interleaved, std::forward<X>(x), table);
}

// ropeHalf(rmsNormMul(x, weight, eps), table), bit for bit, in one pass over the rows: what Qwen3 does to the queries
// and keys of each head. The weight's one axis is channel. Errors as for the two.
template <TensorLike X, TensorLike W>
auto rmsNormMulRopeHalf(X&& x, const W& weight, const RopeTable& table, float eps) {
    using Set = SetOf<X>;
    using Out = TensorOf<float, Set>;
    using Checks =
        All<FloatValues<"rmsNormMulRopeHalf", X>, FloatValues<"rmsNormMulRopeHalf", W>,
            HasAxis<"rmsNormMulRopeHalf", Set, Axis<"seq">>, HasAxis<"rmsNormMulRopeHalf", Set, Axis<"channel">>,
            WantsAxes<"rmsNormMulRopeHalf weight", SetOf<W>, Axes<axes::channel>>>;
    if constexpr (!Checks::ok)
        return (void)sizeof(*Checks::error()), Out();
    else
        return Out(erased::rmsNormMulRopeHalf(lend(std::forward<X>(x)), mapTo<Set, RowsAlong<Set, detail::RopeAxes>>,
                                              weight.ref(), table.ref(), eps));
}

}  // namespace axial
