// Stored blocks as signed 8-bit codes with a scale, and for some formats a minimum, for each group of 16 or 32.
#pragma once
#include <cstddef>
#include <cstdint>

#include "axial/tensor/format.h"

namespace axial::kernels {

// value[i] = scale[i / group] * code[i] + minimum[i / group].
struct CodeForm {
    std::uint8_t group;  // 16 or 32; 0: the format has no such form here, it is decoded to floats
    bool minimum;        // whether there are minimums; else they count as 0
};

constexpr CodeForm codeFormOf(Format format) {
    switch (format) {
        case Format::q4_0:
        case Format::q5_0:
        case Format::q8_0:
        case Format::iq4_nl:
        case Format::iq4_xs:
        case Format::mxfp4:
            return {32, false};
        case Format::q4_1:
        case Format::q5_1:
        case Format::q4_k:
        case Format::q5_k:
            return {32, true};
        case Format::q2_k:
            return {16, true};
        case Format::q3_k:
        case Format::q6_k:
            return {16, false};
        default:
            return {0, false};
    }
}

// Up to 16 rows of codes. Row r starts at codes + r * codeStride, and its groups at scale (and minimum, if the form has
// them) + r * groupStride.
struct CodeRows {
    std::int8_t* codes;
    std::size_t codeStride;
    float* scale;
    float* minimum;
    std::size_t groupStride;
};

// Fills `into` with `rows` rows of k values each, of which row r starts at blocks + r * rowBytes.
void unpackRows(Format, const std::byte* blocks, std::ptrdiff_t rowBytes, std::size_t rows, std::size_t k,
                const CodeRows& into) noexcept;

}  // namespace axial::kernels

namespace axial::plain {

// One row of k values: what kernels::unpackRows computes, written out.
void unpackCodes(Format, const std::byte* blocks, std::size_t k, std::int8_t* codes, float* scale, float* minimum);

}  // namespace axial::plain
