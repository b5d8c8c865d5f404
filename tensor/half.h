// The two 16-bit floating-point formats, to and from float.
#pragma once
#include <bit>
#include <cstdint>

namespace axial {

// IEEE 754 binary16 to binary32: exact. A NaN keeps its sign and payload and becomes quiet, as F16C's vcvtph2ps does.
constexpr float f16ToF32(std::uint16_t half) {
    const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000u) << 16;
    const std::uint32_t exponent = (half >> 10) & 0x1fu;
    const std::uint32_t fraction = half & 0x3ffu;
    if (exponent == 0x1f) {
        const std::uint32_t quiet = fraction != 0 ? 0x00400000u : 0u;
        return std::bit_cast<float>(sign | 0x7f800000u | fraction << 13 | quiet);
    }
    if (exponent != 0) return std::bit_cast<float>(sign | (exponent + 112) << 23 | fraction << 13);
    const float magnitude = static_cast<float>(fraction) * 0x1p-24f;  // zero or subnormal
    return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(magnitude));
}

// IEEE 754 binary32 to binary16, to nearest, ties to even; too large becomes infinity, small becomes subnormal or zero.
// A NaN keeps its sign and the upper part of its payload and becomes quiet, as F16C's vcvtps2ph does.
constexpr std::uint16_t f32ToF16(float value) {
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
    const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000u);
    const std::uint32_t magnitude = bits & 0x7fffffffu;
    const auto signedHalf = [sign](std::uint32_t half) { return static_cast<std::uint16_t>(sign | half); };
    if (magnitude > 0x7f800000u) return signedHalf(0x7e00u | (magnitude >> 13 & 0x3ffu));  // NaN
    if (magnitude >= 0x47800000u) return signedHalf(0x7c00u);                              // 65536 and more
    if (magnitude >= 0x38800000u) {                                                        // normal: 2^-14 and more
        const std::uint32_t rounded = magnitude + 0xfffu + (magnitude >> 13 & 1u);  // may carry into the exponent
        return signedHalf((rounded >> 13) - (112u << 10));
    }
    if (magnitude <= 0x33000000u) return sign;  // 2^-25 and less: the tie at 2^-25 goes to zero
    const std::uint32_t significand = (magnitude & 0x007fffffu) | 0x00800000u;
    const std::uint32_t shift = 126u - (magnitude >> 23);  // 14..24: to units of 2^-24
    const std::uint32_t half = significand >> shift;
    const std::uint32_t rest = significand & ((1u << shift) - 1u);
    const std::uint32_t tie = 1u << (shift - 1u);
    return signedHalf(half + (rest > tie || (rest == tie && (half & 1u) != 0) ? 1u : 0u));
}

// bfloat16 is the upper half of a binary32: exact.
constexpr float bf16ToF32(std::uint16_t half) { return std::bit_cast<float>(static_cast<std::uint32_t>(half) << 16); }

// binary32 to bfloat16, to nearest, ties to even; a NaN keeps its sign and the upper part of its payload and becomes
// quiet.
constexpr std::uint16_t f32ToBf16(float value) {
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
    if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<std::uint16_t>(bits >> 16 | 0x40u);
    return static_cast<std::uint16_t>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

}  // namespace axial
