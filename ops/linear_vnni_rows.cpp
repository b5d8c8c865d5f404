#include "axial/ops/linear_vnni.h"

#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__) && \
    defined(__AVX512VNNI__)

#include "axial/ops/linear_vnni-inl.h"

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

// The halves at p, p + step, ... of 16 blocks.
template <int step>
inline __m512 sixteenHalves(const Byte* p) {
    const __m512i index = _mm512_mullo_epi32(_mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15),
                                             _mm512_set1_epi32(step));
    return _mm512_cvtph_ps(_mm512_cvtepi32_epi16(_mm512_i32gather_epi32(index, p, 1)));
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
        const __m512i order = _mm512_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7, 8, 12, 9, 13, 10, 14, 11, 15);
        return inEights(v, order);
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
// Four blocks of nibbles that lie `step` apart.
template <int step, int planes>
inline __m512i nibbleBlocks(const Byte* p, Arranged<planes> x) {
    const auto sixteen = [](const Byte* q) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(q)); };
    __m512i v = _mm512_castsi128_si512(sixteen(p));
    v = _mm512_inserti32x4(v, sixteen(p + step), 1);
    v = _mm512_inserti32x4(v, sixteen(p + 2 * step), 2);
    v = _mm512_inserti32x4(v, sixteen(p + 3 * step), 3);
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
inline std::uint32_t word(const Byte* p) {
    std::uint32_t w;
    __builtin_memcpy(&w, p, 4);
    return w;
}
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

// The groups of one row, each row read from its start to its end: products and, where the format has them, minimums.
template <class F, int planes>
inline void wholeRow(const Byte* w, const Row& x, std::size_t groups, float* product, float* least) {
    const auto compute = [&](const Byte* p, std::size_t g) {
        const Arranged<planes> codes{x.codes + g * F::group, x.low + g * F::group};
        const __m512i sums = F::correct(F::sums(p, codes), load(x.bias + g));
        _mm512_store_ps(product + g, _mm512_mul_ps(_mm512_cvtepi32_ps(sums), F::scale(p)));
        if constexpr (F::minimum) _mm512_store_ps(least + g, F::least(p));
    };
    std::size_t g = 0;
    for (; g + 16 <= groups; g += 16, w += F::bytes) compute(w, g);
    if (g < groups) {
        alignas(64) Byte padded[F::bytes + 64] = {};
        __builtin_memcpy(padded, w, (groups - g) * F::bytes / 16);
        compute(padded, g);
    }
}

// `k` codes in the format's order, filled up with zeros to 16 whole groups.
template <class F>
inline void arrange(const std::int8_t* x, std::size_t k, std::int8_t* to) {
    constexpr int piece = 16 * F::group;
    std::size_t i = 0;
    for (; i + piece <= k; i += piece) F::arrange(x + i, to + i, piece);
    if (i < k) {
        alignas(64) std::int8_t padded[piece] = {};
        __builtin_memcpy(padded, x + i, k - i);
        F::arrange(padded, to + i, piece);
    }
}

// 16 rows of numbers that lie `stride` apart, one vector for each of 16 columns.
inline void loadTurned(const float* from, std::size_t stride, __m512i (&to)[16]) {
    AXIAL_UNROLL
    for (std::size_t r = 0; r < 16; ++r) to[r] = load(from + r * stride);
    transpose(to);
}

// As FetchAhead of fetch_ahead-inl.h, which has the figures.
inline void fetchAhead(const Byte* row, std::ptrdiff_t bytes) {
    for (std::ptrdiff_t i = 0; i < bytes; i += 64) _mm_prefetch(row + 2048 + i, _MM_HINT_T0);
}

template <class F, int planes>
void rows(const BlockProduct& p, std::size_t t) {
    const std::size_t groups = p.layout->k / F::group, stride = (groups + 15) / 16 * 16;
    float* products = reinterpret_cast<float*>(p.scratch);
    float* least = products + 16 * stride;
    auto* codes = reinterpret_cast<std::int8_t*>(least + 16 * stride);
    Row x = rowOf(p.x + t * p.layout->bytes, *p.layout, F::group);
    arrange<F>(x.codes, p.layout->k, codes);
    if constexpr (planes == 2) arrange<F>(x.low, p.layout->k, codes + stride * F::group);
    x.codes = codes;
    x.low = codes + stride * F::group;
    for (std::size_t j = 0; j < p.rows; j += 16) {
        const std::size_t count = p.rows - j < 16 ? p.rows - j : 16;
        for (std::size_t r = 0; r < count; ++r) {
            const Byte* w = reinterpret_cast<const Byte*>(p.w) + static_cast<std::ptrdiff_t>(j + r) * p.rowBytes;
            fetchAhead(w, p.rowBytes);
            wholeRow<F, planes>(w, x, groups, products + r * stride, least + r * stride);
        }
        __m512 c = _mm512_setzero_ps();
        for (std::size_t first = 0; first < groups; first += 16) {
            __m512i turned[16], turnedLeast[16];
            loadTurned(products + first, stride, turned);
            if constexpr (F::minimum) loadTurned(least + first, stride, turnedLeast);
            const auto step = [&](std::size_t g) {
                c = _mm512_fmadd_ps(_mm512_castsi512_ps(turned[g]), _mm512_set1_ps(x.scale[first + g]), c);
                if constexpr (F::minimum)
                    c = _mm512_fmadd_ps(_mm512_castsi512_ps(turnedLeast[g]), _mm512_set1_ps(x.sum[first + g]), c);
            };
            if (groups - first >= 16) {
                AXIAL_UNROLL
                for (std::size_t g = 0; g < 16; ++g) step(g);
            } else {
                for (std::size_t g = 0; g < groups - first; ++g) step(g);
            }
        }
        const auto row = static_cast<std::ptrdiff_t>(t), column = static_cast<std::ptrdiff_t>(j);
        store(p.out + row * p.outStride + column, p.add ? p.add + row * p.addStride + column : nullptr, count, c);
    }
}

template <class F>
bool each(const BlockProduct& p) {
    for (std::size_t t = 0; t < p.m; ++t) p.layout->planes == 2 ? rows<F, 2>(p, t) : rows<F, 1>(p, t);
    return true;
}

}  // namespace

bool dotBlocksVnni(const BlockProduct& p) noexcept {
    switch (p.format) {
        case Format::q8_0:
            return each<Q8_0>(p);
        case Format::q4_0:
            return each<Q4_0>(p);
        case Format::q4_1:
            return each<Q4_1>(p);
        case Format::q4_k:
            return each<Q45_K<false>>(p);
        case Format::q5_k:
            return each<Q45_K<true>>(p);
        case Format::q6_k:
            return each<Q6_K>(p);
        default:
            return false;
    }
}

}  // namespace axial::kernels

#else

namespace axial::kernels {
bool dotBlocksVnni(const BlockProduct&) noexcept { return false; }
}  // namespace axial::kernels

#endif
