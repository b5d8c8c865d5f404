// The code for AVX-512 with VNNI, and for AMX, which Highway 1.0.3 does not build for: translation units with their own
// compiler flags. They include no inline code of the standard library, which the linker could otherwise share with
// files that run on any machine.
#pragma once
#include "axial/ops/linear_kernels.h"

namespace axial::kernels {

// Whether the unit is compiled in and both processor and operating system support it.
bool hasVnni() noexcept;
// dotCodes, dotBlocks and quantiseRow by it.
void dotCodesVnni(const CodeProduct&) noexcept;
bool dotBlocksVnni(const BlockProduct&) noexcept;
void quantiseRowVnni(const float* x, const QuantisedRow&, std::byte* row) noexcept;

// The same for the tile registers of AMX, for groups of 32. The process asks the system for their use at the first
// call.
bool hasAmx() noexcept;
std::size_t tileBytesAmx(const QuantisedRow&) noexcept;
void packTilesAmx(const QuantisedRow&, const std::byte* rows, std::size_t m, std::byte* tiles) noexcept;
void dotCodesAmx(const CodeProduct&) noexcept;

}  // namespace axial::kernels
