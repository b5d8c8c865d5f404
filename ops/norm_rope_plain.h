// The plain definitions of the norm and the rotations: what the kernels are tested against.
#pragma once
#include <cstddef>

namespace axial::plain {

// One row of n values: out[i] = x[i] / sqrt(mean(x^2) + eps) * weight[i]. out may be x.
void rmsNormMul(float* out, const float* x, const float* weight, std::size_t n, float eps);

// One row of n channels: pair i < pairs is (x[i], x[i + pairs]) and turns by angle[i] radians; channels from 2 * pairs
// on stay. out may be x.
void ropeHalf(float* out, const float* x, const double* angle, std::size_t pairs, std::size_t n);
// The same with the pairs (x[2 i], x[2 i + 1]).
void ropeInterleaved(float* out, const float* x, const double* angle, std::size_t pairs, std::size_t n);

}  // namespace axial::plain
