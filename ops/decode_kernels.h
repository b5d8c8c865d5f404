// The boundary to the SIMD code that decodes stored rows to floats.
#pragma once
#include <cstddef>

#include "axial/tensor/format.h"

namespace axial::kernels {

// What decode of tensor/decode.h gives, bit for bit (a NaN may have another payload), for a row of k values: whole
// blocks. `scratch` holds decodeScratchBytes(format, k) bytes, aligned to 64.
void decodeRow(Format, const std::byte* row, std::size_t k, float* out, std::byte* scratch) noexcept;
std::size_t decodeScratchBytes(Format, std::size_t k) noexcept;

}  // namespace axial::kernels
