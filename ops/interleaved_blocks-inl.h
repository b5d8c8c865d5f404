// For AVX2: groups of interleaved rows (interleaved_kernels.h), eight of their 16 rows at a time, by the rule of
// linear_kernels.h. Included by kernel files only, after targets.h.
#if defined(AXIAL_OPS_INTERLEAVED_BLOCKS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef AXIAL_OPS_INTERLEAVED_BLOCKS_INL_H
#undef AXIAL_OPS_INTERLEAVED_BLOCKS_INL_H
#else
#define AXIAL_OPS_INTERLEAVED_BLOCKS_INL_H
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include "axial/ops/interleaved_kernels.h"
#include "axial/ops/linear_rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace axial::kernels::HWY_NAMESPACE {
#if HWY_TARGET == HWY_AVX2

// A block of eight of the rows: offsets are those in the block as it is stored.
template <Format format>
struct Side {
    static constexpr BlockCut cut = cutOf(format);
    const uint8_t *dwords, *halves;
    HWY_INLINE VI At(size_t offset) const { return Bits(hn::LoadU(DB(), dwords + 16 * (offset - cut.first))); }
};
// What linear_blocks-inl.h asks of rows of blocks.
template <Format format>
HWY_INLINE VI Dwords(const Side<format>& w, size_t offset) {
    return w.At(offset);
}
template <Format format>
HWY_INLINE void Turn(const Side<format>& w, size_t offset, VI* v) {
    AXIAL_UNROLL
    for (size_t i = 0; i < 4; ++i) v[i] = w.At(offset + 4 * i);
}
template <Format format>
HWY_INLINE VF HalvesAt(const Side<format>& w, size_t offset) {
    if constexpr (Side<format>::cut.half != BlockCut::none) {
        return VF{_mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(w.halves)))};
    } else {
        VF lower, upper;
        BothHalves(w.At(offset / 4 * 4), lower, upper);
        return offset % 4 == 0 ? lower : upper;
    }
}

// In place of the vectors that a format's Step turns: those that stand in memory are read where they are needed.
template <Format format, int offset, int perStep>
struct InMemory {
    const Side<format>& w;
    size_t step;
    HWY_INLINE VI operator[](int i) const {
        return w.At(static_cast<size_t>(offset + 4 * i) + static_cast<size_t>(perStep) * step);
    }
};
template <Format format>
struct Stepped : InMemory<format, format == Format::q4_1 ? 4 : 2, 0> {};
template <>
struct Stepped<Format::q4_k> : InMemory<Format::q4_k, 16, 32> {};
template <>
struct Stepped<Format::q5_k> : InMemory<Format::q5_k, 48, 32> {
    HWY_INLINE VI operator[](int i) const {
        if (i < 8) return InMemory<Format::q5_k, 48, 32>::operator[](i);
        return VI{
            _mm256_srl_epi32(w.At(static_cast<size_t>(4 * i - 16)).raw, _mm_cvtsi32_si128(static_cast<int>(2 * step)))};
    }
};
template <>
struct Stepped<Format::q6_k> : InMemory<Format::q6_k, 0, 64> {
    HWY_INLINE VI operator[](int i) const {
        if (i < 16) return InMemory<Format::q6_k, 0, 64>::operator[](i);
        return w.At(static_cast<size_t>(64 + 4 * i) + 32 * step);
    }
};
template <Format format>
    requires(format == Format::q5_0 || format == Format::q5_1)
struct Stepped<format> : InMemory<format, format == Format::q5_1 ? 8 : 6, 0> {
    using Memory = InMemory<format, format == Format::q5_1 ? 8 : 6, 0>;
    VI fifth[4] = {};  // made once for a block
    HWY_INLINE VI operator[](int i) const { return i < 4 ? Memory::operator[](i) : fifth[i - 4]; }
};
template <>
struct Stepped<Format::iq4_nl> : InMemory<Format::iq4_nl, 2, 0> {
    HWY_INLINE VI operator[](int i) const {
        return i < 4 ? InMemory<Format::iq4_nl, 2, 0>::operator[](i) : IQ4_NL::Table(iq4Levels.data(), IQ4_NL::zero);
    }
};

// As many blocks as are met by one half of the rows and then by the other, so that the second finds them in the cache.
template <size_t blockBytes>
constexpr size_t partOf = blockBytes >= 2048 ? 1 : 4096 / blockBytes;

// One group of rows against m rows of activations; `next` bytes on stands the next one.
template <Format format, class F, class Dot, int planes, int m>
HWY_NOINLINE void SideBySide(const uint8_t* group, ptrdiff_t next, size_t k, const Activated* all, float (*out)[16]) {
    constexpr size_t blockBytes = 64 * cutOf(format).dwords, codes = F::block / F::steps;
    constexpr size_t part = partOf<blockBytes>, share = blockBytes / 2 / F::steps;
    // Memory is asked for half of what a part needs while each half of its rows is computed, and 2 KB early. All of a
    // block's scales are read first, wherever they stand.
    constexpr size_t distance = 2048 + (F::block == 256 ? blockBytes : part * blockBytes / 2);
    // For one row of activations two groups of codes at once: one sum alone waits for itself.
    constexpr int groups = groupsOf<F>, count = m == 1 ? atOnce<F> : 1;
    const DF f;
    const size_t blocks = k / F::block;
    const uint8_t* halves = group + blocks * blockBytes;
    Scales scales;
    for (int t = 0; t < m; ++t) {
        hn::Store(hn::Zero(f), f, out[t]);
        hn::Store(hn::Zero(f), f, out[t] + lanes);
    }
    for (size_t begin = 0, end; begin < blocks; begin = end) {
        end = blocks - begin < part ? blocks : begin + part;
        for (size_t side = 0; side < 2; ++side) {
            const uint8_t* ahead = group + distance + (side * (end - begin) + 2 * begin) * (blockBytes / 2);
            VF c[m];
            AXIAL_UNROLL
            for (int t = 0; t < m; ++t) c[t] = hn::Load(f, out[t] + lanes * side);
            for (size_t b = begin; b < end; ++b) {
                const Side<format> w{group + blockBytes * b + 32 * side, halves + 32 * b + 16 * side};
                // The halves stand apart: those of the next group are asked for beside this one's.
                if (cutOf(format).half != BlockCut::none) hwy::Prefetch(w.halves + next);
                F::Scale(w, scales);
                for (size_t step = 0; step < F::steps; ++step, ahead += share) {
                    Stepped<format> v{{w, step}};
                    if constexpr (requires { v.fifth; }) F::Fifth(w, v.fifth);
                    Activated x[m];
                    AXIAL_UNROLL
                    for (int t = 0; t < m; ++t) x[t] = all[t].From(b * F::block + step * codes, F::group);
                    const float* scale = scales.scale + lanes * groups * step;
                    const float* minimum = scales.minimum + lanes * groups * step;
                    AXIAL_UNROLL
                    for (int first = 0; first < groups; first += count) {
                        AXIAL_UNROLL
                        for (size_t i = share * first / groups; i < share * (first + count) / groups; i += 64)
                            hwy::Prefetch(ahead + i);
                        VI sum[count][m];
                        Dot::template Sums<F, planes, count, m>(v, x, first, sum);
                        AXIAL_UNROLL
                        for (int i = 0; i < count; ++i) {
                            const int g = first + i;
                            const VF by = hn::Load(f, scale + lanes * g);
                            AXIAL_UNROLL
                            for (int t = 0; t < m; ++t) {
                                const VF product = hn::Mul(hn::ConvertTo(f, sum[i][t]), by);
                                c[t] = hn::MulAdd(product, hn::Set(f, x[t].scale[g]), c[t]);
                                if (F::minimum)
                                    c[t] = hn::MulAdd(hn::Load(f, minimum + lanes * g), hn::Set(f, x[t].sum[g]), c[t]);
                            }
                        }
                    }
                }
            }
            AXIAL_UNROLL
            for (int t = 0; t < m; ++t) hn::Store(c[t], f, out[t] + lanes * side);
        }
    }
}

template <Format format, class F, class Dot>
void Interleaved(const BlockProduct& p) {
    const bool two = p.layout->planes == 2;
    constexpr int one = Dot::template words<F> ? 2 : 1;  // words are met whatever the planes are
    Activated x[together];
    HWY_ALIGN float c[4][16];
    for (size_t t = 0; t < p.m; t += together) {
        const size_t m = p.m - t < together ? p.m - t : together;
        Activate(p, t, m, F::group, Dot::template words<F>, F::zero, x);
        const uint8_t* group = reinterpret_cast<const uint8_t*>(p.w);
        for (size_t j = 0; j < p.rows; j += 16, group += 16 * p.rowBytes)
            for (size_t done = 0, count; done < m; done += count) {
                count = m - done >= 4 ? 4 : m - done >= 2 ? 2 : 1;
                const auto multiply = [&](auto four, auto pair, auto alone) {
                    (count == 4 ? four : count == 2 ? pair : alone)(group, 16 * p.rowBytes, p.layout->k, x + done, c);
                };
                if (two)
                    multiply(&SideBySide<format, F, Dot, 2, 4>, &SideBySide<format, F, Dot, 2, 2>,
                             &SideBySide<format, F, Dot, 2, 1>);
                else
                    multiply(&SideBySide<format, F, Dot, one, 4>, &SideBySide<format, F, Dot, one, 2>,
                             &SideBySide<format, F, Dot, one, 1>);
                for (size_t i = 0; i < count; ++i) {
                    const auto row = static_cast<ptrdiff_t>(t + done + i), column = static_cast<ptrdiff_t>(j);
                    float* out = p.out + row * p.outStride + column;
                    const float* add = p.add ? p.add + row * p.addStride + column : nullptr;
                    for (size_t r = 0; r < 16; ++r) out[r] = add ? add[r] + c[i][r] : c[i][r];
                }
            }
    }
}

template <class Dot>
void InterleavedBy(const BlockProduct& p) {
    switch (p.format) {
        case Format::q4_0:
            return Interleaved<Format::q4_0, Q4_0, Dot>(p);
        case Format::q4_1:
            return Interleaved<Format::q4_1, Q4_1, Dot>(p);
        case Format::q5_0:
            return Interleaved<Format::q5_0, Q5_0, Dot>(p);
        case Format::q5_1:
            return Interleaved<Format::q5_1, Q5_1, Dot>(p);
        case Format::iq4_nl:
            return Interleaved<Format::iq4_nl, IQ4_NL, Dot>(p);
        case Format::q4_k:
            return Interleaved<Format::q4_k, Q4_K, Dot>(p);
        case Format::q5_k:
            return Interleaved<Format::q5_k, Q5_K, Dot>(p);
        case Format::q6_k:
            return Interleaved<Format::q6_k, Q6_K, Dot>(p);
        default:
            return Interleaved<Format::q8_0, Q8_0, Dot>(p);
    }
}

#endif
}  // namespace axial::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
