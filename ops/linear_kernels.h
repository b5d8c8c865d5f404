// The boundary to the SIMD code of linear layers on integer codes.
#pragma once
#include "axial/ops/linear_codes.h"
#include "axial/ops/quantise_kernels.h"

namespace axial::kernels {

// Up to 32 rows of codes against m quantised rows of activations:
//   out[t * outStride + j] = sum over groups g, in order, of float(isum) * scale[j, g] * scale of x[t] in g,
//                            and after each, if there are minimums, of minimum[j, g] * sum of x[t] in g,
// where isum is the exact integer product of the group's codes. The rule for the float part, the same in every kernel:
//   c = fma(float(isum) * scale[j, g], scale of x, c); c = fma(minimum[j, g], sum of x, c)
// starting at 0 (without the fused rounding on instruction sets that have none). If `add` is there, the result is
// add[t * addStride + j] + c.
struct CodeProduct {
    CodeRows w;
    std::size_t rows;
    CodeForm form;
    const QuantisedRow* layout;
    const std::byte* x;
    const std::byte* tiles;  // x by packTiles, if tilesWanted(m, form); else nullptr
    std::size_t m;
    float* out;
    std::ptrdiff_t outStride;
    const float* add;
    std::ptrdiff_t addStride;
    std::byte* scratch;           // panelBytes(k, form) bytes, aligned to 64
    Format packed = Format::f32;  // of the 16 rows that packBlocks has put into scratch, if there are no codes
};
void dotCodes(const CodeProduct&) noexcept;

// The same for any number of rows in their stored format, read as they stand: row j starts at w + j * rowBytes. False,
// and nothing is done, if there is no kernel for that here or there are so many rows of activations that it is not the
// fastest way: then unpackRows or packBlocks, and dotCodes, do it with the same bits.
struct BlockProduct {
    Format format;
    const std::byte* w;
    std::ptrdiff_t rowBytes;
    std::size_t rows;
    const QuantisedRow* layout;
    const std::byte* x;
    std::size_t m;
    float* out;
    std::ptrdiff_t outStride;
    const float* add;
    std::ptrdiff_t addStride;
    std::byte* scratch;  // panelBytes(k, form) bytes, aligned to 64
};
bool dotBlocks(const BlockProduct&) noexcept;

// 16 rows in their stored format, in the order in which dotCodes wants them for activations of this layout, at the
// start of its `scratch`: a CodeProduct without codes then takes them from there. False, and nothing is done, if there
// is no kernel for that here.
bool packBlocks(Format, const std::byte* w, std::ptrdiff_t rowBytes, const QuantisedRow&, std::byte* scratch) noexcept;

// The memory for 32 rows of k codes and their scales and minimums in the order in which kernels sweep over them.
constexpr std::size_t panelBytes(std::size_t k, CodeForm form) {
    return 32 * ((k + 63) / 64 * 64 + 2 * sizeof(float) * ((k / form.group + 15) / 16 * 16));
}
// Whether dotCodes wants m rows of activations in tiles, which are then made once for all weights: 16 rows at a time,
// each group of codes side by side, then their scales and sums.
bool tilesWanted(std::size_t m, CodeForm) noexcept;
std::size_t tileBytes(const QuantisedRow&) noexcept;  // of 16 rows, or of the rest
void packTiles(const QuantisedRow&, const std::byte* rows, std::size_t m, std::byte* tiles) noexcept;

// Instructions beyond Highway's that the integer products can be computed with: dotprod and i8mm where Highway's choice
// is NEON, avxVnni (256 bits) where it is AVX2, vnni (512 bits) and amx where it is AVX3. Superblocks apart, all give
// the same bits as none.
enum class IntegerUnit : std::uint8_t { portable, dotprod, i8mm, avxVnni, vnni, amx };
// The best that this machine has and that is not above the limit.
IntegerUnit integerUnit() noexcept;
// For tests and measurements, not for concurrent use: nothing above `most` is used from now on.
void limitIntegerUnit(IntegerUnit most) noexcept;

}  // namespace axial::kernels
