// Rows that are normalised and rotated; Highway code behind plain declarations.
#pragma once
#include <cstddef>

namespace axial::kernels {

// One row of n values: out[i] = x[i] / sqrt(mean(x^2) + eps) * weight[i]. out may be x.
void rmsNormMulRow(float* out, const float* x, const float* weight, std::size_t n, float eps) noexcept;

// One row: the pairs (x[i], x[i + pairs]) for i < pairs turn by the angles whose cosines and sines are given; values
// from 2 * pairs on are copied. out may be x.
void ropeHalfRow(float* out, const float* x, const float* cosine, const float* sine, std::size_t pairs,
                 std::size_t n) noexcept;
// The same with the pairs (x[2 i], x[2 i + 1]).
void ropeInterleavedRow(float* out, const float* x, const float* cosine, const float* sine, std::size_t pairs,
                        std::size_t n) noexcept;

// rmsNormMulRow, then ropeHalfRow, while the row is in the first-level cache.
void rmsNormMulRopeHalfRow(float* out, const float* x, const float* weight, float eps, const float* cosine,
                           const float* sine, std::size_t pairs, std::size_t n) noexcept;

}  // namespace axial::kernels
