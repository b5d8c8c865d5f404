#include "axial/ops/linear_vnni.h"

#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__) && \
    defined(__AVX512VNNI__)

#include "axial/ops/linear_vnni_blocks-inl.h"

namespace axial::kernels {
namespace {

// Memory is asked for what comes so many bytes later: see fetch_ahead-inl.h, which has the figures.
constexpr std::size_t ahead = 2048;

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
    for (; g + 16 <= groups; g += 16, w += F::bytes) {
        AXIAL_UNROLL
        for (int i = 0; i < F::bytes; i += 64) _mm_prefetch(w + ahead + i, _MM_HINT_T0);
        compute(w, g);
    }
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
bool each(const BlockProduct& all) {
    forEachSlice(all, [](const BlockProduct& p) {
        for (std::size_t t = 0; t < p.m; ++t) p.layout->planes == 2 ? rows<F, 2>(p, t) : rows<F, 1>(p, t);
    });
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
        case Format::q5_0:
            return each<Q5_01<false>>(p);
        case Format::q5_1:
            return each<Q5_01<true>>(p);
        case Format::iq4_nl:
            return each<IQ4_NL>(p);
        case Format::iq4_xs:
            return each<IQ4_XS>(p);
        case Format::mxfp4:
            return each<MXFP4>(p);
        case Format::q2_k:
            return each<Q2_K>(p);
        case Format::q3_k:
            return each<Q3_K>(p);
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
