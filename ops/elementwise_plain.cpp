#include "axial/ops/elementwise_plain.h"

#include <cmath>

namespace axial::plain {

double silu(double x) { return x / (1 + std::exp(-x)); }

void add(float* out, const float* a, const float* b, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) out[i] = a[i] + b[i];
}
void sub(float* out, const float* a, const float* b, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) out[i] = a[i] - b[i];
}
void mul(float* out, const float* a, const float* b, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) out[i] = a[i] * b[i];
}
void swiglu(float* out, const float* gate, const float* up, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) out[i] = static_cast<float>(silu(gate[i]) * up[i]);
}

}  // namespace axial::plain
