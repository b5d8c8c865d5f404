#include <bit>
#include <cstring>

#include "axial/ops/linear_codes.h"
#include "axial/tensor/decode_grids.h"
#include "axial/tensor/half.h"

// The layouts of the blocks are described in tensor/decode.cpp.
namespace axial::plain {
namespace {

using Byte = std::uint8_t;

float half(const Byte* p) { return f16ToF32(static_cast<std::uint16_t>(p[0] | p[1] << 8)); }
std::uint32_t word(const Byte* p) {
    return static_cast<std::uint32_t>(p[0] | p[1] << 8 | p[2] << 16) | static_cast<std::uint32_t>(p[3]) << 24;
}
std::int8_t code(int value) { return static_cast<std::int8_t>(value); }

// One row's arrays, as far as they are still to be written.
struct Row {
    std::int8_t* codes;
    float *scale, *minimum;
};

template <class Value>
void splitNibbles(const Byte* p, std::int8_t* out, Value value) {
    for (int j = 0; j < 16; ++j) {
        out[j] = code(value(p[j] & 15, j));
        out[j + 16] = code(value(p[j] >> 4, j + 16));
    }
}

// Four bits from the nibbles, and a fifth from `fifth`.
auto withFifth(std::uint32_t fifth) {
    return [fifth](int low, int i) { return low | static_cast<int>(fifth >> i & 1u) << 4; };
}

int twoBits(const Byte* p, int i) { return p[i / 128 * 32 + i % 32] >> (i % 128 / 32 * 2) & 3; }

void legacyBlock(Format format, const Byte* p, const Row& out) {
    switch (format) {
        case Format::q4_0:
            *out.scale = half(p);
            return splitNibbles(p + 2, out.codes, [](int q, int) { return q - 8; });
        case Format::q4_1:
            *out.scale = half(p), *out.minimum = half(p + 2);
            return splitNibbles(p + 4, out.codes, [](int q, int) { return q; });
        case Format::q5_0:
            *out.scale = half(p);
            return splitNibbles(p + 6, out.codes,
                                [five = withFifth(word(p + 2))](int q, int i) { return five(q, i) - 16; });
        case Format::q5_1:
            *out.scale = half(p), *out.minimum = half(p + 2);
            return splitNibbles(p + 8, out.codes, withFifth(word(p + 4)));
        case Format::iq4_nl:
            *out.scale = half(p);
            return splitNibbles(p + 2, out.codes, [](int q, int) { return iq4Levels[q]; });
        case Format::mxfp4:
            *out.scale =
                std::bit_cast<float>(p[0] < 2 ? 0x00200000u << p[0] : static_cast<std::uint32_t>(p[0] - 1) << 23);
            return splitNibbles(p + 1, out.codes, [](int q, int) { return fp4Levels[q]; });
        default:  // q8_0
            *out.scale = half(p);
            std::memcpy(out.codes, p + 2, 32);
    }
}

void q2Block(const Byte* p, const Row& out) {
    const float d = half(p + 80), dmin = half(p + 82);
    for (int s = 0; s < 16; ++s) {
        out.scale[s] = d * static_cast<float>(p[s] & 15);
        out.minimum[s] = -(dmin * static_cast<float>(p[s] >> 4));
    }
    for (int i = 0; i < 256; ++i) out.codes[i] = code(twoBits(p + 16, i));
}

void q3Block(const Byte* p, const Row& out) {
    const Byte* packed = p + 96;
    const float d = half(p + 108);
    for (int s = 0; s < 16; ++s) {
        const int low = s < 8 ? packed[s] & 15 : packed[s - 8] >> 4, high = packed[8 + s % 4] >> (s / 4 * 2) & 3;
        out.scale[s] = d * static_cast<float>((low | high << 4) - 32);
    }
    for (int i = 0; i < 256; ++i) out.codes[i] = code((twoBits(p + 32, i) | (p[i % 32] >> (i / 32) & 1) << 2) - 4);
}

void q45Block(bool five, const Byte* p, const Row& out) {
    const float d = half(p), dmin = half(p + 2);
    const Byte *s = p + 4, *fifth = p + 16, *codes = five ? p + 48 : p + 16;
    for (int b = 0; b < 8; ++b) {
        const int scale = b < 4 ? s[b] & 63 : (s[b + 4] & 15) | s[b - 4] >> 6 << 4;
        const int minimum = b < 4 ? s[b + 4] & 63 : s[b + 4] >> 4 | s[b] >> 6 << 4;
        out.scale[b] = d * static_cast<float>(scale);
        out.minimum[b] = -(dmin * static_cast<float>(minimum));
        for (int j = 0; j < 32; ++j) {
            const int low = codes[b / 2 * 32 + j] >> (b % 2 * 4) & 15;
            out.codes[32 * b + j] = code(five ? low | (fifth[j] >> b & 1) << 4 : low);
        }
    }
}

void q6Block(const Byte* p, const Row& out) {
    const float d = half(p + 208);
    for (int s = 0; s < 16; ++s) out.scale[s] = d * static_cast<float>(static_cast<std::int8_t>(p[192 + s]));
    for (int i = 0; i < 256; ++i) {
        const int part = i / 128, within = i % 128;
        const int low = p[64 * part + within % 64] >> (within / 64 * 4) & 15;
        const int high = p[128 + 32 * part + within % 32] >> (within / 32 * 2) & 3;
        out.codes[i] = code((low | high << 4) - 32);
    }
}

void iq4xsBlock(const Byte* p, const Row& out) {
    const float d = half(p);
    const int high = p[2] | p[3] << 8;
    for (int b = 0; b < 8; ++b) {
        const int low = p[4 + b / 2] >> (b % 2 * 4) & 15;
        out.scale[b] = d * static_cast<float>((low | (high >> (2 * b) & 3) << 4) - 32);
        splitNibbles(p + 8 + 16 * b, out.codes + 32 * b, [](int q, int) { return iq4Levels[q]; });
    }
}

}  // namespace

void unpackCodes(Format format, const std::byte* blocks, std::size_t k, std::int8_t* codes, float* scale,
                 float* minimum) {
    const FormatInfo& info = infoOf(format);
    const std::size_t group = kernels::codeFormOf(format).group;
    for (std::size_t i = 0; i < k; i += info.blockElements) {
        const Byte* p = reinterpret_cast<const Byte*>(blocks) + i / info.blockElements * info.blockBytes;
        const Row out{codes + i, scale + i / group, minimum + i / group};
        switch (format) {
            case Format::q2_k:
                q2Block(p, out);
                break;
            case Format::q3_k:
                q3Block(p, out);
                break;
            case Format::q4_k:
            case Format::q5_k:
                q45Block(format == Format::q5_k, p, out);
                break;
            case Format::q6_k:
                q6Block(p, out);
                break;
            case Format::iq4_xs:
                iq4xsBlock(p, out);
                break;
            default:
                legacyBlock(format, p, out);
        }
    }
}

}  // namespace axial::plain
