#include "axial/ops/superblock_kernels.h"

#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__) && \
    defined(__AVX512VNNI__)

#include "axial/ops/linear_vnni_blocks-inl.h"
#include "axial/ops/superblock-inl.h"

namespace axial::kernels {
namespace {

// A vector that is computed once and then used, instead of once for each use from memory.
inline __m512i once(__m512i v) {
    __asm__("" : "+v"(v));
    return v;
}

// Each format below gives for its block at p the vectors of 64 unsigned codes with their scales, as dwords whose upper
// halves are 0: use(offset of the activations that meet them, codes, scales). What else it has is kept as it stands for
// 16 rows together: keptBytes bytes of each row (`keep`), and its two halves of 16 bits, of which the first is d.

template <bool five>
struct SuperQ45_K : Q45_K<five> {
    static constexpr int block = Q45_K<five>::block, keptBytes = 8;  // the minimums
    // Byte `low` of each 128-bit lane in the lower half's dwords, byte `high` in the upper's.
    static __m512i spread(__m512i bytes, int low, int high) {
        constexpr int none = static_cast<int>(0x80808000u);
        return _mm512_shuffle_epi8(
            bytes, _mm512_inserti64x4(_mm512_set1_epi32(none | low), _mm256_set1_epi32(none | high), 1));
    }
    template <class Use>
    static void eachCodes(const Byte* p, Use use) {
        const __m512i scale = _mm512_set1_epi64(scales(p + 4));
        const __m512i fifth = five ? once(twice(p + 16)) : zero();
        AXIAL_UNROLL
        for (int i = 0; i < 2; ++i) {  // 64 bytes: groups 4 i and 4 i + 2 low, 4 i + 1 and 4 i + 3 high
            const __m512i nibbles = once(load(p + (five ? 48 : 16) + 64 * i));
            __m512i low = lowNibbles(nibbles), high = highNibbles(nibbles);
            if constexpr (five) {
                const __m512i sixteen = _mm512_set1_epi8(16);
                low = _mm512_mask_add_epi8(low, _mm512_test_epi8_mask(fifth, halves(1 << 4 * i, 4 << 4 * i)), low,
                                           sixteen);
                high = _mm512_mask_add_epi8(high, _mm512_test_epi8_mask(fifth, halves(2 << 4 * i, 8 << 4 * i)), high,
                                            sixteen);
            }
            use(128 * i, low, spread(scale, 4 * i, 4 * i + 2));
            use(128 * i + 64, high, spread(scale, 4 * i + 1, 4 * i + 3));
        }
    }
    static void keep(const Byte* p, Byte* to) {
        const std::int64_t least = minimums(p + 4);
        __builtin_memcpy(to, &least, 8);
    }
    static std::uint32_t twoHalves(const Byte* p) { return word(p); }
    static const std::size_t* sumsIn(const SuperRow& layout) { return layout.sum32; }
};

struct SuperQ6_K : Q6_K {
    static constexpr int block = 210, keptBytes = 16;  // the scales
    template <class Use>
    static void eachCodes(const Byte* p, Use use) {
        const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p + 192));
        const __m512i scale = _mm512_and_si512(_mm512_cvtepi8_epi32(bytes), _mm512_set1_epi32(0xffff));
        const __m512i fours = _mm512_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3);
        const auto spread = [&](int first) {
            return _mm512_permutexvar_epi32(_mm512_add_epi32(fours, _mm512_set1_epi32(first)), scale);
        };
        AXIAL_UNROLL
        for (int i = 0; i < 2; ++i) {
            const __m512i nibbles = once(load(p + 64 * i)), upper = once(twice(p + 128 + 32 * i));
            const __m512i mask = _mm512_set1_epi8(0x30);
            const __m512i low =  // (shifted & mask) | nibbles
                _mm512_ternarylogic_epi32(_mm512_sllv_epi16(upper, shifts(4, 2)), mask, lowNibbles(nibbles), 0xea);
            const __m512i high =
                _mm512_ternarylogic_epi32(_mm512_srlv_epi16(upper, shifts(0, 2)), mask, highNibbles(nibbles), 0xea);
            use(128 * i, low, spread(8 * i));
            use(128 * i + 64, high, spread(8 * i + 4));
        }
    }
    static void keep(const Byte* p, Byte* to) {
        _mm_store_si128(reinterpret_cast<__m128i*>(to), _mm_loadu_si128(reinterpret_cast<const __m128i*>(p + 192)));
    }
    static std::uint32_t twoHalves(const Byte* p) {
        std::uint16_t d;
        __builtin_memcpy(&d, p + 208, 2);
        return d;
    }
    static const std::size_t* sumsIn(const SuperRow& layout) { return layout.sum16; }
};

// Lane r of the result: the sum of the lanes of v[r].
inline __m512i laneSums(const __m512i* v) {
    __m512i s[4];
    AXIAL_UNROLL
    for (int i = 0; i < 4; ++i) s[i] = sumsOfFour(v[4 * i], v[4 * i + 1], v[4 * i + 2], v[4 * i + 3]);
    const auto halved = [](__m512i a, __m512i b) {
        return _mm512_add_epi32(_mm512_shuffle_i32x4(a, b, 0x88), _mm512_shuffle_i32x4(a, b, 0xdd));
    };
    return halved(halved(s[0], s[1]), halved(s[2], s[3]));
}
// Lane r of the result: the sum of four dwords from 4 r on.
inline __m512i fourSums(const __m512i* v) { return inFours(v[0], v[1], v[2], v[3]); }

// What the kept minimums of 16 rows come to with the sums of a row's codes in groups of 32: msum.
template <int planes>
inline __m512i minimumSums(const Byte* kept, const std::int16_t* const (&sum32)[2]) {
    const auto sums = [&](int plane) {
        return _mm512_broadcast_i32x4(_mm_loadu_si128(reinterpret_cast<const __m128i*>(sum32[plane])));
    };
    const __m512i high = sums(0), low = planes == 2 ? sums(1) : zero();
    __m512i v[4];
    AXIAL_UNROLL
    for (int i = 0; i < 4; ++i) {
        const __m512i least = _mm512_cvtepu8_epi16(_mm256_load_si256(reinterpret_cast<const __m256i*>(kept + 32 * i)));
        v[i] = _mm512_dpwssd_epi32(zero(), least, high);
        if constexpr (planes == 2) v[i] = _mm512_dpwssd_epi32(_mm512_slli_epi32(v[i], 8), least, low);
    }
    return fourSums(v);
}
// Of Q6_K, whose codes are 32 too large here: 32 times scale times the sum of the activations' codes, for 16 rows.
inline __m512i excess(const Byte* kept, const std::int16_t* sum16) {
    const __m512i sums = _mm512_broadcast_i64x4(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(sum16)));
    __m512i v[8];
    AXIAL_UNROLL
    for (int i = 0; i < 8; ++i)
        v[i] = _mm512_dpwssd_epi32(
            zero(), _mm512_cvtepi8_epi16(_mm256_load_si256(reinterpret_cast<const __m256i*>(kept + 32 * i))), sums);
    return _mm512_slli_epi32(inEights(v, pairsInOrder()), 5);
}

// What is kept of 16 rows until all their blocks are read: of block b and m rows of activations, at [row][b][16].
struct Kept {
    __m512i *high, *low;  // a vector for each stored row
    Byte* bytes;          // keptBytes of each stored row
    std::uint32_t* halves;
    std::int8_t* codes;  // the activations, in the order in which the format wants them
    Kept(std::byte* memory, std::size_t blocks, std::size_t m)
        : high(reinterpret_cast<__m512i*>(memory)),
          low(high + 16 * blocks * m),
          bytes(reinterpret_cast<Byte*>(low + 16 * blocks * m)),
          halves(reinterpret_cast<std::uint32_t*>(bytes + 16 * 16 * blocks)),
          codes(reinterpret_cast<std::int8_t*>(halves + 16 * blocks)) {}
};

// Stored rows against m rows of activations from row t on: each block is unpacked once.
template <class F, int planes, int m>
void rows(const SuperProduct& p, std::size_t t) {
    const SuperRow& layout = *p.layout;
    const std::size_t blocks = layout.k / 256;
    const Kept kept(p.scratch, blocks, m);
    const auto rowAt = [&](int i) { return p.x + (t + static_cast<std::size_t>(i)) * layout.bytes; };
    const auto codesOf = [&](int i) { return kept.codes + static_cast<std::size_t>(2 * i) * layout.k; };
    for (int i = 0; i < m; ++i) {
        const auto* codes = reinterpret_cast<const std::int8_t*>(rowAt(i));
        F::arrange(codes, codesOf(i), static_cast<int>(layout.k));
        if constexpr (planes == 2) F::arrange(codes + layout.low, codesOf(i) + layout.k, static_cast<int>(layout.k));
    }
    constexpr std::size_t ahead = 2048;
    for (std::size_t j = 0; j < p.rows; j += 16) {
        const std::size_t count = p.rows - j < 16 ? p.rows - j : 16;
        for (std::size_t r = 0; r < count; ++r) {
            const Byte* w = reinterpret_cast<const Byte*>(p.w) + static_cast<std::ptrdiff_t>(j + r) * p.rowBytes;
            for (std::size_t b = 0, at = r; b < blocks; ++b, at += 16, w += F::block) {
                AXIAL_UNROLL
                for (int i = 0; i < F::block; i += 64) _mm_prefetch(w + ahead + i, _MM_HINT_T0);
                __m512i high[m], low[m];
                for (int i = 0; i < m; ++i) high[i] = low[i] = zero();
                F::eachCodes(w, [&](int offset, __m512i codes, __m512i scale) {
                    AXIAL_UNROLL
                    for (int i = 0; i < m; ++i) {
                        const std::int8_t* x = codesOf(i) + 256 * b + offset;
                        // both factors fit into 16 bits
                        high[i] = _mm512_dpwssd_epi32(high[i], _mm512_dpbusd_epi32(zero(), codes, load(x)), scale);
                        if constexpr (planes == 2)
                            low[i] = _mm512_dpwssd_epi32(low[i], _mm512_dpbusd_epi32(zero(), codes, load(x + layout.k)),
                                                         scale);
                    }
                });
                AXIAL_UNROLL
                for (int i = 0; i < m; ++i) {
                    kept.high[static_cast<std::size_t>(i) * 16 * blocks + at] = high[i];
                    if constexpr (planes == 2) kept.low[static_cast<std::size_t>(i) * 16 * blocks + at] = low[i];
                }
                F::keep(w, kept.bytes + F::keptBytes * at);
                kept.halves[at] = F::twoHalves(w);
            }
        }
        for (int i = 0; i < m; ++i) {
            const std::byte* row = rowAt(i);
            const auto* xScale = reinterpret_cast<const float*>(row + layout.scale);
            const std::size_t* sumAt = F::sumsIn(layout);
            constexpr std::size_t perBlock = F::minimum ? 8 : 16;
            __m512 c = _mm512_setzero_ps();
            for (std::size_t b = 0; b < blocks; ++b) {
                const std::int16_t* const sums[2] = {
                    reinterpret_cast<const std::int16_t*>(row + sumAt[0]) + perBlock * b,
                    reinterpret_cast<const std::int16_t*>(row + sumAt[1]) + perBlock * b};
                const Byte* bytes = kept.bytes + F::keptBytes * 16 * b;
                const std::size_t at = (static_cast<std::size_t>(i) * blocks + b) * 16;
                __m512i high = laneSums(kept.high + at), low = planes == 2 ? laneSums(kept.low + at) : zero();
                if constexpr (!F::minimum) {
                    high = _mm512_sub_epi32(high, excess(bytes, sums[0]));
                    if constexpr (planes == 2) low = _mm512_sub_epi32(low, excess(bytes, sums[1]));
                }
                const __m512 sum = planes == 2 ? asOneFloat(high, low) : _mm512_cvtepi32_ps(high);
                const __m512 x = _mm512_set1_ps(xScale[b]);
                const __m512i halves = load(kept.halves + 16 * b);
                c = _mm512_fmadd_ps(_mm512_mul_ps(sum, _mm512_cvtph_ps(_mm512_cvtepi32_epi16(halves))), x, c);
                if constexpr (F::minimum) {
                    const __m512 least = _mm512_cvtepi32_ps(minimumSums<planes>(bytes, sums));
                    const __m512 dmin = _mm512_cvtph_ps(_mm512_cvtepi32_epi16(_mm512_srli_epi32(halves, 16)));
                    c = _mm512_fnmadd_ps(_mm512_mul_ps(least, dmin), x, c);
                }
            }
            const auto at = static_cast<std::ptrdiff_t>(t) + i, column = static_cast<std::ptrdiff_t>(j);
            store(p.out + at * p.outStride + column, p.add ? p.add + at * p.addStride + column : nullptr, count, c);
        }
    }
}

template <class F, int planes>
void all(const SuperProduct& p) {
    std::size_t t = 0;
    for (; t + 4 <= p.m; t += 4) rows<F, planes, 4>(p, t);
    for (; t + 2 <= p.m; t += 2) rows<F, planes, 2>(p, t);
    if (t < p.m) rows<F, planes, 1>(p, t);
}

template <class F>
void each(const SuperProduct& product) {
    forEachSlice(product, [](const SuperProduct& p) { p.layout->planes == 2 ? all<F, 2>(p) : all<F, 1>(p); });
}

inline __m512i oneSums(const std::byte* codes) { return _mm512_dpbusd_epi32(zero(), _mm512_set1_epi8(1), load(codes)); }
// The sums of a block's codes in sixteens and in pairs of sixteens, as int16.
inline void putSums(const std::byte* codes, std::byte* sum16, std::byte* sum32) {
    const __m512i sums = inFours(oneSums(codes), oneSums(codes + 64), oneSums(codes + 128), oneSums(codes + 192));
    const __m256i sixteens = _mm512_cvtepi32_epi16(sums);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(sum16), sixteens);
    const __m256i pairs = _mm256_madd_epi16(sixteens, _mm256_set1_epi16(1));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(sum32), _mm256_cvtepi32_epi16(pairs));
}

}  // namespace

void quantiseSuper(const float* x, const SuperRow& layout, std::byte* row) noexcept {
    const __m512 most = _mm512_set1_ps(layout.planes == 2 ? 32639.0f : 127.0f);
    for (std::size_t b = 0; b < layout.k / 256; ++b, x += 256) {
        __m512i largest = zero();
        for (int i = 0; i < 256; i += 16)
            largest = _mm512_max_epi32(largest, _mm512_and_si512(load(x + i), _mm512_set1_epi32(0x7fffffff)));
        const int bits = _mm512_reduce_max_epi32(largest);
        // the bits of an infinity or a NaN are the greatest; below 2^-100 all counts as zero
        const bool finite = bits < 0x7f800000, some = finite && bits >= (127 - 100) << 23;
        const __m512 all = _mm512_castsi512_ps(_mm512_set1_epi32(bits));
        const __m512 inverse = some ? _mm512_div_ps(most, all) : _mm512_setzero_ps();
        const __m512 scale = some ? _mm512_div_ps(all, most) : _mm512_set1_ps(finite ? 0.0f : __builtin_nanf(""));
        _mm_store_ss(reinterpret_cast<float*>(row + layout.scale) + b, _mm512_castps512_ps128(scale));
        std::byte *high = row + 256 * b, *low = row + layout.low + 256 * b;
        for (int i = 0; i < 256; i += 16) {
            __m512i code = zero();
            if (some) code = _mm512_cvtps_epi32(_mm512_mul_ps(_mm512_loadu_ps(x + i), inverse));
            if (layout.planes == 2) {
                const __m512i upper = _mm512_srai_epi32(_mm512_add_epi32(code, _mm512_set1_epi32(128)), 8);
                _mm_storeu_si128(reinterpret_cast<__m128i*>(low + i),
                                 _mm512_cvtepi32_epi8(_mm512_sub_epi32(code, _mm512_slli_epi32(upper, 8))));
                code = upper;
            }
            _mm_storeu_si128(reinterpret_cast<__m128i*>(high + i), _mm512_cvtepi32_epi8(code));
        }
        putSums(high, row + layout.sum16[0] + 32 * b, row + layout.sum32[0] + 16 * b);
        if (layout.planes == 2) putSums(low, row + layout.sum16[1] + 32 * b, row + layout.sum32[1] + 16 * b);
    }
}

void dotSuperRows(const SuperProduct& p) noexcept {
    if (p.format == Format::q4_k)
        each<SuperQ45_K<false>>(p);
    else if (p.format == Format::q5_k)
        each<SuperQ45_K<true>>(p);
    else
        each<SuperQ6_K>(p);
}

}  // namespace axial::kernels

#else

namespace axial::kernels {
void quantiseSuper(const float*, const SuperRow&, std::byte*) noexcept {}
void dotSuperRows(const SuperProduct&) noexcept {}
}  // namespace axial::kernels

#endif
