// Linear layers on blocks of 256 codes whose scales of 16 or 32 are integers themselves (Q4_K, Q5_K, Q6_K), where there
// is AMX: the scales enter the integer sum, and only whole blocks meet the float rule. Next to the rule of
// linear_kernels.h that is an eighth or a sixteenth of the work in float, which is most of the work there.
#pragma once
#include <cstddef>
#include <cstdint>

#include "axial/tensor/format.h"

namespace axial::kernels {

// How one quantised row of k activations, whole blocks of 256, lies in memory; offsets in bytes from its start, each
// array filled up to a multiple of 64 bytes. As in QuantisedRow, x[i] is approximately scale * code[i] in planes of 8
// bits, but with one scale for 256 values. sum16 and sum32: the sums of each 16 and 32 codes of a plane as int16.
struct SuperRow {
    std::size_t k, planes;  // the codes, or their high bytes, stand first
    std::size_t low;        // the low bytes, of two planes
    std::size_t scale;      // float
    std::size_t sum16[2], sum32[2];
    std::size_t bytes;

    SuperRow(std::size_t k, std::size_t planes);
};

// Whether rows of this format are multiplied by these kernels on this machine.
bool superblocksWanted(Format) noexcept;

void quantiseSuper(const float* x, const SuperRow&, std::byte* row) noexcept;

// `rows` stored rows, of which row j starts at w + j * rowBytes, against m quantised ones:
//   out[t * outStride + j] = sum over blocks b, in order, of float(isum) * d[j, b] * scale of x[t] in b,
//                            and after each, for Q4_K and Q5_K, of float(msum) * -dmin[j, b] * scale of x[t] in b,
// where isum = sum of scale * code * code of x, and msum = sum of minimum * sum of x's codes, are exact integers that
// are rounded to float once. The float part: c = fma(float(isum) * d, scale of x, c); c = fma(float(msum) * -dmin,
// scale of x, c), starting at 0. If `add` is there, the result is add[t * addStride + j] + c.
struct SuperProduct {
    Format format;
    const std::byte* w;
    std::ptrdiff_t rowBytes;
    std::size_t rows;
    const SuperRow* layout;
    const std::byte* x;  // quantised rows, or all of them by packSuperTiles
    std::size_t m;
    float* out;
    std::ptrdiff_t outStride;
    const float* add;
    std::ptrdiff_t addStride;
    std::byte* scratch;  // superScratchBytes(k, m) bytes, aligned to 64
};
// For few rows of activations: the stored rows are read as they stand, one after the other.
void dotSuperRows(const SuperProduct&) noexcept;
// For many, and at most 32 stored rows: 16 by 16 in tiles.
void dotSuperTiles(const SuperProduct&) noexcept;
std::size_t superScratchBytes(std::size_t k, std::size_t m) noexcept;

// Activations 16 rows at a time in the order in which tiles are loaded.
std::size_t superTileBytes(const SuperRow&) noexcept;  // of 16 rows, or of the rest
void packSuperTiles(const SuperRow&, const std::byte* rows, std::size_t m, std::byte* tiles) noexcept;

}  // namespace axial::kernels
