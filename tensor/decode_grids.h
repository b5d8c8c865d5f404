// The code books of the IQ formats: each code names a group of small values at once.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

namespace axial {

// A code book: entry i holds one value a byte, the first in the lowest byte.
template <class Group, std::size_t N>
using Grid = std::array<Group, N>;

extern const Grid<std::uint64_t, 256> iq2xxsGrid;  // 8 values of {8, 25, 43}
extern const Grid<std::uint64_t, 512> iq2xsGrid;   // the same
extern const Grid<std::uint64_t, 1024> iq2sGrid;   // the same
extern const Grid<std::uint64_t, 2048> iq1Grid;    // 8 values of {-1, 0, 1}, as signed bytes; IQ1_S and IQ1_M
extern const Grid<std::uint32_t, 256> iq3xxsGrid;  // 4 values of {4, 12, 20, 28, 36, 44, 52, 62}
extern const Grid<std::uint32_t, 512> iq3sGrid;    // 4 values of {1, 3, 5, ... 15}

// The levels of IQ4_NL and IQ4_XS.
inline constexpr std::array<std::int8_t, 16> iq4Levels = {-127, -104, -83, -65, -49, -35, -22, -10,
                                                          1,    13,   25,  38,  53,  69,  89,  113};
// Twice the sixteen values of E2M1, the 4-bit float of MXFP4 and NVFP4. Minus zero reads as zero.
inline constexpr std::array<std::int8_t, 16> fp4Levels = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

// Signs of 8 values from the 7 bits that IQ2_XXS, IQ2_XS and IQ3_XXS store: the eighth makes their number even.
constexpr std::uint8_t evenSigns(std::uint32_t sevenBits) {
    std::uint32_t parity = sevenBits ^ sevenBits >> 4;
    parity ^= parity >> 2;
    parity ^= parity >> 1;
    return static_cast<std::uint8_t>(sevenBits | (parity & 1u) << 7);
}

}  // namespace axial
