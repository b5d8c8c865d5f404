// How superblocks of interleaved rows are taken apart, for the files that multiply them. Included as interleaved-inl.h
// is.
#pragma once
#include "axial/ops/interleaved-inl.h"
#include "axial/ops/superblock-inl.h"

namespace axial::kernels {
namespace {

// Byte i of each dword as a number.
inline __m512i unsignedByte(__m512i v, int i) {
    return _mm512_and_si512(_mm512_srli_epi32(v, static_cast<unsigned>(8 * i)), _mm512_set1_epi32(255));
}
inline __m512i signedByte(__m512i v, int i) {
    return _mm512_srai_epi32(_mm512_slli_epi32(v, static_cast<unsigned>(24 - 8 * i)), 24);
}

// Each format of superblocks below gives of block w of a group, dword after dword: for part p of its codes and quad q
// of it two vectors of four codes of each row, which meet the activations from at(p, n) + 4 q on; the scale of each;
// and for pair i of activation sums the two numbers of each row that they are multiplied by, as words.
template <bool five>
struct SideQ45_K {
    static constexpr Format format = five ? Format::q5_k : Format::q4_k;
    static constexpr int parts = 4, quads = 8, pairs = 4;
    static constexpr bool minimum = true;
    struct Numbers {
        __m512i scale[2], least[2];
    };
    static Numbers numbers(const std::byte* w) {
        const __m512i a = load(w + 64), b = load(w + 128), c = load(w + 192);
        const __m512i six = _mm512_set1_epi32(0x3f3f3f3f), low = _mm512_set1_epi32(0x0f0f0f0f),
                      high = _mm512_set1_epi32(0x30303030);
        const auto both = [&](__m512i lower, __m512i upper) {  // (upper >> 2 & high) | (lower & low)
            return _mm512_ternarylogic_epi32(_mm512_srli_epi32(upper, 2), high, _mm512_and_si512(lower, low), 0xea);
        };
        return {{_mm512_and_si512(a, six), both(c, a)}, {_mm512_and_si512(b, six), both(_mm512_srli_epi32(c, 4), b)}};
    }
    static constexpr int at(int part, int n) { return 64 * part + 32 * n; }
    static void codes(const std::byte* w, int part, int quad, __m512i (&to)[2]) {
        const __m512i nibbles = load(w + 64 * ((five ? 12 : 4) + 8 * part + quad));
        to[0] = lowNibbles(nibbles);
        to[1] = highNibbles(nibbles);
        if constexpr (five) {
            const __m512i fifth = load(w + 64 * (4 + quad));
            AXIAL_UNROLL
            for (int n = 0; n < 2; ++n) {  // bit g of each byte becomes bit 4
                const int g = 2 * part + n;
                const __m512i moved = g < 4 ? _mm512_slli_epi32(fifth, static_cast<unsigned>(4 - g))
                                            : _mm512_srli_epi32(fifth, static_cast<unsigned>(g - 4));
                to[n] = _mm512_ternarylogic_epi32(moved, _mm512_set1_epi8(16), to[n], 0xea);
            }
        }
    }
    static __m512i scale(const Numbers& numbers, int part, int n) {
        return unsignedByte(numbers.scale[part / 2], 2 * (part % 2) + n);
    }
    static __m512i pair(const Numbers& numbers, int i) {
        const __m512i bytes = numbers.least[i / 2], words = _mm512_set1_epi32(0x00ff00ff);
        return _mm512_and_si512(i % 2 ? _mm512_srli_epi32(bytes, 8) : bytes, words);
    }
    static __m512 d(const std::byte* w, const std::byte*) { return _mm512_cvtph_ps(_mm512_cvtepi32_epi16(load(w))); }
    static __m512 dmin(const std::byte* w) {
        return _mm512_cvtph_ps(_mm512_cvtepi32_epi16(_mm512_srli_epi32(load(w), 16)));
    }
    static const std::size_t* sumsIn(const SuperRow& layout) { return layout.sum32; }
};

struct SideQ6_K {
    static constexpr Format format = Format::q6_k;
    static constexpr int parts = 8, quads = 4, pairs = 8;
    static constexpr bool minimum = false;
    struct Numbers {
        __m512i scale[4];
    };
    static Numbers numbers(const std::byte* w) {
        return {{load(w + 64 * 48), load(w + 64 * 49), load(w + 64 * 50), load(w + 64 * 51)}};
    }
    // Part: the half of the block, which 32 of each 64 bytes of nibbles, which 16 of those.
    static constexpr int halfOf(int part) { return part / 4; }
    static constexpr int sideOf(int part) { return part / 2 % 2; }
    static constexpr int at(int part, int n) {
        return 128 * halfOf(part) + 32 * sideOf(part) + 16 * (part % 2) + 64 * n;
    }
    static void codes(const std::byte* w, int part, int quad, __m512i (&to)[2]) {
        const int dword = 4 * (part % 2) + quad;
        const __m512i nibbles = load(w + 64 * (16 * halfOf(part) + 8 * sideOf(part) + dword)),
                      upper = load(w + 64 * (32 + 8 * halfOf(part) + dword)), mask = _mm512_set1_epi8(0x30);
        // bits 0 and 1 (of the second side 2 and 3) become 4 and 5; bits 4 and 5 (6 and 7) too
        const __m512i first = _mm512_slli_epi32(upper, sideOf(part) ? 2 : 4),
                      second = sideOf(part) ? _mm512_srli_epi32(upper, 2) : upper;
        to[0] = _mm512_ternarylogic_epi32(first, mask, lowNibbles(nibbles), 0xea);
        to[1] = _mm512_ternarylogic_epi32(second, mask, highNibbles(nibbles), 0xea);
    }
    static __m512i scale(const Numbers& numbers, int part, int n) {
        const int group = at(part, n) / 16;
        return signedByte(numbers.scale[group / 4], group % 4);
    }
    static __m512i pair(const Numbers& numbers, int i) {
        const __m512i bytes = numbers.scale[i / 2];
        return _mm512_srai_epi16(i % 2 ? bytes : _mm512_slli_epi16(bytes, 8), 8);
    }
    static __m512 d(const std::byte*, const std::byte* halves) { return sixteenFloats(halves); }
    static const std::size_t* sumsIn(const SuperRow& layout) { return layout.sum16; }
};

// Words i and i + 2 of each four int16, for the pairs of a format: what its sums are multiplied with.
inline void pairUp(const std::int16_t* sums, std::size_t count, std::int16_t* to) {
    for (std::size_t i = 0; i < count; i += 4) {
        to[i] = sums[i];
        to[i + 1] = sums[i + 2];
        to[i + 2] = sums[i + 1];
        to[i + 3] = sums[i + 3];
    }
}

// The sums of all rows' codes as pairs, [row][block][plane][pair][2], for addBlock.
template <class F, int planes>
inline void pairSums(const SuperProduct& p, std::int16_t* sums) {
    const std::size_t blocks = p.layout->k / 256, perBlock = 2 * F::pairs;
    for (std::size_t t = 0; t < p.m; ++t)
        for (std::size_t b = 0; b < blocks; ++b)
            for (int plane = 0; plane < planes; ++plane)
                pairUp(reinterpret_cast<const std::int16_t*>(p.x + t * p.layout->bytes + F::sumsIn(*p.layout)[plane]) +
                           perBlock * b,
                       perBlock, sums + ((t * blocks + b) * planes + static_cast<std::size_t>(plane)) * perBlock);
}

// c after one more block: high and low are the sums of its unsigned codes with a row of activations, by plane, and
// `sums` those of pairSums.
template <class F, int planes>
[[gnu::always_inline]] inline __m512 addBlock(__m512 c, __m512i high, __m512i low, const typename F::Numbers& numbers,
                                              const std::byte* w, const std::byte* halves, const std::int16_t* sums,
                                              float xScale) {
    const auto withSums = [&](__m512i to, int plane) __attribute__((always_inline)) {
        AXIAL_UNROLL
        for (int n = 0; n < F::pairs; ++n)
            to = _mm512_dpwssd_epi32(to, F::pair(numbers, n), four(sums + 2 * (F::pairs * plane + n)));
        return to;
    };
    if constexpr (!F::minimum) {  // the codes are 32 too large here
        high = _mm512_sub_epi32(high, _mm512_slli_epi32(withSums(zero(), 0), 5));
        if constexpr (planes == 2) low = _mm512_sub_epi32(low, _mm512_slli_epi32(withSums(zero(), 1), 5));
    }
    const __m512 isum = planes == 2 ? asOneFloat(high, low) : _mm512_cvtepi32_ps(high), scale = _mm512_set1_ps(xScale);
    c = _mm512_fmadd_ps(_mm512_mul_ps(isum, F::d(w, halves)), scale, c);
    if constexpr (F::minimum) {
        __m512i least = withSums(zero(), 0);
        if constexpr (planes == 2) least = withSums(_mm512_slli_epi32(least, 8), 1);
        c = _mm512_fnmadd_ps(_mm512_mul_ps(_mm512_cvtepi32_ps(least), F::dmin(w)), scale, c);
    }
    return c;
}

inline void storeSixteen(const SuperProduct& p, std::size_t t, std::size_t j, __m512 c) {
    const auto row = static_cast<std::ptrdiff_t>(t), column = static_cast<std::ptrdiff_t>(j);
    store(p.out + row * p.outStride + column, p.add ? p.add + row * p.addStride + column : nullptr, 16, c);
}

}  // namespace
}  // namespace axial::kernels
