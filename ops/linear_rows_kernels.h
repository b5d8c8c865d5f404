// Weights taken as they stand in their blocks, several rows side by side, on every instruction set that Highway
// compiles for.
#pragma once
#include "axial/ops/linear_kernels.h"

namespace axial::kernels {

// Without AVX-VNNI, codes of less than 8 bits meet a plane of activations as unsigned bytes, code + `zero`, and `part`
// sums of two products fit into int16; others meet them as words: part = 0.
struct BytePanel {
    std::uint8_t part, zero;
};
constexpr BytePanel bytePanelOf(Format format) {
    switch (format) {
        case Format::q4_0:
            return {8, 8};
        case Format::q4_1:
        case Format::q4_k:
            return {8, 0};
        case Format::q5_0:
        case Format::mxfp4:
            return {4, 16};
        case Format::q5_1:
        case Format::q5_k:
        case Format::q2_k:
            return {4, 0};
        case Format::q3_k:
            return {4, 4};
        case Format::q6_k:
            return {2, 32};
        default:
            return {0, 0};
    }
}

// dotBlocks and packBlocks by it; false for a format that it has no code for, and always without vectors.
bool dotBlocksTurned(const BlockProduct&) noexcept;
bool packBlocksTurned(Format, const std::byte* w, std::ptrdiff_t rowBytes, const QuantisedRow&,
                      std::byte* panel) noexcept;
// The same by the products of AVX-VNNI, where Highway's choice is AVX2 and the processor has them; the operating
// system's part is that of AVX2. Panels are of bytes, code + 128, for one plane of activations.
bool hasAvxVnni() noexcept;
bool dotBlocksAvxVnni(const BlockProduct&) noexcept;
bool packBytesAvxVnni(Format, const std::byte* w, std::ptrdiff_t rowBytes, std::size_t k, std::byte* panel) noexcept;
// dotBlocks by the dot product instruction of Armv8.2, where the processor has it, for any number of activations.
bool hasDotprod() noexcept;
bool dotBlocksDotprod(const BlockProduct&) noexcept;
// The same by the matrix product instruction of i8mm (Armv8.6) for two rows of activations and two of weights at once;
// a row of activations alone is left to dotprod, which such a processor has too.
bool hasI8mm() noexcept;
bool dotBlocksI8mm(const BlockProduct&) noexcept;
// What AVX2 has for it, for AVX3.
bool dotBlocksAVX2(const BlockProduct&) noexcept;
bool packBlocksAVX2(Format, const std::uint8_t* w, std::ptrdiff_t rowBytes, const QuantisedRow&,
                    std::byte* panel) noexcept;

}  // namespace axial::kernels
