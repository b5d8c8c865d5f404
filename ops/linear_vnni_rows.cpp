#include "axial/ops/linear_vnni.h"

#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__) && \
    defined(__AVX512VNNI__)

#include "axial/ops/linear_vnni-inl.h"

namespace axial::kernels {
namespace {

using Byte = std::uint8_t;

// What a piece of a row gives: for 16 groups, the integer sum times the group's scale, and the minimum.
struct Groups {
    __m512 product, minimum;
};

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
inline __m512i dot(__m512i codes, __m512i x) { return _mm512_dpbusd_epi32(zero(), codes, x); }

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
// activations that meet them, and computes their products. x: the activations' codes in that order; bias: -128 times
// their sums.
struct AsTheyLie {
    static void arrange(const std::int8_t* x, std::int8_t* to, int bytes) {
        for (int i = 0; i < bytes; i += 64) _mm512_store_si512(to + i, load(x + i));
    }
};

struct Q8_0 : AsTheyLie {
    static constexpr int group = 32, bytes = 16 * 34;
    static constexpr bool minimum = false;
    static Groups compute(const Byte* p, const std::int8_t* x, __m512i bias) {
        __m512i v[8];
        AXIAL_UNROLL
        for (int i = 0; i < 8; ++i)
            v[i] =
                dot(_mm512_xor_si512(two(p + 68 * i + 2, p + 68 * i + 36), _mm512_set1_epi8(-128)), load(x + 64 * i));
        const __m512i order = _mm512_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7, 8, 12, 9, 13, 10, 14, 11, 15);
        const __m512i sums = _mm512_add_epi32(inEights(v, order), bias);
        return {_mm512_mul_ps(_mm512_cvtepi32_ps(sums), sixteenHalves<34>(p)), _mm512_setzero_ps()};
    }
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
template <int step>
inline __m512i nibbleBlocks(const Byte* p, const std::int8_t* x) {
    const auto sixteen = [](const Byte* q) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(q)); };
    __m512i v = _mm512_castsi128_si512(sixteen(p));
    v = _mm512_inserti32x4(v, sixteen(p + step), 1);
    v = _mm512_inserti32x4(v, sixteen(p + 2 * step), 2);
    v = _mm512_inserti32x4(v, sixteen(p + 3 * step), 3);
    return _mm512_dpbusd_epi32(dot(lowNibbles(v), load(x)), highNibbles(v), load(x + 64));
}
template <int step, int offset>
inline __m512i nibbleSums(const Byte* p, const std::int8_t* x) {
    return inFours(nibbleBlocks<step>(p + offset, x), nibbleBlocks<step>(p + 4 * step + offset, x + 128),
                   nibbleBlocks<step>(p + 8 * step + offset, x + 256),
                   nibbleBlocks<step>(p + 12 * step + offset, x + 384));
}
struct Q4_0 : ByHalves {
    static constexpr int group = 32, bytes = 16 * 18;
    static constexpr bool minimum = false;
    static Groups compute(const Byte* p, const std::int8_t* x, __m512i bias) {
        const __m512i sums = _mm512_add_epi32(nibbleSums<18, 2>(p, x), _mm512_srai_epi32(bias, 4));  // code - 8
        return {_mm512_mul_ps(_mm512_cvtepi32_ps(sums), sixteenHalves<18>(p)), _mm512_setzero_ps()};
    }
};
struct Q4_1 : ByHalves {
    static constexpr int group = 32, bytes = 16 * 20;
    static constexpr bool minimum = true;
    static Groups compute(const Byte* p, const std::int8_t* x, __m512i) {
        return {_mm512_mul_ps(_mm512_cvtepi32_ps(nibbleSums<20, 4>(p, x)), sixteenHalves<20>(p)),
                sixteenHalves<20>(p + 2)};
    }
};

// The packed 6-bit scales and minimums of one block of Q4_K or Q5_K, eight bytes each.
inline void sixBits(const Byte* p, std::uint64_t& scales, std::uint64_t& minimums) {
    std::uint32_t s[3];
    __builtin_memcpy(s, p, 12);
    scales = (s[0] & 0x3f3f3f3fu) | static_cast<std::uint64_t>((s[2] & 0x0f0f0f0fu) | (s[0] >> 2 & 0x30303030u)) << 32;
    minimums = (s[1] & 0x3f3f3f3fu) | static_cast<std::uint64_t>((s[2] >> 4 & 0x0f0f0f0fu) | (s[1] >> 2 & 0x30303030u))
                                          << 32;
}
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
    static Groups compute(const Byte* p, const std::int8_t* x, __m512i) {
        __m512i v[8];
        std::uint64_t scales[2], minimums[2];
        AXIAL_UNROLL
        for (int b = 0; b < 2; ++b) {
            const Byte* q = p + block * b;
            sixBits(q + 4, scales[b], minimums[b]);
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
                const std::int8_t* y = x + 256 * b + 128 * i;
                v[4 * b + 2 * i] = dot(low, load(y));
                v[4 * b + 2 * i + 1] = dot(high, load(y + 64));
            }
        }
        const __m512i order = _mm512_setr_epi32(0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15);
        const __m512 sums = _mm512_cvtepi32_ps(inEights(v, order));
        const auto pair = [](const std::uint64_t(&bytes)[2]) {
            return asFloat(_mm_set_epi64x(static_cast<long long>(bytes[1]), static_cast<long long>(bytes[0])));
        };
        const __m512 scale = _mm512_mul_ps(eightEach(half(p), half(p + block)), pair(scales));
        return {_mm512_mul_ps(sums, scale),
                _mm512_mul_ps(eightEach(-half(p + 2), -half(p + block + 2)), pair(minimums))};
    }
};

struct Q6_K : AsTheyLie {
    static constexpr int group = 16, bytes = 210;
    static constexpr bool minimum = false;
    static Groups compute(const Byte* p, const std::int8_t* x, __m512i bias) {
        __m512i v[4];
        AXIAL_UNROLL
        for (int i = 0; i < 2; ++i) {
            const __m512i nibbles = load(p + 64 * i), upper = twice(p + 128 + 32 * i), mask = _mm512_set1_epi8(0x30);
            // (shifted & mask) | nibbles
            const __m512i low =
                _mm512_ternarylogic_epi32(_mm512_sllv_epi16(upper, shifts(4, 2)), mask, lowNibbles(nibbles), 0xea);
            const __m512i high =
                _mm512_ternarylogic_epi32(_mm512_srlv_epi16(upper, shifts(0, 2)), mask, highNibbles(nibbles), 0xea);
            v[2 * i] = dot(low, load(x + 128 * i));
            v[2 * i + 1] = dot(high, load(x + 128 * i + 64));
        }
        const __m512i sums =
            _mm512_add_epi32(inFours(v[0], v[1], v[2], v[3]), _mm512_srai_epi32(bias, 2));  // code - 32
        const __m512i scales = _mm512_cvtepi8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p + 192)));
        const __m512 scale = _mm512_mul_ps(_mm512_set1_ps(half(p + 208)), _mm512_cvtepi32_ps(scales));
        return {_mm512_mul_ps(_mm512_cvtepi32_ps(sums), scale), _mm512_setzero_ps()};
    }
};

// The groups of one row, each row read from its start to its end. The products of plane i go to product + i * apart.
template <class F, int planes>
inline void wholeRow(const Byte* w, const Row (&x)[planes], std::size_t groups, float* product, std::size_t apart,
                     float* least) {
    const auto compute = [&](const Byte* p, std::size_t g) {
        Groups r[planes];
        AXIAL_UNROLL
        for (int i = 0; i < planes; ++i) r[i] = F::compute(p, x[i].codes + g * F::group, load(x[i].bias + g));
        AXIAL_UNROLL
        for (int i = 0; i < planes; ++i)
            _mm512_store_ps(product + static_cast<std::size_t>(i) * apart + g, r[i].product);
        if constexpr (F::minimum) _mm512_store_ps(least + g, r[0].minimum);
    };
    std::size_t g = 0;
    for (; g + 16 <= groups; g += 16, w += F::bytes) compute(w, g);
    if (g < groups) {
        alignas(64) Byte padded[F::bytes + 64] = {};
        __builtin_memcpy(padded, w, (groups - g) * F::bytes / 16);
        compute(padded, g);
    }
}

// A row of activations with its codes in the format's order, filled up with zeros to 16 whole groups, at `to`.
template <class F>
inline Row arranged(const std::byte* row, const QuantisedRow& layout, std::int8_t* to) {
    constexpr int piece = 16 * F::group;
    const Row x = rowOf(row, layout.groupsOf(F::group));
    std::size_t i = 0;
    for (; i + piece <= layout.k; i += piece) F::arrange(x.codes + i, to + i, piece);
    if (i < layout.k) {
        alignas(64) std::int8_t padded[piece] = {};
        __builtin_memcpy(padded, x.codes + i, layout.k - i);
        F::arrange(padded, to + i, piece);
    }
    return {to, x.scale, x.sum, x.bias};
}

// 16 rows of numbers that lie `stride` apart, one vector for each of 16 columns.
inline void loadTurned(const float* from, std::size_t stride, __m512i (&to)[16]) {
    AXIAL_UNROLL
    for (std::size_t r = 0; r < 16; ++r) to[r] = load(from + r * stride);
    transpose(to);
}

template <class F, int planes>
void rows(const BlockProduct& p, std::size_t t) {
    const std::size_t groups = p.layout->k / F::group, stride = (groups + 15) / 16 * 16;
    float* products = reinterpret_cast<float*>(p.scratch);
    float* least = products + planes * 16 * stride;
    auto* codes = reinterpret_cast<std::int8_t*>(least + 16 * stride);
    Row x[planes];
    for (std::size_t i = 0; i < planes; ++i)
        x[i] = arranged<F>((i == 0 ? p.x : p.rest) + t * p.layout->bytes, *p.layout, codes + i * stride * F::group);
    for (std::size_t j = 0; j < p.rows; j += 16) {
        const std::size_t count = p.rows - j < 16 ? p.rows - j : 16;
        for (std::size_t r = 0; r < count; ++r)
            wholeRow<F, planes>(reinterpret_cast<const Byte*>(p.w) + static_cast<std::ptrdiff_t>(j + r) * p.rowBytes, x,
                                groups, products + r * stride, 16 * stride, least + r * stride);
        __m512 c[planes];
        for (int i = 0; i < planes; ++i) c[i] = _mm512_setzero_ps();
        for (std::size_t first = 0; first < groups; first += 16) {
            __m512i turned[planes][16], turnedLeast[16];
            for (std::size_t i = 0; i < planes; ++i) loadTurned(products + i * 16 * stride + first, stride, turned[i]);
            if constexpr (F::minimum) loadTurned(least + first, stride, turnedLeast);
            const auto step = [&](std::size_t g) {
                AXIAL_UNROLL
                for (int i = 0; i < planes; ++i) {
                    const __m512 scale = _mm512_set1_ps(x[i].scale[first + g]);
                    c[i] = _mm512_fmadd_ps(_mm512_castsi512_ps(turned[i][g]), scale, c[i]);
                    if constexpr (F::minimum)
                        c[i] = _mm512_fmadd_ps(_mm512_castsi512_ps(turnedLeast[g]), _mm512_set1_ps(x[i].sum[first + g]),
                                               c[i]);
                }
            };
            if (groups - first >= 16) {
                AXIAL_UNROLL
                for (std::size_t g = 0; g < 16; ++g) step(g);
            } else {
                for (std::size_t g = 0; g < groups - first; ++g) step(g);
            }
        }
        const auto row = static_cast<std::ptrdiff_t>(t), column = static_cast<std::ptrdiff_t>(j);
        store(p.out + row * p.outStride + column, p.add ? p.add + row * p.addStride + column : nullptr, count,
              planes == 1 ? c[0] : _mm512_add_ps(c[planes - 1], c[0]));
    }
}

template <class F>
bool each(const BlockProduct& p) {
    for (std::size_t t = 0; t < p.m; ++t) p.rest ? rows<F, 2>(p, t) : rows<F, 1>(p, t);
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
