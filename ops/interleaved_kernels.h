// Weights of 16 rows side by side: their blocks' first four bytes, then the next four of each, and so on. A vector of
// 16 dwords then holds codes of 16 rows, whose products with activations need no sums over lanes and no scale by
// itself; and one linear stream is read. The same bytes as before, in another order.
#pragma once
#include "axial/ops/linear_kernels.h"
#include "axial/ops/superblock_kernels.h"

namespace axial::kernels {

// How a format's block is cut: `dwords` times four bytes from `first` on, and two bytes by themselves at `half`. Dword
// u of block b of row r stands in its group at ((b * dwords + u) * 16 + r) * 4; the halves stand behind all of them, at
// (b * 16 + r) * 2.
struct BlockCut {
    static constexpr std::uint8_t none = 255;
    std::uint8_t dwords, first, half;
};
constexpr BlockCut cutOf(Format format) {
    switch (format) {
        case Format::q4_0:
        case Format::iq4_nl:
            return {4, 2, 0};
        case Format::q4_1:
            return {5, 0, BlockCut::none};
        case Format::q5_0:
            return {5, 2, 0};
        case Format::q5_1:
            return {6, 0, BlockCut::none};
        case Format::q8_0:
            return {8, 2, 0};
        case Format::q4_k:
            return {36, 0, BlockCut::none};
        case Format::q5_k:
            return {44, 0, BlockCut::none};
        case Format::q6_k:
            return {52, 0, 208};
        default:
            return {0, 0, BlockCut::none};
    }
}

// F16 and BF16 have no blocks: they stand as interleaveHalves (split_floats.h) puts them.

// Up to so many rows of activations that is the fastest way; for more, restored rows are multiplied (of F16 and BF16
// the same form).
std::size_t mostInterleaved(Format) noexcept;

// 16 rows of k values, of which row r starts at rows + r * rowBytes, as a group; and back, one row behind the other.
void interleave(Format, const std::byte* rows, std::ptrdiff_t rowBytes, std::size_t k, std::byte* group) noexcept;
void restore(Format, const std::byte* group, std::size_t k, std::byte* rows) noexcept;

// Whether this machine multiplies interleaved rows of the format faster than stored ones.
bool interleavedWanted(Format) noexcept;

// dotBlocks and dotSuperRows for whole groups, one behind the other from w on, with the same bits.
void dotInterleaved(const BlockProduct&) noexcept;
void dotSuperInterleaved(const SuperProduct&) noexcept;
// The same by the tiles of AMX, for fewestTiles to mostTiles rows of activations: what dotSuperInterleaved does for
// those.
inline constexpr std::size_t fewestTiles = 5, mostTiles = 16;
void dotSuperInterleavedTiles(const SuperProduct&) noexcept;
// What dotInterleaved does with a unit above AVX2 and AVX3.
void dotInterleavedAvxVnni(const BlockProduct&) noexcept;
void dotInterleavedVnni(const BlockProduct&) noexcept;

}  // namespace axial::kernels
