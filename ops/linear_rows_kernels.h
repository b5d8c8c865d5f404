// Weights taken as they stand in their blocks, several rows side by side, on every instruction set that Highway
// compiles for.
#pragma once
#include "axial/ops/linear_kernels.h"

namespace axial::kernels {

// dotBlocks and packBlocks by it; false for a format that it has no code for, and always without vectors.
bool dotBlocksTurned(const BlockProduct&) noexcept;
bool packBlocksTurned(Format, const std::byte* w, std::ptrdiff_t rowBytes, std::size_t k, std::byte* panel) noexcept;
// What AVX2 has for it, for AVX3.
bool dotBlocksAVX2(const BlockProduct&) noexcept;
bool packBlocksAVX2(Format, const std::uint8_t* w, std::ptrdiff_t rowBytes, std::size_t k, std::byte* panel) noexcept;

}  // namespace axial::kernels
