#include "axial/ops/interleaved_kernels.h"

#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__) && \
    defined(__AVX512VNNI__)

#include "axial/ops/interleaved-inl.h"

namespace axial::kernels {
namespace {

// Each format of groups of 32 codes below gives of block w of a group its scales, and, where it has them, minimums of
// 16 rows; and for dword q of `quads` of its codes vectors of four unsigned codes of each row, which meet the
// activations from at(n) + 4 q on. `correct` is that of linear_vnni_blocks-inl.h.
struct SideNibbles {
    static constexpr int quads = 4, vectors = 2;
    static constexpr int at(int n) { return 16 * n; }
};
struct SideQ4_0 : SideNibbles {
    static constexpr Format format = Format::q4_0;
    static constexpr bool minimum = false;
    static void codes(const std::byte* w, int quad, __m512i (&to)[2]) {
        const __m512i nibbles = load(w + 64 * quad);
        to[0] = lowNibbles(nibbles);
        to[1] = highNibbles(nibbles);
    }
    static __m512i correct(__m512i sums, __m512i bias) { return Q4_0::correct(sums, bias); }
};
struct SideIQ4_NL : SideNibbles {
    static constexpr Format format = Format::iq4_nl;
    static constexpr bool minimum = false;
    static void codes(const std::byte* w, int quad, __m512i (&to)[2]) {
        const __m512i nibbles = load(w + 64 * quad), table = Levels::table(iq4Levels);
        to[0] = _mm512_shuffle_epi8(table, lowNibbles(nibbles));
        to[1] = _mm512_shuffle_epi8(table, highNibbles(nibbles));
    }
    static __m512i correct(__m512i sums, __m512i bias) { return Levels::correct(sums, bias); }
};
struct SideQ4_1 : SideNibbles {
    static constexpr Format format = Format::q4_1;
    static constexpr bool minimum = true;
    static void codes(const std::byte* w, int quad, __m512i (&to)[2]) { SideQ4_0::codes(w + 64, quad, to); }
    static __m512i correct(__m512i sums, __m512i) { return sums; }
};
template <bool smallest>
struct SideQ5_01 : SideNibbles {
    static constexpr Format format = smallest ? Format::q5_1 : Format::q5_0;
    static constexpr bool minimum = smallest;
    static void codes(const std::byte* w, int quad, __m512i (&to)[2]) {
        // Bits 4 quad to 4 quad + 3 of a row's fifth bits, and those 16 higher, each as bit 4 of a byte.
        const std::byte* q = w + (smallest ? 64 : 0);
        SideQ4_0::codes(q + 64, quad, to);
        const __m512i fifth = load(q);
        const __m512i places = _mm512_set1_epi32(0x10101010);
        AXIAL_UNROLL
        for (int n = 0; n < 2; ++n) {
            const __m512i bits = _mm512_and_si512(_mm512_srli_epi32(fifth, static_cast<unsigned>(16 * n + 4 * quad)),
                                                  _mm512_set1_epi32(15));
            // bit i to bit 8 i + 4: times 1 << 4, 1 << 11, 1 << 18 and 1 << 25, of which no two products meet
            const __m512i spread = _mm512_mullo_epi32(bits, _mm512_set1_epi32(0x02040810));
            to[n] = _mm512_ternarylogic_epi32(spread, places, to[n], 0xea);
        }
    }
    static __m512i correct(__m512i sums, __m512i bias) { return Q5_01<smallest>::correct(sums, bias); }
};
struct SideQ8_0 {
    static constexpr Format format = Format::q8_0;
    static constexpr int quads = 8, vectors = 1;
    static constexpr bool minimum = false;
    static constexpr int at(int) { return 0; }
    static void codes(const std::byte* w, int quad, __m512i (&to)[1]) {
        to[0] = _mm512_xor_si512(load(w + 64 * quad), _mm512_set1_epi8(-128));
    }
    static __m512i correct(__m512i sums, __m512i bias) { return _mm512_add_epi32(sums, bias); }
};

template <class F, int planes, int m>
inline void group32(const BlockProduct& p, const std::byte* group, std::size_t j, std::size_t t) {
    constexpr BlockCut cut = cutOf(F::format);
    const std::size_t blocks = p.layout->k / 32;
    const std::byte* halves = group + blocks * 64 * cut.dwords;
    Row x[m];
    for (int i = 0; i < m; ++i) x[i] = rowOf(p.x + (t + static_cast<std::size_t>(i)) * p.layout->bytes, *p.layout, 32);
    __m512 c[m];
    for (int i = 0; i < m; ++i) c[i] = _mm512_setzero_ps();
    for (std::size_t b = 0; b < blocks; ++b) {
        const std::byte* w = group + b * 64 * cut.dwords;
        fetchAhead<64 * cut.dwords>(w);
        if constexpr (!F::minimum) _mm_prefetch(halves + 16 * p.rowBytes + 32 * b, _MM_HINT_T0);  // of the next group
        __m512i high[m], low[m];
        for (int i = 0; i < m; ++i) high[i] = low[i] = zero();
        AXIAL_UNROLL
        for (int quad = 0; quad < F::quads; ++quad) {
            __m512i codes[F::vectors];
            F::codes(w, quad, codes);
            AXIAL_UNROLL
            for (int n = 0; n < F::vectors; ++n) {
                AXIAL_UNROLL
                for (int i = 0; i < m; ++i) {
                    const std::size_t at = 32 * b + static_cast<std::size_t>(F::at(n) + 4 * quad);
                    high[i] = _mm512_dpbusd_epi32(high[i], codes[n], four(x[i].codes + at));
                    if constexpr (planes == 2) low[i] = _mm512_dpbusd_epi32(low[i], codes[n], four(x[i].low + at));
                }
            }
        }
        __m512 scale, least;
        if constexpr (F::minimum) {
            const __m512i both = load(w);
            scale = _mm512_cvtph_ps(_mm512_cvtepi32_epi16(both));
            least = _mm512_cvtph_ps(_mm512_cvtepi32_epi16(_mm512_srli_epi32(both, 16)));
        } else {
            scale = sixteenFloats(halves + 32 * b);
        }
        AXIAL_UNROLL
        for (int i = 0; i < m; ++i) {
            __m512i sum = planes == 2 ? _mm512_add_epi32(_mm512_slli_epi32(high[i], 8), low[i]) : high[i];
            sum = F::correct(sum, _mm512_set1_epi32(x[i].bias[b]));
            c[i] = _mm512_fmadd_ps(_mm512_mul_ps(_mm512_cvtepi32_ps(sum), scale), _mm512_set1_ps(x[i].scale[b]), c[i]);
            if constexpr (F::minimum) c[i] = _mm512_fmadd_ps(least, _mm512_set1_ps(x[i].sum[b]), c[i]);
        }
    }
    for (int i = 0; i < m; ++i) {
        const auto row = static_cast<std::ptrdiff_t>(t) + i, column = static_cast<std::ptrdiff_t>(j);
        store(p.out + row * p.outStride + column, p.add ? p.add + row * p.addStride + column : nullptr, 16, c[i]);
    }
}

template <class F>
void rows32(const BlockProduct& p) {
    const std::byte* group = p.w;
    for (std::size_t j = 0; j < p.rows; j += 16, group += 16 * p.rowBytes)
        inFoursOf(p.m, [&]<int m>(std::size_t t) {
            p.layout->planes == 2 ? group32<F, 2, m>(p, group, j, t) : group32<F, 1, m>(p, group, j, t);
        });
}

}  // namespace

void dotInterleavedVnni(const BlockProduct& p) noexcept {
    switch (p.format) {
        case Format::q4_0:
            return rows32<SideQ4_0>(p);
        case Format::q4_1:
            return rows32<SideQ4_1>(p);
        case Format::q5_0:
            return rows32<SideQ5_01<false>>(p);
        case Format::q5_1:
            return rows32<SideQ5_01<true>>(p);
        case Format::iq4_nl:
            return rows32<SideIQ4_NL>(p);
        default:
            return rows32<SideQ8_0>(p);
    }
}

}  // namespace axial::kernels

#else

namespace axial::kernels {
void dotInterleavedVnni(const BlockProduct&) noexcept {}
}  // namespace axial::kernels

#endif
