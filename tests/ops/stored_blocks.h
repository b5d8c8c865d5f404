// Random blocks of every number format, with scales of ordinary size, and what they decode to.
#pragma once
#include <cstring>
#include <random>
#include <vector>

#include "axial/tensor/decode.h"

namespace axial {

// Where the binary16 scales stand in a block of a format.
inline std::vector<std::size_t> halvesIn(Format format) {
    switch (format) {
        case Format::q4_1:
        case Format::q5_1:
        case Format::q4_k:
        case Format::q5_k:
            return {0, 2};
        case Format::q2_k:
            return {80, 82};
        case Format::q3_k:
            return {108};
        case Format::q6_k:
            return {208};
        case Format::tq1_0:
            return {52};
        case Format::tq2_0:
            return {64};
        case Format::iq1_m:
        case Format::mxfp4:
        case Format::nvfp4:
            return {};
        default:
            return {0};
    }
}

// `elements` values: random codes, and scales between 2^-7 and 2^-5 of either sign.
inline std::vector<std::byte> randomBlocks(Format format, std::size_t elements, unsigned seed) {
    std::mt19937 random(seed);
    const FormatInfo& info = infoOf(format);
    std::vector<std::byte> bytes(bytesOf(format, elements));
    for (std::byte& b : bytes) b = static_cast<std::byte>(random());
    const auto put = [&](std::size_t at, auto value) { std::memcpy(bytes.data() + at, &value, sizeof value); };
    const auto half = [&] { return static_cast<std::uint16_t>((random() & 0x8000u) | 0x2000u | (random() & 0x07ffu)); };
    std::normal_distribution<float> normal(0, 0.05f);
    for (std::size_t at = 0; at < bytes.size(); at += info.blockBytes) {
        switch (format) {
            case Format::f32:
                put(at, normal(random));
                break;
            case Format::f64:
                put(at, static_cast<double>(normal(random)));
                break;
            case Format::f16:
                put(at, f32ToF16(normal(random)));
                break;
            case Format::bf16:
                put(at, f32ToBf16(normal(random)));
                break;
            case Format::i8:
            case Format::i16:
                break;
            case Format::i32:
                put(at, static_cast<std::int32_t>(random() % 200) - 100);
                break;
            case Format::i64:
                put(at, static_cast<std::int64_t>(random() % 200) - 100);
                break;
            case Format::mxfp4:
                bytes[at] = static_cast<std::byte>(121 + random() % 4);
                break;
            case Format::nvfp4:
                for (std::size_t i = 0; i < 4; ++i) bytes[at + i] = static_cast<std::byte>(32 + random() % 24);
                break;
            case Format::iq1_m: {  // its half lies in the upper four bits of four words
                const std::uint16_t d = half();
                for (std::size_t i = 0; i < 4; ++i) {
                    std::byte& upper = bytes[at + 48 + 2 * i + 1];
                    upper = (upper & std::byte{15}) | static_cast<std::byte>((d >> (4 * i) & 15) << 4);
                }
                break;
            }
            default:
                for (const std::size_t offset : halvesIn(format)) put(at + offset, half());
        }
    }
    return bytes;
}

inline std::vector<float> decoded(Format format, const std::vector<std::byte>& bytes) {
    std::vector<float> values(bytes.size() / infoOf(format).blockBytes * infoOf(format).blockElements);
    decode(format, bytes.data(), values.size(), values.data());
    return values;
}

inline std::vector<float> randomFloats(std::size_t n, unsigned seed) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal;
    std::vector<float> values(n);
    for (float& v : values) v = normal(random);
    return values;
}

}  // namespace axial
