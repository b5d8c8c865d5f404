#include "axial/ops/linear_vnni.h"

#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__) && \
    defined(__AVX512VNNI__)

#include "axial/ops/linear_vnni-inl.h"

namespace axial::kernels {
namespace {

// The greatest magnitude of each of 16 blocks of 32 values, as the bits of a float; those of an infinity or a NaN are
// greater than all others. From block `blocks` on there is nothing: 0.
inline __m512i magnitudes(const float* x, std::size_t blocks) {
    const __m512i noSign = _mm512_set1_epi32(0x7fffffff);
    __m512i m[16];
    for (std::size_t b = 0; b < 16; ++b)
        m[b] = b < blocks ? _mm512_max_epi32(_mm512_and_si512(_mm512_loadu_si512(x + 32 * b), noSign),
                                             _mm512_and_si512(_mm512_loadu_si512(x + 32 * b + 16), noSign))
                          : _mm512_setzero_si512();
    transpose(m);
    AXIAL_UNROLL
    for (int step = 8; step > 0; step /= 2) {
        AXIAL_UNROLL
        for (int i = 0; i < step; ++i) m[i] = _mm512_max_epi32(m[i], m[i + step]);
    }
    return m[0];
}

inline __m512i oneSums(const std::int8_t* codes) {
    return _mm512_dpbusd_epi32(_mm512_setzero_si512(), _mm512_set1_epi8(1), _mm512_loadu_si512(codes));
}

// The sums of 16 groups of 16 codes.
inline __m512i groupSums(const std::int8_t* codes) {
    return inFours(oneSums(codes), oneSums(codes + 64), oneSums(codes + 128), oneSums(codes + 192));
}
inline void putBytes(std::int8_t* to, __m512i numbers) {
    _mm_store_si128(reinterpret_cast<__m128i*>(to), _mm512_cvtepi32_epi8(numbers));
}

// Sums of codes for 16 groups from group g on, and what goes with them.
inline void putGroups(std::byte* row, const QuantisedRow::Groups& at, std::size_t g, __m512i sums, __m512 scale) {
    _mm512_storeu_ps(row + at.scale + 4 * g, scale);
    _mm512_storeu_si512(row + at.bias + 4 * g, _mm512_sub_epi32(_mm512_setzero_si512(), _mm512_slli_epi32(sums, 7)));
    _mm512_storeu_ps(row + at.sum + 4 * g, _mm512_mul_ps(scale, _mm512_cvtepi32_ps(sums)));
}

}  // namespace

void quantiseRowVnni(const float* x, const QuantisedRow& layout, std::byte* row) noexcept {
    const std::size_t all = layout.k / 32;
    for (std::size_t first = 0; first < all; first += 16, x += 512) {
        const std::size_t blocks = all - first < 16 ? all - first : 16;
        const __m512i bits = magnitudes(x, blocks);
        const __m512 largest = _mm512_castsi512_ps(bits);
        const __mmask16 finite = _mm512_cmplt_epi32_mask(bits, _mm512_set1_epi32(0x7f800000));
        const __mmask16 some = finite & _mm512_cmpge_epi32_mask(bits, _mm512_set1_epi32((127 - 100) << 23));
        const __m512 most = _mm512_set1_ps(layout.planes == 2 ? 32639.0f : 127.0f);
        const __m512 scale = _mm512_mask_mov_ps(_mm512_maskz_div_ps(some, largest, most),
                                                static_cast<__mmask16>(~finite), _mm512_set1_ps(__builtin_nanf("")));
        alignas(64) float inverse[16];
        _mm512_store_ps(inverse, _mm512_maskz_div_ps(some, most, largest));
        alignas(64) std::int8_t high[512] = {}, low[512] = {};
        for (std::size_t b = 0; b < blocks; ++b) {
            if (!(some >> b & 1)) continue;
            const __m512 by = _mm512_set1_ps(inverse[b]);
            AXIAL_UNROLL
            for (std::size_t i = 32 * b; i < 32 * b + 32; i += 16) {
                __m512i code = _mm512_cvtps_epi32(_mm512_mul_ps(_mm512_loadu_ps(x + i), by));
                if (layout.planes == 2) {
                    const __m512i upper = _mm512_srai_epi32(_mm512_add_epi32(code, _mm512_set1_epi32(128)), 8);
                    putBytes(low + i, _mm512_sub_epi32(code, _mm512_slli_epi32(upper, 8)));
                    code = upper;
                }
                putBytes(high + i, code);
            }
        }
        for (std::size_t i = 0; i < 32 * blocks; i += 64) {
            _mm512_storeu_si512(row + 32 * first + i, _mm512_load_si512(high + i));
            if (layout.planes == 2) _mm512_storeu_si512(row + layout.low + 32 * first + i, _mm512_load_si512(low + i));
        }
        __m512i sums[2];
        AXIAL_UNROLL
        for (int i = 0; i < 2; ++i) {
            sums[i] = groupSums(high + 256 * i);
            if (layout.planes == 2) sums[i] = _mm512_add_epi32(_mm512_slli_epi32(sums[i], 8), groupSums(low + 256 * i));
        }
        const __m512i even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
        const __m512i odd = _mm512_add_epi32(even, _mm512_set1_epi32(1));
        const __m512i pairs = _mm512_add_epi32(_mm512_permutex2var_epi32(sums[0], even, sums[1]),
                                               _mm512_permutex2var_epi32(sums[0], odd, sums[1]));
        putGroups(row, layout.of32, first, pairs, scale);
        const __m512i half = _mm512_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7);
        putGroups(row, layout.of16, 2 * first, sums[0], _mm512_permutexvar_ps(half, scale));
        if (blocks > 8)
            putGroups(row, layout.of16, 2 * first + 16, sums[1],
                      _mm512_permutexvar_ps(_mm512_add_epi32(half, _mm512_set1_epi32(8)), scale));
    }
}

}  // namespace axial::kernels

#else

namespace axial::kernels {
void quantiseRowVnni(const float*, const QuantisedRow&, std::byte*) noexcept {}
}  // namespace axial::kernels

#endif
