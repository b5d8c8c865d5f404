// The plain definitions of the element-by-element ops: what the kernels are tested against.
#pragma once
#include <cstddef>

namespace axial::plain {

// x / (1 + e^-x), the sigmoid-weighted linear unit (Elfwing et al. 2017, "Sigmoid-Weighted Linear Units").
double silu(double x);

// out[i] = a[i] + b[i] and so on, for i < n.
void add(float* out, const float* a, const float* b, std::size_t n);
void sub(float* out, const float* a, const float* b, std::size_t n);
void mul(float* out, const float* a, const float* b, std::size_t n);
// out[i] = silu(gate[i]) * up[i]
void swiglu(float* out, const float* gate, const float* up, std::size_t n);

}  // namespace axial::plain
