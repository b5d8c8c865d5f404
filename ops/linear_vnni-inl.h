// What the files of the AVX-512 VNNI unit share. They alone include it, inside their check of the compiler's flags.
#pragma once
// g++ 12 takes the deliberately undefined registers in its own header for a mistake.
#if defined(__clang__)
#include <immintrin.h>
#else
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#include <immintrin.h>
#pragma GCC diagnostic pop
#endif

#include "axial/ops/linear_kernels.h"

#define AXIAL_UNROLL _Pragma("GCC unroll 16")

namespace axial::kernels {
namespace {

// Rows and columns of 16 x 16 dwords change places.
inline void transpose(__m512i (&r)[16]) {
    __m512i t[16];
    AXIAL_UNROLL
    for (int i = 0; i < 8; ++i) {
        t[2 * i] = _mm512_unpacklo_epi32(r[2 * i], r[2 * i + 1]);
        t[2 * i + 1] = _mm512_unpackhi_epi32(r[2 * i], r[2 * i + 1]);
    }
    AXIAL_UNROLL
    for (int i = 0; i < 4; ++i) {
        r[4 * i] = _mm512_unpacklo_epi64(t[4 * i], t[4 * i + 2]);
        r[4 * i + 1] = _mm512_unpackhi_epi64(t[4 * i], t[4 * i + 2]);
        r[4 * i + 2] = _mm512_unpacklo_epi64(t[4 * i + 1], t[4 * i + 3]);
        r[4 * i + 3] = _mm512_unpackhi_epi64(t[4 * i + 1], t[4 * i + 3]);
    }
    AXIAL_UNROLL
    for (int i = 0; i < 4; ++i) {
        t[i] = _mm512_shuffle_i32x4(r[i], r[i + 4], 0x88);
        t[i + 4] = _mm512_shuffle_i32x4(r[i], r[i + 4], 0xdd);
        t[i + 8] = _mm512_shuffle_i32x4(r[i + 8], r[i + 12], 0x88);
        t[i + 12] = _mm512_shuffle_i32x4(r[i + 8], r[i + 12], 0xdd);
    }
    AXIAL_UNROLL
    for (int i = 0; i < 4; ++i) {
        r[i] = _mm512_shuffle_i32x4(t[i], t[i + 8], 0x88);
        r[i + 4] = _mm512_shuffle_i32x4(t[i + 4], t[i + 12], 0x88);
        r[i + 8] = _mm512_shuffle_i32x4(t[i], t[i + 8], 0xdd);
        r[i + 12] = _mm512_shuffle_i32x4(t[i + 4], t[i + 12], 0xdd);
    }
}

// 16 rows of numbers, one vector for each column.
inline void turn(const std::byte* from, std::size_t rowBytes, std::size_t rows, std::size_t columns, __m512i* to) {
    for (std::size_t first = 0; first < columns; first += 16) {
        __m512i r[16];
        AXIAL_UNROLL
        for (std::size_t i = 0; i < 16; ++i)
            r[i] = i < rows ? _mm512_loadu_si512(from + i * rowBytes + 4 * first) : _mm512_setzero_si512();
        transpose(r);
        if (columns - first >= 16) {
            AXIAL_UNROLL
            for (std::size_t i = 0; i < 16; ++i) to[first + i] = r[i];
        } else {
            for (std::size_t i = 0; i < columns - first; ++i) to[first + i] = r[i];
        }
    }
}

// Dword 4 l + i of the result: the sum of the four dwords in part l of v[i].
inline __m512i sumsOfFour(__m512i a, __m512i b, __m512i c, __m512i d) {
    const __m512i ab = _mm512_add_epi32(_mm512_unpacklo_epi32(a, b), _mm512_unpackhi_epi32(a, b));
    const __m512i cd = _mm512_add_epi32(_mm512_unpacklo_epi32(c, d), _mm512_unpackhi_epi32(c, d));
    return _mm512_add_epi32(_mm512_unpacklo_epi64(ab, cd), _mm512_unpackhi_epi64(ab, cd));
}

// The sums of 16 groups whose four dwords each lie side by side, four groups in each of a, b, c and d.
inline __m512i inFours(__m512i a, __m512i b, __m512i c, __m512i d) {
    return _mm512_permutexvar_epi32(_mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15),
                                    sumsOfFour(a, b, c, d));
}

struct Row {
    const std::int8_t *codes, *low;  // low: of two planes, else nullptr
    const float *scale, *sum;
    const std::int32_t* bias;
};
inline Row rowOf(const std::byte* row, const QuantisedRow& layout, std::size_t group) {
    const QuantisedRow::Groups& at = layout.groupsOf(group);
    return {reinterpret_cast<const std::int8_t*>(row),
            layout.planes == 2 ? reinterpret_cast<const std::int8_t*>(row + layout.low) : nullptr,
            reinterpret_cast<const float*>(row + at.scale), reinterpret_cast<const float*>(row + at.sum),
            reinterpret_cast<const std::int32_t*>(row + at.bias)};
}

// f(part of the product) for 64 rows of weights after the other, which stay in a cache while each row of activations
// meets them; for all at once where there is one such row.
template <class Product, class F>
inline void forEachSlice(const Product& all, F f) {
    Product part = all;
    const std::size_t most = all.m == 1 ? all.rows : 64;
    for (std::size_t j = 0; j < all.rows; j += most) {
        part.rows = all.rows - j < most ? all.rows - j : most;
        f(part);
        part.w += static_cast<std::ptrdiff_t>(part.rows) * all.rowBytes;
        part.out += part.rows;
        if (part.add) part.add += part.rows;
    }
}

// c, and what is to be added to it, to the first `count` (at most 16) outputs.
inline void store(float* out, const float* add, std::size_t count, __m512 c) {
    const auto mask = static_cast<__mmask16>(count >= 16 ? 0xffffu : (1u << count) - 1u);
    if (add) c = _mm512_add_ps(_mm512_maskz_loadu_ps(mask, add), c);
    _mm512_mask_storeu_ps(out, mask, c);
}

}  // namespace
}  // namespace axial::kernels
