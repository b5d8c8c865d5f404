// The boundary to the SIMD code that multiplies rows of floats.
#pragma once
#include <cstddef>

#include "axial/tensor/format.h"

namespace axial::kernels {

// out[t * outStride + j] = sum over i < k of x[t * xStride + i] * w[j, i], for t < m and j < n. Row j of w starts at
// w + j * rowBytes and holds k numbers of F32, F16 or BF16. If `add` is there, add[t * addStride + j] is added.
struct FloatProduct {
    const float* x;
    std::ptrdiff_t xStride;
    std::size_t m;
    Format format;
    const std::byte* w;
    std::ptrdiff_t rowBytes;
    std::size_t n, k;
    float* out;
    std::ptrdiff_t outStride;
    const float* add;
    std::ptrdiff_t addStride;
};

// Every output is added up in the same order whatever m, n and the strides are.
void dotFloats(const FloatProduct&) noexcept;

}  // namespace axial::kernels
