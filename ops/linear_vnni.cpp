#include "axial/ops/linear_vnni.h"

#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__) && \
    defined(__AVX512VNNI__)

#include "axial/ops/linear_vnni-inl.h"

namespace axial::kernels {
namespace {

inline __m512i product(const std::int8_t* w, const std::int8_t* x, std::size_t i, std::size_t end) {
    if (i >= end) return _mm512_setzero_si512();
    const __m512i shifted = _mm512_xor_si512(_mm512_loadu_si512(w + i), _mm512_set1_epi8(-128));
    return _mm512_dpbusd_epi32(_mm512_setzero_si512(), shifted, _mm512_loadu_si512(x + i));
}

// The products of 16 groups of codes in a row, from code `at` on: sums of (w + 128) * x.
template <int group>
inline __m512i groupProducts(const std::int8_t* w, const std::int8_t* x, std::size_t at, std::size_t end) {
    if constexpr (group == 16) {
        return inFours(product(w, x, at, end), product(w, x, at + 64, end), product(w, x, at + 128, end),
                       product(w, x, at + 192, end));
    } else {
        const __m512i low = sumsOfFour(product(w, x, at, end), product(w, x, at + 64, end),
                                       product(w, x, at + 128, end), product(w, x, at + 192, end));
        const __m512i high = sumsOfFour(product(w, x, at + 256, end), product(w, x, at + 320, end),
                                        product(w, x, at + 384, end), product(w, x, at + 448, end));
        const __m512i sums =
            _mm512_add_epi32(_mm512_shuffle_i32x4(low, high, 0x88), _mm512_shuffle_i32x4(low, high, 0xdd));
        const __m512i order = _mm512_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7, 8, 12, 9, 13, 10, 14, 11, 15);
        return _mm512_permutexvar_epi32(order, sums);
    }
}

inline void store(const CodeProduct& p, std::size_t t, std::size_t j, __m512 c) {
    const auto row = static_cast<std::ptrdiff_t>(t), column = static_cast<std::ptrdiff_t>(j);
    kernels::store(p.out + row * p.outStride + column, p.add ? p.add + row * p.addStride + column : nullptr, p.rows - j,
                   c);
}

// One row of activations against 16 rows of codes from row j on, each read in one go: 16 groups of a row at a time,
// whose results are turned so that the lanes are the rows of w.
template <int group, bool minimum>
void rowProducts(const CodeProduct& p, std::size_t t, std::size_t j) {
    const std::size_t groups = p.layout->k / group, end = p.layout->k;
    const std::size_t count = p.rows - j < 16 ? p.rows - j : 16;
    const Row x = rowOf(p.x + t * p.layout->bytes, *p.layout, group);
    __m512 c = _mm512_setzero_ps();
    for (std::size_t first = 0; first < groups; first += 16) {
        __m512i turned[16], least[16];
        const __m512i bias = _mm512_loadu_si512(x.bias + first);
        alignas(64) float products[16][16];
        for (std::size_t r = 0; r < count; ++r) {
            const std::int8_t* w = p.w.codes + (j + r) * p.w.codeStride;
            __m512i sums = groupProducts<group>(w, x.codes, first * group, end);
            if (x.low)
                sums = _mm512_add_epi32(_mm512_slli_epi32(sums, 8), groupProducts<group>(w, x.low, first * group, end));
            sums = _mm512_add_epi32(sums, bias);
            const __m512 scale = _mm512_loadu_ps(p.w.scale + (j + r) * p.w.groupStride + first);
            _mm512_store_ps(products[r], _mm512_mul_ps(_mm512_cvtepi32_ps(sums), scale));
        }
        AXIAL_UNROLL
        for (int r = 0; r < 16; ++r) turned[r] = _mm512_load_si512(products[r]);
        transpose(turned);
        if constexpr (minimum) {
            for (std::size_t r = 0; r < 16; ++r)
                least[r] = r < count ? _mm512_loadu_si512(p.w.minimum + (j + r) * p.w.groupStride + first)
                                     : _mm512_setzero_si512();
            transpose(least);
        }
        const std::size_t here = groups - first < 16 ? groups - first : 16;
        if (here == 16) {
            AXIAL_UNROLL
            for (int g = 0; g < 16; ++g) {
                c = _mm512_fmadd_ps(_mm512_castsi512_ps(turned[g]), _mm512_set1_ps(x.scale[first + g]), c);
                if constexpr (minimum)
                    c = _mm512_fmadd_ps(_mm512_castsi512_ps(least[g]), _mm512_set1_ps(x.sum[first + g]), c);
            }
        } else {
            for (std::size_t g = 0; g < here; ++g) {
                c = _mm512_fmadd_ps(_mm512_castsi512_ps(turned[g]), _mm512_set1_ps(x.scale[first + g]), c);
                if constexpr (minimum)
                    c = _mm512_fmadd_ps(_mm512_castsi512_ps(least[g]), _mm512_set1_ps(x.sum[first + g]), c);
            }
        }
    }
    store(p, t, j, c);
}

// 32 rows of weights in the order of the sweep: for each four codes along a row, the four of rows 0 to 15 and then
// those of rows 16 to 31, as unsigned codes + 128; and for each group the scales of all rows, and the minimums.
struct Panel {
    const __m512i* codes;
    const __m512 *scale, *minimum;
};

inline __m512i codesAt(const CodeProduct& p, std::size_t row, std::size_t at) {
    if (row >= p.rows) return _mm512_set1_epi8(-128);
    return _mm512_xor_si512(_mm512_loadu_si512(p.w.codes + row * p.w.codeStride + at), _mm512_set1_epi8(-128));
}
inline void packGroups(const CodeProduct& p, const float* from, std::size_t groups, __m512* to) {
    for (std::size_t half = 0; half < 2; ++half)
        for (std::size_t first = 0; first < groups; first += 16) {
            __m512i r[16];
            AXIAL_UNROLL
            for (std::size_t i = 0; i < 16; ++i)
                r[i] = 16 * half + i < p.rows ? _mm512_loadu_si512(from + (16 * half + i) * p.w.groupStride + first)
                                              : _mm512_setzero_si512();
            transpose(r);
            for (std::size_t g = 0; g < 16 && first + g < groups; ++g)
                to[2 * (first + g) + half] = _mm512_castsi512_ps(r[g]);
        }
}
template <bool minimum>
Panel pack(const CodeProduct& p) {
    const std::size_t k = p.layout->k, groups = k / p.form.group;
    auto* codes = reinterpret_cast<__m512i*>(p.scratch);
    for (std::size_t half = 0; half < 2; ++half)
        for (std::size_t at = 0; at < k; at += 64) {
            __m512i r[16];
            AXIAL_UNROLL
            for (std::size_t i = 0; i < 16; ++i) r[i] = codesAt(p, 16 * half + i, at);
            transpose(r);
            AXIAL_UNROLL
            for (std::size_t i = 0; i < 16; ++i) codes[at / 2 + 2 * i + half] = r[i];
        }
    __m512* scale = reinterpret_cast<__m512*>(p.scratch + 32 * ((k + 63) / 64 * 64));
    packGroups(p, p.w.scale, groups, scale);
    if constexpr (minimum) packGroups(p, p.w.minimum, groups, scale + 2 * groups);
    return {codes, scale, scale + 2 * groups};
}

inline __m512i fourCodes(const std::byte* p) {
    std::int32_t four;
    __builtin_memcpy(&four, p, 4);
    return _mm512_set1_epi32(four);
}

// sum += products of one group of 32 rows with one plane of `count` activations.
template <int group, int count>
[[gnu::always_inline]] inline void addProducts(__m512i (&sum)[2][count], const __m512i* codes,
                                               const std::byte* const (&x)[count], std::size_t at) {
    AXIAL_UNROLL
    for (int q = 0; q < group / 4; ++q) {
        const __m512i w0 = codes[2 * q], w1 = codes[2 * q + 1];
        AXIAL_UNROLL
        for (int i = 0; i < count; ++i) {
            const __m512i a = fourCodes(x[i] + at + 4 * q);
            sum[0][i] = _mm512_dpbusd_epi32(sum[0][i], w0, a);
            sum[1][i] = _mm512_dpbusd_epi32(sum[1][i], w1, a);
        }
    }
}

// 32 rows of weights against `count` rows of activations from t on. Sums stay in registers over the whole row.
template <int group, bool minimum, int planes, int count>
void tile(const CodeProduct& p, const Panel& w, std::size_t t) {
    const std::size_t groups = p.layout->k / group;
    const std::byte* x[count];
    AXIAL_UNROLL
    for (int i = 0; i < count; ++i) x[i] = p.x + (t + static_cast<std::size_t>(i)) * p.layout->bytes;
    const QuantisedRow::Groups& at = p.layout->groupsOf(group);
    __m512 c[2][count];
    AXIAL_UNROLL
    for (int i = 0; i < count; ++i) c[0][i] = c[1][i] = _mm512_setzero_ps();
    const __m512i* codes = w.codes;
    std::size_t biasAt = at.bias, scaleAt = at.scale, sumAt = at.sum, codesAt = 0;
    for (std::size_t g = 0; g < groups; ++g) {
        __m512i sum[2][count];
        if constexpr (planes == 2) {  // 256 times the high bytes' products, then the low ones'
            AXIAL_UNROLL
            for (int i = 0; i < count; ++i) sum[0][i] = sum[1][i] = _mm512_setzero_si512();
            addProducts<group>(sum, codes, x, codesAt);
            AXIAL_UNROLL
            for (int i = 0; i < count; ++i) {
                const __m512i bias = fourCodes(x[i] + biasAt);
                sum[0][i] = _mm512_add_epi32(_mm512_slli_epi32(sum[0][i], 8), bias);
                sum[1][i] = _mm512_add_epi32(_mm512_slli_epi32(sum[1][i], 8), bias);
            }
            addProducts<group>(sum, codes, x, p.layout->low + codesAt);
        } else {
            AXIAL_UNROLL
            for (int i = 0; i < count; ++i) sum[0][i] = sum[1][i] = fourCodes(x[i] + biasAt);
            addProducts<group>(sum, codes, x, codesAt);
        }
        const __m512 s0 = w.scale[2 * g], s1 = w.scale[2 * g + 1];
        AXIAL_UNROLL
        for (int i = 0; i < count; ++i) {
            const __m512 d = _mm512_set1_ps(*reinterpret_cast<const float*>(x[i] + scaleAt));
            c[0][i] = _mm512_fmadd_ps(_mm512_mul_ps(_mm512_cvtepi32_ps(sum[0][i]), s0), d, c[0][i]);
            c[1][i] = _mm512_fmadd_ps(_mm512_mul_ps(_mm512_cvtepi32_ps(sum[1][i]), s1), d, c[1][i]);
        }
        if constexpr (minimum) {
            const __m512 m0 = w.minimum[2 * g], m1 = w.minimum[2 * g + 1];
            AXIAL_UNROLL
            for (int i = 0; i < count; ++i) {
                const __m512 s = _mm512_set1_ps(*reinterpret_cast<const float*>(x[i] + sumAt));
                c[0][i] = _mm512_fmadd_ps(m0, s, c[0][i]);
                c[1][i] = _mm512_fmadd_ps(m1, s, c[1][i]);
            }
        }
        codes += group / 2;
        codesAt += group;
        biasAt += 4, scaleAt += 4, sumAt += 4;
    }
    AXIAL_UNROLL
    for (int i = 0; i < count; ++i) {
        store(p, t + static_cast<std::size_t>(i), 0, c[0][i]);
        if (p.rows > 16) store(p, t + static_cast<std::size_t>(i), 16, c[1][i]);
    }
}

constexpr std::size_t tileRows = 6;
constexpr std::size_t fewRows = 3;  // up to here the weights are not put in the order of the sweep

template <int group, bool minimum, int planes>
void sweep(const CodeProduct& p, const Panel& w) {
    std::size_t t = 0;
    for (; t + tileRows <= p.m; t += tileRows) tile<group, minimum, planes, tileRows>(p, w, t);
    switch (p.m - t) {
        case 1:
            return tile<group, minimum, planes, 1>(p, w, t);
        case 2:
            return tile<group, minimum, planes, 2>(p, w, t);
        case 3:
            return tile<group, minimum, planes, 3>(p, w, t);
        case 4:
            return tile<group, minimum, planes, 4>(p, w, t);
        case 5:
            return tile<group, minimum, planes, 5>(p, w, t);
    }
}

template <int group, bool minimum>
void dot(const CodeProduct& p) {
    if (p.m <= fewRows) {
        for (std::size_t j = 0; j < p.rows; j += 16)
            for (std::size_t t = 0; t < p.m; ++t) rowProducts<group, minimum>(p, t, j);
        return;
    }
    const Panel w = pack<minimum>(p);
    p.layout->planes == 2 ? sweep<group, minimum, 2>(p, w) : sweep<group, minimum, 1>(p, w);
}

}  // namespace

bool hasVnni() noexcept {
    static const bool has = [] {
        __builtin_cpu_init();
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
               __builtin_cpu_supports("avx512vnni");
    }();
    return has;
}

void dotCodesVnni(const CodeProduct& p) noexcept {
    if (p.form.group == 16)
        p.form.minimum ? dot<16, true>(p) : dot<16, false>(p);
    else
        p.form.minimum ? dot<32, true>(p) : dot<32, false>(p);
}

}  // namespace axial::kernels

#else

namespace axial::kernels {
bool hasVnni() noexcept { return false; }
void dotCodesVnni(const CodeProduct&) noexcept {}
}  // namespace axial::kernels

#endif
