#include "axial/ops/superblock_kernels.h"

#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__) && \
    defined(__AVX512VNNI__)

#include "axial/ops/linear_vnni_blocks-inl.h"
#include "axial/ops/superblock-inl.h"

namespace axial::kernels {
namespace {

// What a row's block of 256 comes to before its lanes are added up: 256 times the first plus the second is isum, and
// the four dwords of `minimum` are msum.
struct BlockSums {
    __m512i high, low;
    __m128i minimum;
};
// sums += scale * v: both fit into 16 bits; the upper halves of `scale` are 0.
inline __m512i addScaled(__m512i sums, __m512i v, __m512i scale) { return _mm512_dpwssd_epi32(sums, v, scale); }

template <int planes>
inline void addCodes(BlockSums& s, __m512i codes, Arranged<planes> x, __m512i scale) {
    s.high = addScaled(s.high, _mm512_dpbusd_epi32(zero(), codes, load(x.codes)), scale);
    if constexpr (planes == 2) s.low = addScaled(s.low, _mm512_dpbusd_epi32(zero(), codes, load(x.low)), scale);
}

template <bool five>
struct SuperQ45_K : Q45_K<five> {
    static constexpr int block = Q45_K<five>::block;
    // Byte `low` of each 128-bit lane in the lower half's dwords, byte `high` in the upper's.
    static __m512i spread(__m512i bytes, int low, int high) {
        constexpr int none = static_cast<int>(0x80808000u);
        return _mm512_shuffle_epi8(
            bytes, _mm512_inserti64x4(_mm512_set1_epi32(none | low), _mm256_set1_epi32(none | high), 1));
    }
    template <int planes>
    static BlockSums sums(const Byte* p, Arranged<planes> x, const std::int16_t* const (&sum32)[2]) {
        BlockSums s{zero(), zero(), {}};
        const __m512i scale = _mm512_broadcast_i32x4(_mm_cvtsi64_si128(scales(p + 4)));
        const __m512i fifth = five ? twice(p + 16) : zero();
        AXIAL_UNROLL
        for (int i = 0; i < 2; ++i) {  // 64 bytes: groups 4 i and 4 i + 2 low, 4 i + 1 and 4 i + 3 high
            const __m512i nibbles = load(p + (five ? 48 : 16) + 64 * i);
            __m512i low = lowNibbles(nibbles), high = highNibbles(nibbles);
            if constexpr (five) {
                const __m512i sixteen = _mm512_set1_epi8(16);
                low = _mm512_mask_add_epi8(low, _mm512_test_epi8_mask(fifth, halves(1 << 4 * i, 4 << 4 * i)), low,
                                           sixteen);
                high = _mm512_mask_add_epi8(high, _mm512_test_epi8_mask(fifth, halves(2 << 4 * i, 8 << 4 * i)), high,
                                            sixteen);
            }
            addCodes(s, low, x.from(128 * i), spread(scale, 4 * i, 4 * i + 2));
            addCodes(s, high, x.from(128 * i + 64), spread(scale, 4 * i + 1, 4 * i + 3));
        }
        const __m128i least = _mm_cvtepu8_epi16(_mm_cvtsi64_si128(minimums(p + 4))), none = _mm_setzero_si128();
        s.minimum = _mm_dpwssd_epi32(none, least, _mm_loadu_si128(reinterpret_cast<const __m128i*>(sum32[0])));
        if constexpr (planes == 2)
            s.minimum = _mm_dpwssd_epi32(_mm_slli_epi32(s.minimum, 8), least,
                                         _mm_loadu_si128(reinterpret_cast<const __m128i*>(sum32[1])));
        return s;
    }
    static float scaleOf(const Byte* p) { return half(p); }
    static float minimumOf(const Byte* p) { return -half(p + 2); }
};

struct SuperQ6_K : Q6_K {
    static constexpr int block = 210;
    template <int planes>
    static BlockSums sums(const Byte* p, Arranged<planes> x, const std::int16_t* const (&sum16)[2]) {
        const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p + 192));
        const __m512i scale = _mm512_and_si512(_mm512_cvtepi8_epi32(bytes), _mm512_set1_epi32(0xffff));
        // The codes are unsigned here, 32 too large: -32 * scale * the sum of the activations' codes takes that back.
        const __m256i shift =
            _mm256_slli_epi16(_mm256_sub_epi16(_mm256_setzero_si256(), _mm256_cvtepi8_epi16(bytes)), 5);
        const auto correction = [&](const std::int16_t* sum) {
            const __m256i sums = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(sum));
            return _mm512_zextsi256_si512(_mm256_dpwssd_epi32(_mm256_setzero_si256(), shift, sums));
        };
        BlockSums s{correction(sum16[0]), planes == 2 ? correction(sum16[1]) : zero(), {}};
        const __m512i fours = _mm512_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3);
        const auto spread = [&](int first) {
            return _mm512_permutexvar_epi32(_mm512_add_epi32(fours, _mm512_set1_epi32(first)), scale);
        };
        AXIAL_UNROLL
        for (int i = 0; i < 2; ++i) {
            const __m512i nibbles = load(p + 64 * i), upper = twice(p + 128 + 32 * i), mask = _mm512_set1_epi8(0x30);
            const __m512i low =  // (shifted & mask) | nibbles
                _mm512_ternarylogic_epi32(_mm512_sllv_epi16(upper, shifts(4, 2)), mask, lowNibbles(nibbles), 0xea);
            const __m512i high =
                _mm512_ternarylogic_epi32(_mm512_srlv_epi16(upper, shifts(0, 2)), mask, highNibbles(nibbles), 0xea);
            addCodes(s, low, x.from(128 * i), spread(8 * i));
            addCodes(s, high, x.from(128 * i + 64), spread(8 * i + 4));
        }
        return s;
    }
    static float scaleOf(const Byte* p) { return half(p + 208); }
    static float minimumOf(const Byte*) { return 0; }
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

// What is kept of 16 rows until all their blocks are read: of block b at [b][row].
struct Kept {
    __m512i *high, *low, *minimum;  // a vector for each row, and four dwords
    float *scale, *least;
    Kept(std::byte* memory, std::size_t blocks)
        : high(reinterpret_cast<__m512i*>(memory)),
          low(high + 16 * blocks),
          minimum(low + 16 * blocks),
          scale(reinterpret_cast<float*>(minimum + 4 * blocks)),
          least(scale + 16 * blocks) {}
};

template <class F, int planes>
void rows(const SuperProduct& p, std::size_t t) {
    const SuperRow& layout = *p.layout;
    const std::size_t blocks = layout.k / 256;
    const Kept kept(p.scratch, blocks);
    auto* codes = reinterpret_cast<std::int8_t*>(kept.least + 16 * blocks);
    const std::byte* row = p.x + t * layout.bytes;
    F::arrange(reinterpret_cast<const std::int8_t*>(row), codes, static_cast<int>(layout.k));
    if constexpr (planes == 2)
        F::arrange(reinterpret_cast<const std::int8_t*>(row + layout.low), codes + layout.k,
                   static_cast<int>(layout.k));
    const auto* xScale = reinterpret_cast<const float*>(row + layout.scale);
    const std::size_t* sumAt = F::minimum ? layout.sum32 : layout.sum16;
    const std::int16_t* sums[2] = {reinterpret_cast<const std::int16_t*>(row + sumAt[0]),
                                   reinterpret_cast<const std::int16_t*>(row + sumAt[1])};
    constexpr std::size_t perBlock = F::minimum ? 8 : 16, ahead = 2048;
    for (std::size_t j = 0; j < p.rows; j += 16) {
        const std::size_t count = p.rows - j < 16 ? p.rows - j : 16;
        for (std::size_t r = 0; r < count; ++r) {
            const Byte* w = reinterpret_cast<const Byte*>(p.w) + static_cast<std::ptrdiff_t>(j + r) * p.rowBytes;
            for (std::size_t b = 0; b < blocks; ++b, w += F::block) {
                AXIAL_UNROLL
                for (int i = 0; i < F::block; i += 64) _mm_prefetch(w + ahead + i, _MM_HINT_T0);
                const std::int16_t* const here[2] = {sums[0] + perBlock * b, sums[1] + perBlock * b};
                const BlockSums s = F::sums(w, Arranged<planes>{codes + 256 * b, codes + layout.k + 256 * b}, here);
                kept.high[16 * b + r] = s.high;
                if constexpr (planes == 2) kept.low[16 * b + r] = s.low;
                kept.scale[16 * b + r] = F::scaleOf(w);
                if constexpr (F::minimum) {
                    _mm_store_si128(reinterpret_cast<__m128i*>(kept.minimum + 4 * b) + r, s.minimum);
                    kept.least[16 * b + r] = F::minimumOf(w);
                }
            }
        }
        __m512 c = _mm512_setzero_ps();
        for (std::size_t b = 0; b < blocks; ++b) {
            const __m512i high = laneSums(kept.high + 16 * b);
            const __m512 sum = planes == 2 ? asOneFloat(high, laneSums(kept.low + 16 * b)) : _mm512_cvtepi32_ps(high);
            const __m512 x = _mm512_set1_ps(xScale[b]);
            c = _mm512_fmadd_ps(_mm512_mul_ps(sum, _mm512_load_ps(kept.scale + 16 * b)), x, c);
            if constexpr (F::minimum) {
                const __m512 least = _mm512_cvtepi32_ps(fourSums(kept.minimum + 4 * b));
                c = _mm512_fmadd_ps(_mm512_mul_ps(least, _mm512_load_ps(kept.least + 16 * b)), x, c);
            }
        }
        const auto at = static_cast<std::ptrdiff_t>(t), column = static_cast<std::ptrdiff_t>(j);
        store(p.out + at * p.outStride + column, p.add ? p.add + at * p.addStride + column : nullptr, count, c);
    }
}

template <class F>
void each(const SuperProduct& all) {
    forEachSlice(all, [](const SuperProduct& p) {
        for (std::size_t t = 0; t < p.m; ++t) p.layout->planes == 2 ? rows<F, 2>(p, t) : rows<F, 1>(p, t);
    });
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
