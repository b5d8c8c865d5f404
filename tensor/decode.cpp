#include "axial/tensor/decode.h"

#include <bit>
#include <cstring>
#include <string>

#include "axial/tensor/decode_grids.h"
#include "axial/tensor/error.h"

namespace axial {
namespace {

using Byte = std::uint8_t;

template <class Word>
Word littleEndian(const Byte* from) {
    Word word = 0;
    for (std::size_t i = 0; i < sizeof(Word); ++i)
        word = static_cast<Word>(word | static_cast<Word>(static_cast<Word>(from[i]) << (8 * i)));
    return word;
}
std::uint16_t word16(const Byte* from) { return littleEndian<std::uint16_t>(from); }
std::uint32_t word32(const Byte* from) { return littleEndian<std::uint32_t>(from); }
float half(const Byte* from) { return f16ToF32(word16(from)); }
int low(Byte byte) { return byte & 15; }
int high(Byte byte) { return byte >> 4; }

// Each function below decodes one block; its first comment is the block's layout. h: a binary16 number.

// Sixteen bytes hold 32 four-bit codes: byte j holds code j in its low half and code j+16 in its high half.
template <class Value>
void splitNibbles(const Byte* codes, float* out, Value value) {
    for (int j = 0; j < 16; ++j) {
        out[j] = value(low(codes[j]), j);
        out[j + 16] = value(high(codes[j]), j + 16);
    }
}

// h d; u8 codes[16]. d * (code - 8)
void decodeQ4_0(const Byte* block, float* out) {
    const float d = half(block);
    splitNibbles(block + 2, out, [&](int code, int) { return d * static_cast<float>(code - 8); });
}

// h d; h m; u8 codes[16]. d * code + m
void decodeQ4_1(const Byte* block, float* out) {
    const float d = half(block), m = half(block + 2);
    splitNibbles(block + 4, out, [&](int code, int) { return d * static_cast<float>(code) + m; });
}

// h d; u32 fifth bits; u8 codes[16]. d * (code - 16)
void decodeQ5_0(const Byte* block, float* out) {
    const float d = half(block);
    const std::uint32_t fifth = word32(block + 2);
    splitNibbles(block + 6, out, [&](int code, int i) {
        return d * static_cast<float>((code | static_cast<int>(fifth >> i & 1u) << 4) - 16);
    });
}

// h d; h m; u32 fifth bits; u8 codes[16]. d * code + m
void decodeQ5_1(const Byte* block, float* out) {
    const float d = half(block), m = half(block + 2);
    const std::uint32_t fifth = word32(block + 4);
    splitNibbles(block + 8, out, [&](int code, int i) {
        return d * static_cast<float>(code | static_cast<int>(fifth >> i & 1u) << 4) + m;
    });
}

// h d; i8 codes[32]. d * code
void decodeQ8_0(const Byte* block, float* out) {
    const float d = half(block);
    for (int i = 0; i < 32; ++i) out[i] = d * static_cast<float>(static_cast<std::int8_t>(block[2 + i]));
}

// h d; u8 codes[16]. d * level(code)
void decodeIQ4_NL(const Byte* block, float* out) {
    const float d = half(block);
    splitNibbles(block + 2, out, [&](int code, int) { return d * static_cast<float>(iq4Levels[code]); });
}

// u8 exponent; u8 codes[16]. 2^(exponent - 128) * level(code)
void decodeMXFP4(const Byte* block, float* out) {
    const std::uint32_t exponent = block[0];
    const std::uint32_t bits = exponent < 2 ? 0x00200000u << exponent : (exponent - 1) << 23;
    const float d = std::bit_cast<float>(bits);
    splitNibbles(block + 1, out, [&](int code, int) { return d * static_cast<float>(fp4Levels[code]); });
}

// Half of an unsigned E4M3 number with bias 7; the all-ones pattern reads as zero.
float halfOfE4M3(Byte code) {
    if (code == 0x7f) return 0;
    const int exponent = code >> 3 & 15, fraction = code & 7;
    if (exponent == 0) return static_cast<float>(fraction) * 0x1p-10f;
    return std::bit_cast<float>(static_cast<std::uint32_t>(exponent + 119) << 23 | static_cast<std::uint32_t>(fraction)
                                                                                       << 20);
}

// u8 scales[4]; u8 codes[4][8], split nibbles of 16 values each. scale * level(code)
void decodeNVFP4(const Byte* block, float* out) {
    for (int sub = 0; sub < 4; ++sub) {
        const float d = halfOfE4M3(block[sub]);
        for (int j = 0; j < 8; ++j) {
            const Byte codes = block[4 + 8 * sub + j];
            out[16 * sub + j] = d * static_cast<float>(fp4Levels[low(codes)]);
            out[16 * sub + j + 8] = d * static_cast<float>(fp4Levels[high(codes)]);
        }
    }
}

// The two-bit code of value i of 256: a half of 128 values takes 32 bytes, in each byte four values 32 apart.
int twoBits(const Byte* codes, int i) { return codes[i / 128 * 32 + i % 32] >> (i % 128 / 32 * 2) & 3; }

// u8 scales[16] (scale low, minimum high); u8 codes[64]; h d; h dmin. d * scale * code - dmin * minimum
void decodeQ2_K(const Byte* block, float* out) {
    const float d = half(block + 80), dmin = half(block + 82);
    for (int i = 0; i < 256; ++i) {
        const Byte scales = block[i / 16];
        const float scale = d * static_cast<float>(low(scales)), minimum = dmin * static_cast<float>(high(scales));
        out[i] = scale * static_cast<float>(twoBits(block + 16, i)) - minimum;
    }
}

// u8 third bits[32]; u8 codes[64]; u8 scales[12]; h d. d * (scale - 32) * (code with its third bit - 4)
void decodeQ3_K(const Byte* block, float* out) {
    const Byte *third = block, *codes = block + 32, *scales = block + 96;
    const float d = half(block + 108);
    for (int i = 0; i < 256; ++i) {
        const int sub = i / 16;
        const int lower = sub < 8 ? low(scales[sub]) : high(scales[sub - 8]);
        const int upper = scales[8 + sub % 4] >> (sub / 4 * 2) & 3;
        const float scale = d * static_cast<float>((lower | upper << 4) - 32);
        const int code = twoBits(codes, i) | (third[i % 32] >> (i / 32) & 1) << 2;
        out[i] = scale * static_cast<float>(code - 4);
    }
}

// The 6-bit scale and minimum of sub-block 0..7, packed into twelve bytes.
struct ScaleAndMinimum {
    int scale, minimum;
};
ScaleAndMinimum sixBits(const Byte* packed, int sub) {
    if (sub < 4) return {packed[sub] & 63, packed[sub + 4] & 63};
    return {low(packed[sub + 4]) | packed[sub - 4] >> 6 << 4, high(packed[sub + 4]) | packed[sub] >> 6 << 4};
}

// Q4_K, and Q5_K with fifth bits: sub-blocks of 32 values, two of them in the low and high halves of 32 bytes.
void decodeScaleMinimum(const Byte* block, const Byte* fifth, const Byte* codes, float* out) {
    const float d = half(block), dmin = half(block + 2);
    for (int sub = 0; sub < 8; ++sub) {
        const ScaleAndMinimum packed = sixBits(block + 4, sub);
        const float scale = d * static_cast<float>(packed.scale), minimum = dmin * static_cast<float>(packed.minimum);
        for (int j = 0; j < 32; ++j) {
            const Byte byte = codes[sub / 2 * 32 + j];
            int code = sub % 2 == 0 ? low(byte) : high(byte);
            if (fifth != nullptr) code |= (fifth[j] >> sub & 1) << 4;
            out[32 * sub + j] = scale * static_cast<float>(code) - minimum;
        }
    }
}

// h d; h dmin; u8 scales[12]; u8 codes[128]. d * scale * code - dmin * minimum
void decodeQ4_K(const Byte* block, float* out) { decodeScaleMinimum(block, nullptr, block + 16, out); }

// h d; h dmin; u8 scales[12]; u8 fifth bits[32]; u8 codes[128]. d * scale * code - dmin * minimum
void decodeQ5_K(const Byte* block, float* out) { decodeScaleMinimum(block, block + 16, block + 48, out); }

// u8 low[128]; u8 high[64]; i8 scales[16]; h d. d * scale * (code - 32)
// A half of 128 values takes 64 low and 32 high bytes; value i of it: nibble i/64 of low i%64, bits 2(i/32) of high.
void decodeQ6_K(const Byte* block, float* out) {
    const float d = half(block + 208);
    for (int i = 0; i < 256; ++i) {
        const int part = i / 128, within = i % 128;
        const Byte lower = block[64 * part + within % 64], upper = block[128 + 32 * part + within % 32];
        const int code = (within < 64 ? low(lower) : high(lower)) | (upper >> (within / 32 * 2) & 3) << 4;
        const float scale = d * static_cast<float>(static_cast<std::int8_t>(block[192 + i / 16]));
        out[i] = scale * static_cast<float>(code - 32);
    }
}

// h d; u16 scales high; u8 scales low[4]; u8 codes[128], split nibbles of 32. d * (scale - 32) * level(code)
void decodeIQ4_XS(const Byte* block, float* out) {
    const float d = half(block);
    const int scalesHigh = word16(block + 2);
    for (int sub = 0; sub < 8; ++sub) {
        const int lower = block[4 + sub / 2] >> (sub % 2 * 4) & 15, upper = scalesHigh >> (2 * sub) & 3;
        const float scale = d * static_cast<float>((lower | upper << 4) - 32);
        splitNibbles(block + 8 + 16 * sub, out + 32 * sub,
                     [&](int code, int) { return scale * static_cast<float>(iq4Levels[code]); });
    }
}

// The values of one grid entry, with a sign bit each.
template <class Group>
void signedGroup(float scale, Group group, unsigned signs, float* out) {
    for (std::size_t j = 0; j < sizeof(Group); ++j) {
        const float value = scale * static_cast<float>(group >> (8 * j) & 0xffu);
        out[j] = signs >> j & 1u ? -value : value;
    }
}

// h d; per 32 values: u8 entries[4], u32 (four times 7 signs, then a 4-bit scale). d (scale + 1/2) / 4 * +-value
void decodeIQ2_XXS(const Byte* block, float* out) {
    const float d = half(block);
    for (int sub = 0; sub < 8; ++sub) {
        const Byte* entries = block + 2 + 8 * sub;
        const std::uint32_t signs = word32(entries + 4);
        const float scale = d * (0.5f + static_cast<float>(signs >> 28)) * 0.25f;
        for (int j = 0; j < 4; ++j)
            signedGroup(scale, iq2xxsGrid[entries[j]], evenSigns(signs >> (7 * j) & 127u), out + 32 * sub + 8 * j);
    }
}

// The scale of 16 values in IQ2_XS and IQ2_S: one of the two halves of a byte for 32.
float iq2Scale(float d, const Byte* scales, int group) {
    return d * (0.5f + static_cast<float>(scales[group / 4] >> (group % 4 / 2 * 4) & 15)) * 0.25f;
}

// h d; u16 entries[32] (9 bits of entry, 7 of signs); u8 scales[8]. d (scale + 1/2) / 4 * +-value
void decodeIQ2_XS(const Byte* block, float* out) {
    const float d = half(block);
    for (int group = 0; group < 32; ++group) {
        const unsigned entry = word16(block + 2 + 2 * group);
        signedGroup(iq2Scale(d, block + 66, group), iq2xsGrid[entry & 511u], evenSigns(entry >> 9), out + 8 * group);
    }
}

// h d; u8 entries[32]; u8 signs[32]; u8 upper two bits of entries[8]; u8 scales[8]. d (scale + 1/2) / 4 * +-value
void decodeIQ2_S(const Byte* block, float* out) {
    const float d = half(block);
    for (int group = 0; group < 32; ++group) {
        const unsigned upper = block[66 + group / 4] >> (group % 4 * 2) & 3u;
        signedGroup(iq2Scale(d, block + 74, group), iq2sGrid[block[2 + group] | upper << 8], block[34 + group],
                    out + 8 * group);
    }
}

// h d; u8 entries[64]; u32 per 32 values (four times 7 signs, then a 4-bit scale). d (scale + 1/2) / 2 * +-value
void decodeIQ3_XXS(const Byte* block, float* out) {
    const float d = half(block);
    for (int group = 0; group < 32; ++group) {
        const std::uint32_t packed = word32(block + 66 + group / 4 * 4);
        const float scale = d * (0.5f + static_cast<float>(packed >> 28)) * 0.5f;
        const unsigned signs = evenSigns(packed >> (group % 4 * 7) & 127u);
        signedGroup(scale, iq3xxsGrid[block[2 + 2 * group]], signs, out + 8 * group);
        signedGroup(scale, iq3xxsGrid[block[3 + 2 * group]], signs >> 4, out + 8 * group + 4);
    }
}

// h d; u8 entries[64]; u8 ninth bits[8]; u8 signs[32]; u8 scales[4], 4 bits per 32 values. d (1 + 2 scale) * +-value
void decodeIQ3_S(const Byte* block, float* out) {
    const float d = half(block);
    for (int entry = 0; entry < 64; ++entry) {
        const int scaleBits = block[106 + entry / 16] >> (entry / 8 % 2 * 4) & 15;
        const unsigned ninth = block[66 + entry / 8] >> (entry % 8) & 1u;
        const unsigned signs = block[74 + entry / 2] >> (entry % 2 * 4);
        signedGroup(d * static_cast<float>(1 + 2 * scaleBits), iq3sGrid[block[2 + entry] | ninth << 8], signs,
                    out + 4 * entry);
    }
}

// The eight values of an IQ1 entry: scale * (value +- 1/8).
void shiftedGroup(float scale, unsigned entry, bool negative, float* out) {
    const float shift = negative ? -0.125f : 0.125f;
    for (int j = 0; j < 8; ++j) {
        const auto value = static_cast<std::int8_t>(iq1Grid[entry] >> (8 * j) & 0xffu);
        out[j] = scale * (static_cast<float>(value) + shift);
    }
}

// h d; u8 entries[32]; u16 per 32 values (four times the upper 3 bits of an entry, 3 bits of scale, the shift's sign).
// d (1 + 2 scale) * (value +- 1/8)
void decodeIQ1_S(const Byte* block, float* out) {
    const float d = half(block);
    for (int group = 0; group < 32; ++group) {
        const unsigned packed = word16(block + 34 + group / 4 * 2);
        const float scale = d * static_cast<float>(2 * (packed >> 12 & 7u) + 1);
        const unsigned entry = block[2 + group] | (packed >> (group % 4 * 3) & 7u) << 8;
        shiftedGroup(scale, entry, (packed & 0x8000u) != 0, out + 8 * group);
    }
}

// u8 entries[32]; u8 [16] (twice the upper 3 bits of an entry and the shift's sign); u16 scales[4] (four times 3 bits
// for 16 values; the top four bits of all make up d). d (1 + 2 scale) * (value +- 1/8)
void decodeIQ1_M(const Byte* block, float* out) {
    const Byte* scales = block + 48;
    unsigned dBits = 0;
    for (int i = 0; i < 4; ++i) dBits |= static_cast<unsigned>(word16(scales + 2 * i) >> 12) << (4 * i);
    const float d = f16ToF32(static_cast<std::uint16_t>(dBits));
    for (int group = 0; group < 32; ++group) {
        const unsigned scaleBits = word16(scales + group / 8 * 2) >> (group % 8 / 2 * 3) & 7u;
        const unsigned packed = block[32 + group / 2] >> (group % 2 * 4);
        shiftedGroup(d * static_cast<float>(2 * scaleBits + 1), block[group] | (packed & 7u) << 8, (packed & 8u) != 0,
                     out + 8 * group);
    }
}

// Digit n of a number below 243 in base three, stored as the fraction number/243 in 1/256: multiply, take the carry.
int ternaryDigit(Byte packed, int n) {
    constexpr Byte powers[] = {1, 3, 9, 27, 81};
    return static_cast<Byte>(packed * powers[n]) * 3 >> 8;
}

// u8 [32], five digits a byte, then u8 [16] the same, then u8 [4], four digits a byte; h d. d * (digit - 1)
void decodeTQ1_0(const Byte* block, float* out) {
    const float d = half(block + 52);
    const auto part = [&](const Byte* packed, int bytes, int digits) {
        for (int n = 0; n < digits; ++n)
            for (int j = 0; j < bytes; ++j) *out++ = d * static_cast<float>(ternaryDigit(packed[j], n) - 1);
    };
    part(block, 32, 5);
    part(block + 32, 16, 5);
    part(block + 48, 4, 4);
}

// u8 codes[64]; h d. d * (code - 1)
void decodeTQ2_0(const Byte* block, float* out) {
    const float d = half(block + 64);
    for (int i = 0; i < 256; ++i) out[i] = d * static_cast<float>(twoBits(block, i) - 1);
}

template <class Number, class Word>
void decodeNumber(const Byte* from, float* out) {
    *out = static_cast<float>(std::bit_cast<Number>(littleEndian<Word>(from)));
}

using DecodeBlock = void (*)(const Byte*, float*);

DecodeBlock blockDecoder(Format format) {
    switch (format) {
        case Format::f32:
            return decodeNumber<float, std::uint32_t>;
        case Format::f16:
            return [](const Byte* from, float* out) { *out = half(from); };
        case Format::bf16:
            return [](const Byte* from, float* out) { *out = bf16ToF32(word16(from)); };
        case Format::f64:
            return decodeNumber<double, std::uint64_t>;
        case Format::i8:
            return decodeNumber<std::int8_t, std::uint8_t>;
        case Format::i16:
            return decodeNumber<std::int16_t, std::uint16_t>;
        case Format::i32:
            return decodeNumber<std::int32_t, std::uint32_t>;
        case Format::i64:
            return decodeNumber<std::int64_t, std::uint64_t>;
        case Format::q4_0:
            return decodeQ4_0;
        case Format::q4_1:
            return decodeQ4_1;
        case Format::q5_0:
            return decodeQ5_0;
        case Format::q5_1:
            return decodeQ5_1;
        case Format::q8_0:
            return decodeQ8_0;
        case Format::q2_k:
            return decodeQ2_K;
        case Format::q3_k:
            return decodeQ3_K;
        case Format::q4_k:
            return decodeQ4_K;
        case Format::q5_k:
            return decodeQ5_K;
        case Format::q6_k:
            return decodeQ6_K;
        case Format::iq1_s:
            return decodeIQ1_S;
        case Format::iq1_m:
            return decodeIQ1_M;
        case Format::iq2_xxs:
            return decodeIQ2_XXS;
        case Format::iq2_xs:
            return decodeIQ2_XS;
        case Format::iq2_s:
            return decodeIQ2_S;
        case Format::iq3_xxs:
            return decodeIQ3_XXS;
        case Format::iq3_s:
            return decodeIQ3_S;
        case Format::iq4_nl:
            return decodeIQ4_NL;
        case Format::iq4_xs:
            return decodeIQ4_XS;
        case Format::tq1_0:
            return decodeTQ1_0;
        case Format::tq2_0:
            return decodeTQ2_0;
        case Format::mxfp4:
            return decodeMXFP4;
        case Format::nvfp4:
            return decodeNVFP4;
    }
    throw UnsupportedError("decode: no number format " + std::to_string(static_cast<int>(format)));
}

}  // namespace

void decode(Format format, const std::byte* blocks, std::size_t elements, float* out) {
    const DecodeBlock decodeBlock = blockDecoder(format);
    const FormatInfo& info = infoOf(format);
    if (elements % info.blockElements != 0)
        throw ShapeError("decode: " + std::to_string(elements) + " elements are not whole blocks of " +
                         std::to_string(info.blockElements) + " (" + std::string(info.name) + ")");
    const auto* from = reinterpret_cast<const Byte*>(blocks);
    for (std::size_t i = 0; i < elements; i += info.blockElements, from += info.blockBytes) decodeBlock(from, out + i);
}

}  // namespace axial
