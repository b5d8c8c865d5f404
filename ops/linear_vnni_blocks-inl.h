// How the AVX-512 VNNI unit multiplies blocks of each stored format. Included as linear_vnni-inl.h is.
#pragma once
#include <array>

#include "axial/ops/linear_vnni-inl.h"
#include "axial/tensor/decode_grids.h"

namespace axial::kernels {
namespace {

using Byte = std::uint8_t;

inline __m512i zero() { return _mm512_setzero_si512(); }
inline __m512i load(const void* p) { return _mm512_loadu_si512(p); }
inline __m512i two(const Byte* p, const Byte* q) {
    return _mm512_inserti64x4(_mm512_castsi256_si512(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p))),
                              _mm256_loadu_si256(reinterpret_cast<const __m256i*>(q)), 1);
}
inline __m512i twice(const Byte* p) {
    return _mm512_broadcast_i64x4(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
}
// A pair of bytes for the codes of the lower and of the upper half.
inline __m512i halves(int low, int high) {
    return _mm512_inserti64x4(_mm512_set1_epi8(static_cast<char>(low)), _mm256_set1_epi8(static_cast<char>(high)), 1);
}
inline __m512i shifts(short low, short high) {
    return _mm512_inserti64x4(_mm512_set1_epi16(low), _mm256_set1_epi16(high), 1);
}
inline __m512i lowNibbles(__m512i v) { return _mm512_and_si512(v, _mm512_set1_epi8(15)); }
inline __m512i highNibbles(__m512i v) { return lowNibbles(_mm512_srli_epi16(v, 4)); }

// Quantised activations in the order in which a format wants them: one plane of codes, or the high and the low bytes.
template <int planes>
struct Arranged {
    const std::int8_t *codes, *low;
    Arranged from(int i) const { return {codes + i, low + i}; }
};
// codes * activations, in dwords of four products.
template <int planes>
inline __m512i dot(__m512i codes, Arranged<planes> x) {
    const __m512i high = _mm512_dpbusd_epi32(zero(), codes, load(x.codes));
    if constexpr (planes == 1) return high;
    return _mm512_dpbusd_epi32(_mm512_slli_epi32(high, 8), codes, load(x.low));
}
// The sum of the products of two vectors of codes.
template <int planes>
inline __m512i dot(__m512i a, Arranged<planes> x, __m512i b, Arranged<planes> y) {
    const __m512i high = _mm512_dpbusd_epi32(_mm512_dpbusd_epi32(zero(), a, load(x.codes)), b, load(y.codes));
    if constexpr (planes == 1) return high;
    return _mm512_dpbusd_epi32(_mm512_dpbusd_epi32(_mm512_slli_epi32(high, 8), a, load(x.low)), b, load(y.low));
}

// Where 16 blocks of `step` bytes start.
template <int step>
inline __m512i steps() {
    return _mm512_mullo_epi32(_mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15),
                              _mm512_set1_epi32(step));
}
// The halves at p, p + step, ... of 16 blocks.
template <int step>
inline __m512 sixteenHalves(const Byte* p) {
    return _mm512_cvtph_ps(_mm512_cvtepi32_epi16(_mm512_i32gather_epi32(steps<step>(), p, 1)));
}
inline std::uint32_t word(const Byte* p) {
    std::uint32_t w;
    __builtin_memcpy(&w, p, 4);
    return w;
}
inline float half(const Byte* p) {
    std::uint16_t h;
    __builtin_memcpy(&h, p, 2);
    return _cvtsh_ss(h);
}
// One number in the lower eight lanes, another in the upper.
inline __m512 eightEach(float low, float high) {
    return _mm512_insertf32x8(_mm512_set1_ps(low), _mm256_set1_ps(high), 1);
}
inline __m512 asFloat(__m128i bytes) { return _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(bytes)); }

// The sums of 16 groups of eight dwords each, two in each of v.
inline __m512i inEights(const __m512i (&v)[8], __m512i order) {
    const __m512i low = sumsOfFour(v[0], v[1], v[2], v[3]), high = sumsOfFour(v[4], v[5], v[6], v[7]);
    return _mm512_permutexvar_epi32(
        order, _mm512_add_epi32(_mm512_shuffle_i32x4(low, high, 0x88), _mm512_shuffle_i32x4(low, high, 0xdd)));
}

// The order for inEights that puts v[i]'s two sums at 2 i and 2 i + 1.
inline __m512i pairsInOrder() { return _mm512_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7, 8, 12, 9, 13, 10, 14, 11, 15); }

// Each format below says how many codes share a scale, how many bytes hold 16 such groups, in which order it wants the
// activations x that meet them, and for the 16 groups at p their integer sums, scales and minimums. A sum is of
// unsigned codes; `correct` makes it one of the codes that are meant, from -128 times the sum of the activations'
// codes.
struct AsTheyLie {
    static void arrange(const std::int8_t* x, std::int8_t* to, int bytes) {
        for (int i = 0; i < bytes; i += 64) _mm512_store_si512(to + i, load(x + i));
    }
};

struct Q8_0 : AsTheyLie {
    static constexpr int group = 32, bytes = 16 * 34;
    static constexpr bool minimum = false;
    template <int planes>
    static __m512i sums(const Byte* p, Arranged<planes> x) {
        __m512i v[8];
        AXIAL_UNROLL
        for (int i = 0; i < 8; ++i)
            v[i] = dot(_mm512_xor_si512(two(p + 68 * i + 2, p + 68 * i + 36), _mm512_set1_epi8(-128)), x.from(64 * i));
        return inEights(v, pairsInOrder());
    }
    static __m512i correct(__m512i sums, __m512i bias) { return _mm512_add_epi32(sums, bias); }
    static __m512 scale(const Byte* p) { return sixteenHalves<34>(p); }
};

// For each four blocks of 32, the first halves and then the second halves: they meet the low and the high nibbles.
struct ByHalves {
    static void arrange(const std::int8_t* x, std::int8_t* to, int bytes) {
        for (int i = 0; i < bytes; i += 128) {
            const __m512i x0 = load(x + i), x1 = load(x + i + 64);
            _mm512_store_si512(to + i, _mm512_shuffle_i32x4(x0, x1, 0x88));
            _mm512_store_si512(to + i + 64, _mm512_shuffle_i32x4(x0, x1, 0xdd));
        }
    }
};
// Sixteen bytes each at p, p + step, p + 2 step and p + 3 step.
template <int step>
inline __m512i fourSixteens(const Byte* p) {
    if constexpr (step == 16) return load(p);
    const auto sixteen = [](const Byte* q) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(q)); };
    __m512i v = _mm512_castsi128_si512(sixteen(p));
    v = _mm512_inserti32x4(v, sixteen(p + step), 1);
    v = _mm512_inserti32x4(v, sixteen(p + 2 * step), 2);
    return _mm512_inserti32x4(v, sixteen(p + 3 * step), 3);
}
template <int step, int planes>
inline __m512i nibbleBlocks(const Byte* p, Arranged<planes> x) {
    const __m512i v = fourSixteens<step>(p);
    return dot(lowNibbles(v), x, highNibbles(v), x.from(64));
}
template <int step, int offset, int planes>
inline __m512i nibbleSums(const Byte* p, Arranged<planes> x) {
    return inFours(nibbleBlocks<step>(p + offset, x), nibbleBlocks<step>(p + 4 * step + offset, x.from(128)),
                   nibbleBlocks<step>(p + 8 * step + offset, x.from(256)),
                   nibbleBlocks<step>(p + 12 * step + offset, x.from(384)));
}
struct Q4_0 : ByHalves {
    static constexpr int group = 32, bytes = 16 * 18;
    static constexpr bool minimum = false;
    template <int planes>
    static __m512i sums(const Byte* p, Arranged<planes> x) {
        return nibbleSums<18, 2>(p, x);
    }
    static __m512i correct(__m512i sums, __m512i bias) {  // code - 8
        return _mm512_add_epi32(sums, _mm512_srai_epi32(bias, 4));
    }
    static __m512 scale(const Byte* p) { return sixteenHalves<18>(p); }
};
struct Q4_1 : ByHalves {
    static constexpr int group = 32, bytes = 16 * 20;
    static constexpr bool minimum = true;
    template <int planes>
    static __m512i sums(const Byte* p, Arranged<planes> x) {
        return nibbleSums<20, 4>(p, x);
    }
    static __m512i correct(__m512i sums, __m512i) { return sums; }
    static __m512 scale(const Byte* p) { return sixteenHalves<20>(p); }
    static __m512 least(const Byte* p) { return sixteenHalves<20>(p + 2); }
};

// The packed 6-bit scales of one block of Q4_K or Q5_K, and its minimums, eight bytes each.
inline long long eightBytes(std::uint32_t low, std::uint32_t high) {
    return static_cast<long long>(low | static_cast<std::uint64_t>(high) << 32);
}
inline long long scales(const Byte* p) {
    return eightBytes(word(p) & 0x3f3f3f3fu, (word(p + 8) & 0x0f0f0f0fu) | (word(p) >> 2 & 0x30303030u));
}
inline long long minimums(const Byte* p) {
    return eightBytes(word(p + 4) & 0x3f3f3f3fu, (word(p + 8) >> 4 & 0x0f0f0f0fu) | (word(p + 4) >> 2 & 0x30303030u));
}
inline __m512 pair(long long first, long long second) { return asFloat(_mm_set_epi64x(second, first)); }
template <bool five>
struct Q45_K {
    // Of each four groups the even ones and then the odd ones, which meet low and high nibbles.
    static void arrange(const std::int8_t* x, std::int8_t* to, int bytes) {
        for (int i = 0; i < bytes; i += 128) {
            const __m512i x0 = load(x + i), x1 = load(x + i + 64);
            _mm512_store_si512(to + i, _mm512_shuffle_i64x2(x0, x1, 0x44));
            _mm512_store_si512(to + i + 64, _mm512_shuffle_i64x2(x0, x1, 0xee));
        }
    }
    static constexpr int group = 32, block = five ? 176 : 144, bytes = 2 * block;
    static constexpr bool minimum = true;
    template <int planes>
    static __m512i sums(const Byte* p, Arranged<planes> x) {
        __m512i v[8];
        AXIAL_UNROLL
        for (int b = 0; b < 2; ++b) {
            const Byte* q = p + block * b;
            const __m512i fifth = five ? twice(q + 16) : zero();
            AXIAL_UNROLL
            for (int i = 0; i < 2; ++i) {  // 64 bytes: groups 4 i and 4 i + 2 low, 4 i + 1 and 4 i + 3 high
                const __m512i nibbles = load(q + (five ? 48 : 16) + 64 * i);
                __m512i low = lowNibbles(nibbles), high = highNibbles(nibbles);
                if constexpr (five) {
                    const __m512i sixteen = _mm512_set1_epi8(16);
                    low = _mm512_mask_add_epi8(low, _mm512_test_epi8_mask(fifth, halves(1 << 4 * i, 4 << 4 * i)), low,
                                               sixteen);
                    high = _mm512_mask_add_epi8(high, _mm512_test_epi8_mask(fifth, halves(2 << 4 * i, 8 << 4 * i)),
                                                high, sixteen);
                }
                v[4 * b + 2 * i] = dot(low, x.from(256 * b + 128 * i));
                v[4 * b + 2 * i + 1] = dot(high, x.from(256 * b + 128 * i + 64));
            }
        }
        const __m512i order = _mm512_setr_epi32(0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15);
        return inEights(v, order);
    }
    static __m512i correct(__m512i sums, __m512i) { return sums; }
    static __m512 scale(const Byte* p) {
        return _mm512_mul_ps(eightEach(half(p), half(p + block)), pair(scales(p + 4), scales(p + block + 4)));
    }
    static __m512 least(const Byte* p) {
        return _mm512_mul_ps(eightEach(-half(p + 2), -half(p + block + 2)),
                             pair(minimums(p + 4), minimums(p + block + 4)));
    }
};

struct Q6_K : AsTheyLie {
    static constexpr int group = 16, bytes = 210;
    static constexpr bool minimum = false;
    template <int planes>
    static __m512i sums(const Byte* p, Arranged<planes> x) {
        __m512i v[4];
        AXIAL_UNROLL
        for (int i = 0; i < 2; ++i) {
            const __m512i nibbles = load(p + 64 * i), upper = twice(p + 128 + 32 * i), mask = _mm512_set1_epi8(0x30);
            // (shifted & mask) | nibbles
            const __m512i low =
                _mm512_ternarylogic_epi32(_mm512_sllv_epi16(upper, shifts(4, 2)), mask, lowNibbles(nibbles), 0xea);
            const __m512i high =
                _mm512_ternarylogic_epi32(_mm512_srlv_epi16(upper, shifts(0, 2)), mask, highNibbles(nibbles), 0xea);
            v[2 * i] = dot(low, x.from(128 * i));
            v[2 * i + 1] = dot(high, x.from(128 * i + 64));
        }
        return inFours(v[0], v[1], v[2], v[3]);
    }
    static __m512i correct(__m512i sums, __m512i bias) {  // code - 32
        return _mm512_add_epi32(sums, _mm512_srai_epi32(bias, 2));
    }
    static __m512 scale(const Byte* p) {
        const __m512i scales = _mm512_cvtepi8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p + 192)));
        return _mm512_mul_ps(_mm512_set1_ps(half(p + 208)), _mm512_cvtepi32_ps(scales));
    }
};

// The lower 16 bits of each of four words, one after the other.
inline __mmask64 masks(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t d) {
    return (a & 0xffffu) | static_cast<std::uint64_t>(b & 0xffffu) << 16 |
           static_cast<std::uint64_t>(c & 0xffffu) << 32 | static_cast<std::uint64_t>(d) << 48;
}
template <bool smallest>
struct Q5_01 : ByHalves {
    static constexpr int block = smallest ? 24 : 22, high = smallest ? 4 : 2;
    static constexpr int group = 32, bytes = 16 * block;
    static constexpr bool minimum = smallest;
    template <int planes>
    static __m512i four(const Byte* p, Arranged<planes> x) {
        const __m512i nibbles = fourSixteens<block>(p + high + 4), sixteen = _mm512_set1_epi8(16);
        const std::uint32_t a = word(p + high), b = word(p + block + high), c = word(p + 2 * block + high),
                            d = word(p + 3 * block + high);
        const __m512i low = lowNibbles(nibbles), up = highNibbles(nibbles);
        return dot(_mm512_mask_add_epi8(low, masks(a, b, c, d), low, sixteen), x,
                   _mm512_mask_add_epi8(up, masks(a >> 16, b >> 16, c >> 16, d >> 16), up, sixteen), x.from(64));
    }
    template <int planes>
    static __m512i sums(const Byte* p, Arranged<planes> x) {
        return inFours(four(p, x), four(p + 4 * block, x.from(128)), four(p + 8 * block, x.from(256)),
                       four(p + 12 * block, x.from(384)));
    }
    static __m512i correct(__m512i sums, __m512i bias) {  // code - 16, where there is no minimum
        return smallest ? sums : _mm512_add_epi32(sums, _mm512_srai_epi32(bias, 3));
    }
    static __m512 scale(const Byte* p) { return sixteenHalves<block>(p); }
    static __m512 least(const Byte* p) { return sixteenHalves<block>(p + 2); }
};

// Nibbles that stand for the numbers of a table. They are looked up as number + 128.
struct Levels : ByHalves {
    static constexpr int group = 32;
    static constexpr bool minimum = false;
    static __m512i table(const std::array<std::int8_t, 16>& levels) {
        const __m128i numbers = _mm_loadu_si128(reinterpret_cast<const __m128i*>(levels.data()));
        return _mm512_broadcast_i32x4(_mm_xor_si128(numbers, _mm_set1_epi8(-128)));
    }
    template <int step, int planes>
    static __m512i four(const Byte* p, __m512i table, Arranged<planes> x) {
        const __m512i nibbles = fourSixteens<step>(p);
        return dot(_mm512_shuffle_epi8(table, lowNibbles(nibbles)), x, _mm512_shuffle_epi8(table, highNibbles(nibbles)),
                   x.from(64));
    }
    static __m512i correct(__m512i sums, __m512i bias) { return _mm512_add_epi32(sums, bias); }
};
struct IQ4_NL : Levels {
    static constexpr int bytes = 16 * 18;
    template <int planes>
    static __m512i sums(const Byte* p, Arranged<planes> x) {
        const __m512i t = table(iq4Levels);
        return inFours(four<18>(p + 2, t, x), four<18>(p + 74, t, x.from(128)), four<18>(p + 146, t, x.from(256)),
                       four<18>(p + 218, t, x.from(384)));
    }
    static __m512 scale(const Byte* p) { return sixteenHalves<18>(p); }
};
struct MXFP4 : Levels {
    static constexpr int bytes = 16 * 17;
    template <int planes>
    static __m512i sums(const Byte* p, Arranged<planes> x) {
        const __m512i t = table(fp4Levels);
        return inFours(four<17>(p + 1, t, x), four<17>(p + 69, t, x.from(128)), four<17>(p + 137, t, x.from(256)),
                       four<17>(p + 205, t, x.from(384)));
    }
    // 2^(e - 128): below e = 2 a subnormal.
    static __m512 scale(const Byte* p) {
        const __m512i e = _mm512_and_si512(_mm512_i32gather_epi32(steps<17>(), p, 1), _mm512_set1_epi32(255));
        const __m512i bits = _mm512_slli_epi32(_mm512_sub_epi32(e, _mm512_set1_epi32(1)), 23);
        const __m512i small = _mm512_sllv_epi32(_mm512_set1_epi32(0x00200000), e);
        return _mm512_castsi512_ps(
            _mm512_mask_mov_epi32(bits, _mm512_cmplt_epu32_mask(e, _mm512_set1_epi32(2)), small));
    }
};
struct IQ4_XS : Levels {
    static constexpr int block = 136, bytes = 2 * block;
    template <int planes>
    static __m512i sums(const Byte* p, Arranged<planes> x) {
        const __m512i t = table(iq4Levels);
        const Byte* q = p + block;
        return inFours(four<16>(p + 8, t, x), four<16>(p + 72, t, x.from(128)), four<16>(q + 8, t, x.from(256)),
                       four<16>(q + 72, t, x.from(384)));
    }
    // Eight 6-bit scales of one block: four low bits each in bytes 4 to 7, two high ones each in bytes 2 and 3.
    static __m256i scales(const Byte* p) {
        const __m256i index = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
        const __m256i low =
            _mm256_srlv_epi32(_mm256_set1_epi32(static_cast<int>(word(p + 4))), _mm256_slli_epi32(index, 2));
        const __m256i high =
            _mm256_srlv_epi32(_mm256_set1_epi32(static_cast<int>(word(p) >> 16)), _mm256_slli_epi32(index, 1));
        const __m256i both = _mm256_or_si256(_mm256_and_si256(low, _mm256_set1_epi32(15)),
                                             _mm256_slli_epi32(_mm256_and_si256(high, _mm256_set1_epi32(3)), 4));
        return _mm256_sub_epi32(both, _mm256_set1_epi32(32));
    }
    static __m512 scale(const Byte* p) {
        const __m512i both = _mm512_inserti64x4(_mm512_castsi256_si512(scales(p)), scales(p + block), 1);
        return _mm512_mul_ps(eightEach(half(p), half(p + block)), _mm512_cvtepi32_ps(both));
    }
};

// Codes of two bits, 16 of them to a scale: bits 2 j of byte l are value 32 j + l of one half of the block. Each of
// four vectors takes the same bits of all bytes: group 2 j and 2 j + 1 of the lower half, then those of the upper.
struct TwoBits {
    static constexpr int group = 16;
    static void arrange(const std::int8_t* x, std::int8_t* to, int bytes) {
        for (int i = 0; i < bytes; i += 256)
            for (int j = 0; j < 4; ++j)
                _mm512_store_si512(to + i + 64 * j, two(reinterpret_cast<const Byte*>(x + i + 32 * j),
                                                        reinterpret_cast<const Byte*>(x + i + 128 + 32 * j)));
    }
    template <int j>
    static __m512i codes(__m512i v) {
        return _mm512_and_si512(_mm512_srli_epi16(v, 2 * j), _mm512_set1_epi8(3));
    }
    static __m512i inOrder(__m512i a, __m512i b, __m512i c, __m512i d) {
        return _mm512_permutexvar_epi32(_mm512_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7, 8, 12, 9, 13, 10, 14, 11, 15),
                                        sumsOfFour(a, b, c, d));
    }
};
struct Q2_K : TwoBits {
    static constexpr int bytes = 84;
    static constexpr bool minimum = true;
    template <int planes>
    static __m512i sums(const Byte* p, Arranged<planes> x) {
        const __m512i v = load(p + 16);
        return inOrder(dot(codes<0>(v), x), dot(codes<1>(v), x.from(64)), dot(codes<2>(v), x.from(128)),
                       dot(codes<3>(v), x.from(192)));
    }
    static __m512i correct(__m512i sums, __m512i) { return sums; }
    static __m128i packed(const Byte* p) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p)); }
    static __m512 scale(const Byte* p) {
        return _mm512_mul_ps(_mm512_set1_ps(half(p + 80)), asFloat(_mm_and_si128(packed(p), _mm_set1_epi8(15))));
    }
    static __m512 least(const Byte* p) {
        return _mm512_mul_ps(_mm512_set1_ps(-half(p + 82)),
                             asFloat(_mm_and_si128(_mm_srli_epi16(packed(p), 4), _mm_set1_epi8(15))));
    }
};
struct Q3_K : TwoBits {
    static constexpr int bytes = 110;
    static constexpr bool minimum = false;
    template <int j>
    static __m512i withThird(__m512i v, __m512i third) {
        const __m512i low = codes<j>(v);
        return _mm512_mask_add_epi8(low, _mm512_test_epi8_mask(third, halves(1 << j, 16 << j)), low,
                                    _mm512_set1_epi8(4));
    }
    template <int planes>
    static __m512i sums(const Byte* p, Arranged<planes> x) {
        const __m512i v = load(p + 32), third = twice(p);
        return inOrder(dot(withThird<0>(v, third), x), dot(withThird<1>(v, third), x.from(64)),
                       dot(withThird<2>(v, third), x.from(128)), dot(withThird<3>(v, third), x.from(192)));
    }
    static __m512i correct(__m512i sums, __m512i bias) {  // code - 4
        return _mm512_add_epi32(sums, _mm512_srai_epi32(bias, 5));
    }
    // Sixteen 6-bit scales in twelve bytes: four low bits each in the first eight, two high ones each in the rest.
    static __m512 scale(const Byte* p) {
        const std::uint32_t a = word(p + 96), b = word(p + 100), c = word(p + 104), low = 0x0f0f0f0fu,
                            high = 0x30303030u;
        const __m128i six = _mm_set_epi64x(eightBytes((a >> 4 & low) | (c & high), (b >> 4 & low) | (c >> 2 & high)),
                                           eightBytes((a & low) | (c << 4 & high), (b & low) | (c << 2 & high)));
        const __m512i scales = _mm512_sub_epi32(_mm512_cvtepu8_epi32(six), _mm512_set1_epi32(32));
        return _mm512_mul_ps(_mm512_set1_ps(half(p + 108)), _mm512_cvtepi32_ps(scales));
    }
};

}  // namespace
}  // namespace axial::kernels
