// What the files of the superblock kernels share. They alone include it, inside their check of the compiler's flags.
#pragma once
#include "axial/ops/linear_vnni-inl.h"

namespace axial::kernels {
namespace {

// float(256 * high + low), rounded once, for |256 * high + low| < 2^39: the upper part of the number in steps of 2^20
// and the lower one are exact floats.
inline __m512 asOneFloat(__m512i high, __m512i low) {
    const __m512i upper = _mm512_add_epi32(high, _mm512_srai_epi32(low, 8));
    const __m512i rest = _mm512_or_si512(_mm512_slli_epi32(_mm512_and_si512(upper, _mm512_set1_epi32(4095)), 8),
                                         _mm512_and_si512(low, _mm512_set1_epi32(255)));
    return _mm512_fmadd_ps(_mm512_cvtepi32_ps(_mm512_srai_epi32(upper, 12)), _mm512_set1_ps(0x1p20f),
                           _mm512_cvtepi32_ps(rest));
}

}  // namespace
}  // namespace axial::kernels
