// The boundary to the SIMD code of ops/store.h.
#pragma once
#include <cstddef>
#include <cstdint>

namespace axial::kernels {

// half[i] = x[i] as binary16, to nearest, ties to even, for i < n.
void storeF16(const float* x, std::size_t n, std::uint16_t* half) noexcept;

}  // namespace axial::kernels
