// Rows of values, element by element; Highway code behind plain declarations.
#pragma once
#include <cstddef>
#include <cstdint>

namespace axial::kernels {

enum class Pointwise : std::uint8_t { add, sub, mul, swiglu };

// out[i] = op(a[i], b[i]) for i < n; where a step is 0, that operand is the one value a[0] or b[0], otherwise the step
// is 1. out may be an operand whose step is 1.
void pointwise(Pointwise op, float* out, const float* a, int aStep, const float* b, int bStep, std::size_t n) noexcept;

}  // namespace axial::kernels
