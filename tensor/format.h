// The number formats a tensor can be stored in: one table, from which everything else about them is derived.
#pragma once
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <type_traits>

namespace axial {

// Plain element types and the block formats of GGUF (ggml-common.h of ggml is their specification).
enum class Format : std::uint8_t {
    f32,
    f16,
    bf16,
    f64,
    i8,
    i16,
    i32,
    i64,
    q4_0,
    q4_1,
    q5_0,
    q5_1,
    q8_0,
    q2_k,
    q3_k,
    q4_k,
    q5_k,
    q6_k,
    iq1_s,
    iq1_m,
    iq2_xxs,
    iq2_xs,
    iq2_s,
    iq3_xxs,
    iq3_s,
    iq4_nl,
    iq4_xs,
    tq1_0,
    tq2_0,
    mxfp4,
    nvfp4,
};

// One row of the table.
struct FormatInfo {
    Format format;
    std::string_view name;        // as people write it: "Q4_K"
    int ggufId;                   // the type number in a GGUF file
    std::uint16_t blockElements;  // values in a block; 1: no blocks
    std::uint16_t blockBytes;     // bytes of a block
};

inline constexpr FormatInfo formats[] = {
    {Format::f32, "F32", 0, 1, 4},
    {Format::f16, "F16", 1, 1, 2},
    {Format::bf16, "BF16", 30, 1, 2},
    {Format::f64, "F64", 28, 1, 8},
    {Format::i8, "I8", 24, 1, 1},
    {Format::i16, "I16", 25, 1, 2},
    {Format::i32, "I32", 26, 1, 4},
    {Format::i64, "I64", 27, 1, 8},
    {Format::q4_0, "Q4_0", 2, 32, 18},
    {Format::q4_1, "Q4_1", 3, 32, 20},
    {Format::q5_0, "Q5_0", 6, 32, 22},
    {Format::q5_1, "Q5_1", 7, 32, 24},
    {Format::q8_0, "Q8_0", 8, 32, 34},
    {Format::q2_k, "Q2_K", 10, 256, 84},
    {Format::q3_k, "Q3_K", 11, 256, 110},
    {Format::q4_k, "Q4_K", 12, 256, 144},
    {Format::q5_k, "Q5_K", 13, 256, 176},
    {Format::q6_k, "Q6_K", 14, 256, 210},
    {Format::iq1_s, "IQ1_S", 19, 256, 50},
    {Format::iq1_m, "IQ1_M", 29, 256, 56},
    {Format::iq2_xxs, "IQ2_XXS", 16, 256, 66},
    {Format::iq2_xs, "IQ2_XS", 17, 256, 74},
    {Format::iq2_s, "IQ2_S", 22, 256, 82},
    {Format::iq3_xxs, "IQ3_XXS", 18, 256, 98},
    {Format::iq3_s, "IQ3_S", 21, 256, 110},
    {Format::iq4_nl, "IQ4_NL", 20, 32, 18},
    {Format::iq4_xs, "IQ4_XS", 23, 256, 136},
    {Format::tq1_0, "TQ1_0", 34, 256, 54},
    {Format::tq2_0, "TQ2_0", 35, 256, 66},
    {Format::mxfp4, "MXFP4", 39, 32, 17},
    {Format::nvfp4, "NVFP4", 40, 64, 36},
};

// The table's row of a format.
constexpr const FormatInfo& infoOf(Format format) { return formats[static_cast<std::size_t>(format)]; }
constexpr std::string_view nameOf(Format format) { return infoOf(format).name; }
// The row with this GGUF type number or this name (any case), or nullptr.
const FormatInfo* formatByGgufId(std::uint64_t id);
const FormatInfo* formatByName(std::string_view name);

// Bytes of `elements` values. `elements` must be whole blocks.
constexpr std::size_t bytesOf(Format format, std::size_t elements) {
    return elements / infoOf(format).blockElements * infoOf(format).blockBytes;
}

namespace detail {
constexpr bool formatsInOrder() {
    for (std::size_t i = 0; i < std::size(formats); ++i)
        if (static_cast<std::size_t>(formats[i].format) != i) return false;
    return true;
}
static_assert(formatsInOrder());
}  // namespace detail

// The C++ types that can be elements, each the element of a format.
template <class T>
concept ElementType =
    std::is_same_v<T, float> || std::is_same_v<T, double> || std::is_same_v<T, std::int8_t> ||
    std::is_same_v<T, std::int16_t> || std::is_same_v<T, std::int32_t> || std::is_same_v<T, std::int64_t>;
template <ElementType T>
inline constexpr Format formatOf = Format::f32;
template <>
inline constexpr Format formatOf<double> = Format::f64;
template <>
inline constexpr Format formatOf<std::int8_t> = Format::i8;
template <>
inline constexpr Format formatOf<std::int16_t> = Format::i16;
template <>
inline constexpr Format formatOf<std::int32_t> = Format::i32;
template <>
inline constexpr Format formatOf<std::int64_t> = Format::i64;

}  // namespace axial
