#include "axial/ops/interleaved_kernels.h"

#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__) && \
    defined(__AVX512VNNI__)

#include "axial/ops/interleaved_superblocks-inl.h"

namespace axial::kernels {
namespace {

// One group of stored rows against m rows of activations from row t on.
template <class F, int planes, int m>
inline void superGroup(const SuperProduct& p, const std::byte* group, std::size_t j, std::size_t t,
                       const std::int16_t* sums) {
    const SuperRow& layout = *p.layout;
    constexpr std::size_t blockBytes = 64 * cutOf(F::format).dwords;
    const std::size_t blocks = layout.k / 256;
    const std::byte* halves = group + blocks * blockBytes;
    const std::byte* x[m];
    for (int i = 0; i < m; ++i) x[i] = p.x + (t + static_cast<std::size_t>(i)) * layout.bytes;
    __m512 c[m];
    for (int i = 0; i < m; ++i) c[i] = _mm512_setzero_ps();
    for (std::size_t b = 0; b < blocks; ++b) {
        const std::byte* w = group + b * blockBytes;
        fetchAhead<blockBytes, 2048 + (F::minimum ? 0 : blockBytes)>(w);  // without minimums the scales come last
        if constexpr (!F::minimum) _mm_prefetch(halves + 16 * p.rowBytes + 32 * b, _MM_HINT_T0);  // of the next group
        const typename F::Numbers numbers = F::numbers(w);
        __m512i high[m], low[m];
        for (int i = 0; i < m; ++i) high[i] = low[i] = zero();
        AXIAL_UNROLL
        for (int part = 0; part < F::parts; ++part) {
            __m512i upper[2][m], lower[2][m];
            for (int i = 0; i < m; ++i) upper[0][i] = upper[1][i] = lower[0][i] = lower[1][i] = zero();
            AXIAL_UNROLL
            for (int quad = 0; quad < F::quads; ++quad) {
                __m512i codes[2];
                F::codes(w, part, quad, codes);
                AXIAL_UNROLL
                for (int n = 0; n < 2; ++n) {
                    AXIAL_UNROLL
                    for (int i = 0; i < m; ++i) {
                        const std::byte* at = x[i] + 256 * b + F::at(part, n) + 4 * quad;
                        upper[n][i] = _mm512_dpbusd_epi32(upper[n][i], codes[n], four(at));
                        if constexpr (planes == 2)
                            lower[n][i] = _mm512_dpbusd_epi32(lower[n][i], codes[n], four(at + layout.low));
                    }
                }
            }
            AXIAL_UNROLL
            for (int n = 0; n < 2; ++n) {
                const __m512i scale = F::scale(numbers, part, n);
                AXIAL_UNROLL
                for (int i = 0; i < m; ++i) {
                    high[i] = _mm512_add_epi32(high[i], _mm512_mullo_epi32(upper[n][i], scale));
                    if constexpr (planes == 2)
                        low[i] = _mm512_add_epi32(low[i], _mm512_mullo_epi32(lower[n][i], scale));
                }
            }
        }
        AXIAL_UNROLL
        for (int i = 0; i < m; ++i) {
            const auto* xScale = reinterpret_cast<const float*>(x[i] + layout.scale);
            const std::int16_t* sum = sums + ((t + static_cast<std::size_t>(i)) * blocks + b) * 2 * F::pairs * planes;
            c[i] = addBlock<F, planes>(c[i], high[i], low[i], numbers, w, halves + 32 * b, sum, xScale[b]);
        }
    }
    for (int i = 0; i < m; ++i) storeSixteen(p, t + static_cast<std::size_t>(i), j, c[i]);
}

template <class F, int planes>
void superRows(const SuperProduct& p) {
    auto* sums = reinterpret_cast<std::int16_t*>(p.scratch);
    pairSums<F, planes>(p, sums);
    const std::byte* group = p.w;
    for (std::size_t j = 0; j < p.rows; j += 16, group += 16 * p.rowBytes)
        inFoursOf(p.m, [&]<int m>(std::size_t t) { superGroup<F, planes, m>(p, group, j, t, sums); });
}

// The product of the rows of activations from t on.
SuperProduct rowsFrom(SuperProduct p, std::size_t t) {
    const auto rows = static_cast<std::ptrdiff_t>(t);
    p.x += t * p.layout->bytes;
    p.m -= t;
    p.out += rows * p.outStride;
    if (p.add) p.add += rows * p.addStride;
    return p;
}

template <class F>
void superEach(const SuperProduct& p) {
    p.layout->planes == 2 ? superRows<F, 2>(p) : superRows<F, 1>(p);
}

}  // namespace

void dotSuperInterleaved(const SuperProduct& all) noexcept {
    SuperProduct p = all;
    for (; p.m >= fewestTiles; p = rowsFrom(p, p.m < mostTiles ? p.m : mostTiles)) {
        SuperProduct some = p;
        some.m = p.m < mostTiles ? p.m : mostTiles;
        dotSuperInterleavedTiles(some);
    }
    if (p.m == 0) return;
    if (p.format == Format::q4_k)
        superEach<SideQ45_K<false>>(p);
    else if (p.format == Format::q5_k)
        superEach<SideQ45_K<true>>(p);
    else
        superEach<SideQ6_K>(p);
}

}  // namespace axial::kernels

#else

namespace axial::kernels {
void dotSuperInterleaved(const SuperProduct&) noexcept {}
}  // namespace axial::kernels

#endif
