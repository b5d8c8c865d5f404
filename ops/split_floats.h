// F16 and BF16 weights where there is AMX for bfloat16: both factors are split into bfloat16 numbers, whose
// products the tile registers add up sixteen times as fast as vectors multiply floats.
#pragma once
#include <cstddef>
#include <cstdint>

#include "axial/tensor/format.h"

namespace axial::kernels {

// Whether weights of this format are multiplied by these kernels on this machine.
bool splitWanted(Format) noexcept;

// Into how many parts an activation is split for weights of this format.
constexpr int activationParts(Format format) { return format == Format::bf16 ? 3 : 2; }

// The rule, the same however many rows of activations or weights are computed together. A number's first part is the
// number rounded to bfloat16, the next is what is left rounded to bfloat16, and so on: an F16 weight is exactly two, a
// BF16 weight one, an activation exactly three. c starts at 0, and for each 32 values, in order,
//   F16:  c += P(w1, x2); c += P(w1, x1); c += P(w2, x1)
//   BF16: c += P(w1, x3); c += P(w1, x2); c += P(w1, x1)
// where P adds up the 16 products of even and the 16 of odd numbers, each in order by fused operations from 0 on, and
// then the two sums: what TDPBF16PS computes (Intel's manual has it as pseudo-code). So BF16 is as exact as floats, and
// F16 leaves out 2^-17 of an activation and the product of the second parts. Numbers below the smallest normal float
// count as zero throughout. An infinite weight gives NaN.
//
// A row of activations with a value that has no finite first part is not computed: it is marked, and left to others.

// Weights stand in groups of 16 rows: number i of row r at group + (16 * i + r) * 2. The rows of a group lie one
// after the other in memory of the same size; `count` of them are there, the others become zeros.
void interleaveHalves(const std::byte* rows, std::ptrdiff_t rowBytes, std::size_t count, std::size_t k,
                      std::byte* group) noexcept;
void restoreHalves(const std::byte* group, std::size_t k, std::byte* rows) noexcept;

// m rows of activations as the kernels read them, in splitBytes(parts, m, k) bytes from an address that is a multiple
// of 64 on: of these, rows [begin, end), of which `begin` is a multiple of 16 and `end` too, or m. marked[t] = 1 if row
// t is not to be computed.
std::size_t splitBytes(int parts, std::size_t m, std::size_t k) noexcept;
void splitRows(int parts, const float* x, std::ptrdiff_t stride, std::size_t m, std::size_t k, std::size_t begin,
               std::size_t end, std::byte* split, std::uint8_t* marked) noexcept;

// out[t * outStride + j] = the product of x[t] and row j of the weights, for t < m that are not marked and j < rows. If
// `add` is there, the result is add[t * addStride + j] + c.
struct SplitProduct {
    Format format;
    const std::byte* w;
    std::ptrdiff_t rowBytes;
    bool interleaved;  // then w is a group, and the others follow; else row j starts at w + j * rowBytes
    std::size_t rows, k;
    const std::byte* x;  // by splitRows
    const std::uint8_t* marked;
    std::size_t m;
    float* out;
    std::ptrdiff_t outStride;
    const float* add;
    std::ptrdiff_t addStride;
    std::byte* scratch;  // splitScratchBytes(rows, k, m) bytes, aligned to 64
};
void dotSplit(const SplitProduct&) noexcept;
std::size_t splitScratchBytes(std::size_t rows, std::size_t k, std::size_t m) noexcept;
// What dotSplit does with more than two rows of activations.
void dotSplitTiles(const SplitProduct&) noexcept;

// Up to so many rows of activations, weights are unpacked as they are read; for more, once for all of them.
inline constexpr std::size_t mostSplitAtReading = 64;

}  // namespace axial::kernels
