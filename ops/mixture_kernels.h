// The boundary to the SIMD code that adds up what a row's experts give.
#pragma once
#include <cstddef>

namespace axial::kernels {

// out[i] = weight[0] * part[0][i] + weight[1] * part[1][i] + ..., added in this order from the first product on; if
// `add` is there, add[i] + that. No parts: 0. out may be add.
void weightedSum(float* out, const float* add, const float* const* part, const float* weight, std::size_t parts,
                 std::size_t n) noexcept;

}  // namespace axial::kernels
