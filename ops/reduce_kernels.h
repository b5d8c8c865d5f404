// One number, or one position, out of a row; and softmax of a row. Highway code behind plain declarations.
#pragma once
#include <cstddef>

namespace axial::kernels {

// The sum of n values: in floats for up to 512 values, in double over those.
double sumRow(const float* x, std::size_t n) noexcept;
// The largest of n > 0 values; NaN if one of them is.
float maxRow(const float* x, std::size_t n) noexcept;
// The first position that holds this value; n if none does.
std::size_t firstEqual(const float* x, std::size_t n, float value) noexcept;
// The first position that holds a larger value; n if none does.
std::size_t firstAbove(const float* x, std::size_t n, float value) noexcept;

// out[i] = e^(x[i] - largest) / (their sum): zeros if every value is minus infinity, NaN if one is NaN or plus
// infinity. out may be x.
void softmaxRow(float* out, const float* x, std::size_t n) noexcept;

}  // namespace axial::kernels
