// What the two files of the kernels for split floats share. They alone include it, inside their check of the compiler's
// flags.
#pragma once
#include "axial/ops/linear_vnni-inl.h"
#include "axial/ops/split_floats.h"

namespace axial::kernels {
namespace {

// Values that meet in one product of tiles, and the bytes of a part of 16 rows of them.
constexpr std::size_t step = 32, partBytes = 16 * step * 2;
// Values of a row of weights that are unpacked together for many rows of activations: more do not stay in the
// second-level cache beside those.
constexpr std::size_t mostSteps = 32;

constexpr std::size_t stepsOf(std::size_t k) { return (k + step - 1) / step; }

struct Parts {
    __m512 high, low;
};
// Rounded to the nearer number of 8 bits, halves away from zero: for F16 both parts are exact, whichever way.
inline Parts partsOf(__m512 v) {
    const __m512i rounded = _mm512_add_epi32(_mm512_castps_si512(v), _mm512_set1_epi32(0x8000));
    const __m512 high = _mm512_castsi512_ps(_mm512_and_si512(rounded, _mm512_set1_epi32(static_cast<int>(0xffff0000))));
    return {high, _mm512_sub_ps(v, high)};
}
// bfloat16 numbers in the high halves of two vectors, those of `even` into the low halves.
inline __m512i pairs(__m512 even, __m512 odd) {
    return _mm512_or_si512(_mm512_srli_epi32(_mm512_castps_si512(even), 16), _mm512_castps_si512(odd));
}

// ---- weights: 32 numbers of 16 rows as a group has them, [number][row]

struct F16 {
    static constexpr bool hasLow = true;
    static constexpr int xParts = activationParts(Format::f16);
    static constexpr std::size_t bytes = 2 * partBytes, xBytes = xParts * partBytes;  // of a step
    static inline Parts parts(const std::byte* sixteen) {
        return partsOf(_mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(sixteen))));
    }
    // As the tiles want them: two numbers of each row side by side, the high parts and then the low ones.
    static inline void pack(const std::byte* from, std::byte* to) {
        AXIAL_UNROLL
        for (std::size_t p = 0; p < partBytes; p += 64) {
            const Parts even = parts(from + p), odd = parts(from + p + 32);
            _mm512_store_si512(to + p, pairs(even.high, odd.high));
            _mm512_store_si512(to + partBytes + p, pairs(even.low, odd.low));
        }
    }
};
struct BF16 {
    static constexpr bool hasLow = false;
    static constexpr int xParts = activationParts(Format::bf16);
    static constexpr std::size_t bytes = partBytes, xBytes = xParts * partBytes;
    static inline Parts parts(const std::byte* sixteen) {
        const __m256i halves = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(sixteen));
        return {_mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(halves), 16)), _mm512_setzero_ps()};
    }
    static inline void pack(const std::byte* from, std::byte* to) {
        const __m512i order = _mm512_set_epi16(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8, 23, 7, 22,
                                               6, 21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
        for (std::size_t p = 0; p < partBytes; p += 64)
            _mm512_store_si512(to + p, _mm512_permutexvar_epi16(order, _mm512_loadu_si512(from + p)));
    }
};

// Up to 32 numbers of up to 16 rows, [number][row], with zeros for those that are not there.
inline void turnHalves(const std::byte* rows, std::ptrdiff_t rowBytes, std::size_t count, std::size_t numbers,
                       std::byte* to, std::size_t stored = step) {
    const auto there = static_cast<__mmask32>(numbers >= step ? 0xffffffffu : (1u << numbers) - 1u);
    __m512i r[16];
    AXIAL_UNROLL
    for (std::size_t i = 0; i < 16; ++i)
        r[i] = i < count ? _mm512_maskz_loadu_epi16(there, rows + static_cast<std::ptrdiff_t>(i) * rowBytes)
                         : _mm512_setzero_si512();
    transpose(r);
    const __m512i order = _mm512_set_epi16(31, 29, 27, 25, 23, 21, 19, 17, 15, 13, 11, 9, 7, 5, 3, 1, 30, 28, 26, 24,
                                           22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
    AXIAL_UNROLL
    for (std::size_t i = 0; i < 16; ++i) {
        const __m512i two = _mm512_permutexvar_epi16(order, r[i]);
        if (2 * i + 2 <= stored)
            _mm512_storeu_si512(to + 64 * i, two);
        else if (2 * i < stored)
            _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + 64 * i), _mm512_castsi512_si256(two));
    }
}

// Numbers s * 32 and so on of the group that row j begins: where they stand, or made in `memory`.
inline const std::byte* numbersOf(const SplitProduct& p, std::size_t j, std::size_t s, std::byte* memory) {
    const std::size_t left = p.k - s * step, there = left < step ? left : step;
    if (!p.interleaved) {
        const std::size_t count = p.rows - j < 16 ? p.rows - j : 16;
        const std::byte* rows = p.w + static_cast<std::ptrdiff_t>(j) * p.rowBytes;
        turnHalves(rows + s * step * 2, p.rowBytes, count, there, memory);
        AXIAL_UNROLL  // the next 16 rows are asked for in the order of memory
            for (std::ptrdiff_t i = 0; i < 16; ++i)
                _mm_prefetch(rows + 16 * p.rowBytes + 64 * (16 * static_cast<std::ptrdiff_t>(s) + i), _MM_HINT_T1);
        return memory;
    }
    const std::byte* from = p.w + static_cast<std::ptrdiff_t>(j) * p.rowBytes + s * step * 32;
    if (there == step) return from;
    __builtin_memset(memory, 0, step * 32);
    __builtin_memcpy(memory, from, there * 32);
    return memory;
}

// ---- activations: of one or two rows the lowest parts of all, as floats, then the next. Of more, 16 at a time and for
// each 32 values, the lowest parts and then the next as tiles have them.
constexpr std::size_t mostVectors = 2;

constexpr std::size_t paddedFloats(std::size_t k) { return stepsOf(k) * step; }
constexpr std::size_t tilesOf(std::size_t m) { return (m + 15) / 16; }

// ---- results, and what is asked for early

inline void finish(const SplitProduct& p, std::size_t t, std::size_t j, __m512 c) {
    if (t >= p.m || j >= p.rows || p.marked[t]) return;
    const auto row = static_cast<std::ptrdiff_t>(t);
    store(p.out + row * p.outStride + j, p.add ? p.add + row * p.addStride + j : nullptr, p.rows - j, c);
}

// Asks for what comes later, from memory into the second-level cache, or where there is much to compute in between, and
// so nothing to spare in the first-level one, half as far ahead. Measured, two threads, of 33 GB/s that can be read: 33
// with one or two rows of activations, 28 with 8, 24 with 16, 21 with 32; other distances give up to a third less.
template <bool much>
inline void fetchAhead(const std::byte* w) {
    much ? _mm_prefetch(w + 2048, _MM_HINT_T0) : _mm_prefetch(w + 4096, _MM_HINT_T1);
}
template <bool much>
inline void fetchStepAhead(const std::byte* w) {
    AXIAL_UNROLL
    for (std::size_t i = 0; i < partBytes; i += 64) fetchAhead<much>(w + i);
}

}  // namespace
}  // namespace axial::kernels
