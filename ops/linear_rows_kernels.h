// Weights multiplied as they stand in their blocks, on every instruction set that Highway compiles for.
#pragma once
#include "axial/ops/linear_kernels.h"

namespace axial::kernels {

// dotBlocks by it; false for a format that it has no kernel for, and always without vectors.
bool dotBlocksTurned(const BlockProduct&) noexcept;
// What AVX2 has for it, for AVX3.
bool dotBlocksAVX2(const BlockProduct&) noexcept;

}  // namespace axial::kernels
