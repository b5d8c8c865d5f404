// What the files of the kernels for interleaved rows share. They alone include it, inside their check of the compiler's
// flags.
#pragma once
#include "axial/ops/linear_vnni_blocks-inl.h"

namespace axial::kernels {
namespace {

inline __m512i four(const void* p) {
    int word;
    __builtin_memcpy(&word, p, 4);
    return _mm512_set1_epi32(word);
}
inline __m512 sixteenFloats(const void* halves) {
    return _mm512_cvtph_ps(_mm256_loadu_si256(static_cast<const __m256i*>(halves)));
}
// Asks memory for what comes so much later (fetch_ahead-inl.h has the reason).
template <std::size_t bytes, std::size_t distance = 2048>
inline void fetchAhead(const std::byte* w) {
    AXIAL_UNROLL
    for (std::size_t i = 0; i < bytes; i += 64) _mm_prefetch(w + distance + i, _MM_HINT_T0);
}
// Calls f<m>(t) for all of `count` rows of activations, 4 at a time and then the rest.
template <class F>
inline void inFoursOf(std::size_t count, F f) {
    std::size_t t = 0;
    for (; t + 4 <= count; t += 4) f.template operator()<4>(t);
    if (t + 2 <= count) {
        f.template operator()<2>(t);
        t += 2;
    }
    if (t < count) f.template operator()<1>(t);
}

}  // namespace
}  // namespace axial::kernels
