#include "axial/ops/targets.h"
// After targets.h:
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "axial/ops/linear_rows_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <hwy/cache_control.h>

#include "axial/ops/linear_blocks-inl.h"
#include "axial/ops/linear_rows_kernels.h"

HWY_BEFORE_NAMESPACE();
namespace axial::kernels::HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR

bool DotBlocks(const BlockProduct&) { return false; }
bool PackBlocks(Format, const uint8_t*, ptrdiff_t, size_t, std::byte*) { return false; }

#elif HWY_TARGET == HWY_AVX3 && (HWY_TARGETS & HWY_AVX2)

// Wider vectors would want more rows side by side; the bits are the same.
bool DotBlocks(const BlockProduct& p) { return dotBlocksAVX2(p); }
bool PackBlocks(Format format, const uint8_t* w, ptrdiff_t rowBytes, size_t k, std::byte* panel) {
    return packBlocksAVX2(format, w, rowBytes, k, panel);
}

#else

using DS = hn::Repartition<int16_t, DI>;
using VS = hn::Vec<DS>;

// Pairs of bytes, unsigned times signed, added up in words. The sums must fit.
HWY_INLINE VS MaddBytes(VB u, VB s) {
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
    return VS{_mm256_maddubs_epi16(u.raw, s.raw)};
#elif HWY_TARGET == HWY_SSE4
    return VS{_mm_maddubs_epi16(u.raw, s.raw)};
#else
    const DS d;
    const VS uw = hn::BitCast(d, u), sw = hn::BitCast(d, s);
    const VS even = hn::And(uw, hn::Set(d, 255));
    const VS odd = hn::BitCast(d, hn::ShiftRight<8>(hn::BitCast(hn::RebindToUnsigned<DS>(), uw)));
    return hn::Add(hn::Mul(even, hn::ShiftRight<8>(hn::ShiftLeft<8>(sw))), hn::Mul(odd, hn::ShiftRight<8>(sw)));
#endif
}
HWY_INLINE VI MaddWords(VS a, VS b) {
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
    return VI{_mm256_madd_epi16(a.raw, b.raw)};
#elif HWY_TARGET == HWY_SSE4
    return VI{_mm_madd_epi16(a.raw, b.raw)};
#else
    const DI d;
    const VI x = hn::BitCast(d, a), y = hn::BitCast(d, b);
    const VI low = hn::Mul(hn::ShiftRight<16>(hn::ShiftLeft<16>(x)), hn::ShiftRight<16>(hn::ShiftLeft<16>(y)));
    return hn::Add(low, hn::Mul(hn::ShiftRight<16>(x), hn::ShiftRight<16>(y)));
#endif
}
// acc + x with the order pinned, as in linear_kernels.cpp.
template <class V>
HWY_INLINE V Plus(V acc, V x) {
    V sum = hn::Add(acc, x);
#if HWY_COMPILER_GCC_ACTUAL && (HWY_TARGET == HWY_SSE4 || HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3)
    asm("" : "+x"(sum.raw));
#endif
    return sum;
}
HWY_INLINE VI Four(const void* p) {
    int32_t v;
    memcpy(&v, p, 4);
    return hn::Set(DI(), v);
}

// One row of activations from some code on.
struct Activated {
    const int8_t *codes, *low;
    const int16_t* wide;  // where it is needed, the middle two of each four have changed places
    const float *scale, *sum;
    const int32_t* correction;  // where it is needed, minus `zero` times the sum of the codes
    HWY_INLINE Activated From(size_t code, size_t group) const {
        const size_t g = code / group;
        return {codes + code, low + code, wide + code, scale + g, sum + g, correction + g};
    }
};

// The integer products of groups g to g + count - 1 of a step. Several sums side by side: one alone waits for itself.
template <class F, int planes, int count>
HWY_INLINE void GroupSums(const VI* v, const Activated& x, int g, VI* sum) {
    const DS d;
    AXIAL_UNROLL
    for (int i = 0; i < count; ++i) sum[i] = F::zero != 0 ? hn::Set(DI(), x.correction[g + i]) : hn::Zero(DI());
    if constexpr (F::largest == 255) {
        AXIAL_UNROLL
        for (int q = 0; q < F::group / 4; ++q) {
            AXIAL_UNROLL
            for (int i = 0; i < count; ++i) {
                const int16_t* wide = x.wide + (g + i) * F::group + 4 * q;
                const VI codes = F::Code(v, g + i, q);
                const VS even = hn::BitCast(d, Mask(codes, 0x00ff00ffu));
                const VS odd = hn::BitCast(d, hn::ShiftRight<8>(hn::BitCast(hn::RebindToUnsigned<DS>(), codes)));
                sum[i] = Plus(sum[i], MaddWords(even, hn::BitCast(d, Four(wide))));
                sum[i] = Plus(sum[i], MaddWords(odd, hn::BitCast(d, Four(wide + 2))));
            }
        }
    } else {
        // As many sums of two products as a word holds.
        constexpr int fit = 32767 / (2 * 128 * F::largest);
        constexpr int part = fit >= 8 && F::group == 32 ? 8 : fit >= 4 ? 4 : 2;
        AXIAL_UNROLL
        for (int first = 0; first < F::group / 4; first += part) {
            VS high[count], low[count];
            AXIAL_UNROLL
            for (int q = first; q < first + part; ++q) {
                AXIAL_UNROLL
                for (int i = 0; i < count; ++i) {
                    const VB code = Bytes(F::Code(v, g + i, q));
                    const int at = (g + i) * F::group + 4 * q;
                    const VS one = MaddBytes(code, Bytes(Four(x.codes + at)));
                    high[i] = q == first ? one : Plus(high[i], one);
                    if (planes == 2) {
                        const VS other = MaddBytes(code, Bytes(Four(x.low + at)));
                        low[i] = q == first ? other : Plus(low[i], other);
                    }
                }
            }
            AXIAL_UNROLL
            for (int i = 0; i < count; ++i) {
                sum[i] = hn::Add(sum[i], MaddWords(high[i], hn::Set(d, planes == 2 ? 256 : 1)));
                if (planes == 2) sum[i] = hn::Add(sum[i], MaddWords(low[i], hn::Set(d, 1)));
            }
        }
    }
}

// Asks memory for what follows the rows, as much as a step reads: part `part` of `parts` of it. All of a block at once,
// more than a core can wait for, made Q4_K from memory a third slower, Q6_K a seventh.
template <class F, int parts>
HWY_INLINE void FetchPart(const uint8_t* ahead, int part) {
    constexpr int share = lanes * F::bytes / F::steps;
    for (int i = (share * part / parts + 63) / 64 * 64; i < share * (part + 1) / parts; i += 64)
        hwy::Prefetch(ahead + i);
}

template <class F>
constexpr int groupsOf = F::block / F::steps / F::group;  // in a step
template <class F>
constexpr int atOnce = groupsOf<F> < 2 ? 1 : 2;  // groups whose sums are computed side by side

// The rule of linear_kernels.h for the groups of a step; `at` of the block's groups come before them.
template <class F, int planes, bool fetch>
HWY_INLINE VF Groups(const VI* v, const Scales& w, size_t at, const Activated& x, VF c, const uint8_t* ahead) {
    constexpr int groups = groupsOf<F>, count = atOnce<F>;
    const DF f;
    AXIAL_UNROLL
    for (int first = 0; first < groups; first += count) {
        if (fetch) FetchPart<F, groups / count>(ahead, first / count);
        VI sum[count];
        GroupSums<F, planes, count>(v, x, first, sum);
        AXIAL_UNROLL
        for (int i = 0; i < count; ++i) {
            const int g = first + i;
            const VF product = hn::Mul(hn::ConvertTo(f, sum[i]), hn::Load(f, w.scale + lanes * (at + g)));
            c = hn::MulAdd(product, hn::Set(f, x.scale[g]), c);
            if (F::minimum) c = hn::MulAdd(hn::Load(f, w.minimum + lanes * (at + g)), hn::Set(f, x.sum[g]), c);
        }
    }
    return c;
}

constexpr size_t together = 8;  // rows of activations for which the weights are turned once

// Rows t to t + m - 1 of the activations; `memory` for what is made of them.
HWY_NOINLINE void Activate(const BlockProduct& p, size_t t, size_t m, size_t group, bool words, int32_t zero,
                           Activated* x) {
    const size_t k = p.layout->k, groups = k / group;
    const QuantisedRow::Groups& offsets = p.layout->groupsOf(group);
    uint8_t* memory = reinterpret_cast<uint8_t*>(p.scratch);
    const auto take = [&memory](size_t bytes) {
        uint8_t* taken = memory;
        memory += bytes;
        return taken;
    };
    for (size_t i = 0; i < m; ++i) {
        const uint8_t* row = reinterpret_cast<const uint8_t*>(p.x) + (t + i) * p.layout->bytes;
        const int16_t* wide = reinterpret_cast<const int16_t*>(row + p.layout->wide);
        const int32_t* bias = reinterpret_cast<const int32_t*>(row + offsets.bias);
        x[i] = {reinterpret_cast<const int8_t*>(row),
                reinterpret_cast<const int8_t*>(row + p.layout->low),
                wide,
                reinterpret_cast<const float*>(row + offsets.scale),
                reinterpret_cast<const float*>(row + offsets.sum),
                bias};
        if (words) {
            int16_t* to = reinterpret_cast<int16_t*>(take(2 * k));
            for (size_t j = 0; j < k; j += 4)
                to[j] = wide[j], to[j + 1] = wide[j + 2], to[j + 2] = wide[j + 1], to[j + 3] = wide[j + 3];
            x[i].wide = to;
        }
        if (zero != 0) {
            int32_t* to = reinterpret_cast<int32_t*>(take(4 * groups));
            for (size_t g = 0; g < groups; ++g) to[g] = bias[g] / 128 * zero;
            x[i].correction = to;
        }
    }
}

// One row of outputs for each x, a vector each. `ahead` is what comes after these rows of weights.
template <class F, int planes, bool alone>
HWY_NOINLINE void Rows(const BlockRows& w, const uint8_t* ahead, size_t k, const Activated* x, size_t m, float* out) {
    const DF f;
    Scales scales;
    VI v[F::vectors];
    VF c = hn::Zero(f);
    for (size_t t = 0; t < m; ++t) hn::Store(c, f, out + lanes * t);
    for (size_t b = 0; b < k / F::block; ++b) {
        const BlockRows block = w.From(b * F::bytes);
        F::Scale(block, scales);
        for (size_t i = 0; i < F::steps; ++i) {
            constexpr size_t codes = F::block / F::steps;
            constexpr bool inParts = alone && groupsOf<F> > atOnce<F>;
            const size_t at = b * F::block + i * codes, g = i * codes / F::group;
            if (!inParts) FetchPart<F, 1>(ahead, 0);
            F::Step(block, i, v);
            if (alone) {
                c = Groups<F, planes, inParts>(v, scales, g, x[0].From(at, F::group), c, ahead);
            } else {
                for (size_t t = 0; t < m; ++t) {
                    c = hn::Load(f, out + lanes * t);
                    c = Groups<F, planes, false>(v, scales, g, x[t].From(at, F::group), c, ahead);
                    hn::Store(c, f, out + lanes * t);
                }
            }
            ahead += lanes * F::bytes / F::steps;
        }
    }
    if (alone) hn::Store(c, f, out);
}

// With how many rows of activations the tiles of dotCodes become faster. They multiply words, two codes at a time,
// where a plane of 8-bit activations meets four.
template <class F>
constexpr size_t Few(size_t planes) {
    if (planes == 2) return 4;
    return F::group == 32 && F::largest <= 15 ? ~size_t{0} : 8;
}

template <class F>
bool Product(const BlockProduct& p) {
    if (p.m > Few<F>(p.layout->planes)) return false;
    Activated x[together];
    HWY_ALIGN float c[together * lanes];
    for (size_t t = 0; t < p.m; t += together) {
        const size_t m = p.m - t < together ? p.m - t : together;
        Activate(p, t, m, F::group, F::largest == 255, F::zero, x);
        // A row alone is worth its own code where it is most used. Codes of 8 bits meet words whatever the planes are.
        constexpr int one = F::largest == 255 ? 2 : 1;
        constexpr bool own = lanes == 8;
        const bool two = p.layout->planes == 2;
        const auto rows = m == 1 ? two ? Rows<F, 2, own> : Rows<F, one, own>
                          : two ? Rows<F, 2, false>
                                 : Rows<F, one, false>;
        // The last rows are taken together with some before them; where there are too few in all, one at a time.
        const bool few = p.rows < lanes;
        const ptrdiff_t stride = few ? 0 : p.rowBytes;
        for (size_t done = 0; done < p.rows;) {
            const size_t j = few || done + lanes <= p.rows ? done : p.rows - lanes, end = j + (few ? 1 : lanes);
            const uint8_t* first = reinterpret_cast<const uint8_t*>(p.w) + static_cast<ptrdiff_t>(j) * p.rowBytes;
            rows({first, stride, 3 * stride}, first + static_cast<ptrdiff_t>(end - j) * p.rowBytes, p.layout->k, x, m,
                 c);
            for (size_t i = 0; i < m; ++i) {
                const auto row = static_cast<ptrdiff_t>(t + i);
                const float* add = p.add ? p.add + row * p.addStride : nullptr;
                for (size_t r = done; r < end; ++r) {
                    const float one = c[lanes * i + r - j];
                    p.out[row * p.outStride + static_cast<ptrdiff_t>(r)] = add ? add[r] + one : one;
                }
            }
            done = end;
        }
    }
    return true;
}

// The first `lanes` of 16 rows in the order of a panel.
template <class F>
HWY_NOINLINE void PackRows(const BlockRows& w, const uint8_t* ahead, size_t k, int16_t* codes, float* scale,
                           float* minimum) {
    const DF f;
    const DB d8;
    const DS d16;
    HWY_ALIGN static constexpr uint8_t pairs[16] = {0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15};
    const VB order = hn::LoadDup128(d8, pairs), none = hn::Zero(d8);
    const VS zero = hn::Set(d16, F::zero);
    Scales scales;
    VI v[F::vectors];
    for (size_t b = 0; b < k / F::block; ++b) {
        const BlockRows block = w.From(b * F::bytes);
        F::Scale(block, scales);
        for (size_t g = 0; g < F::block / F::group; ++g, scale += 16, minimum += 16) {
            hn::StoreU(hn::Load(f, scales.scale + lanes * g), f, scale);
            if (F::minimum) hn::StoreU(hn::Load(f, scales.minimum + lanes * g), f, minimum);
        }
        for (size_t i = 0; i < F::steps; ++i, ahead += lanes * F::bytes / F::steps) {
            FetchPart<F, 1>(ahead, 0);
            F::Step(block, i, v);
            AXIAL_UNROLL
            for (int g = 0; g < F::block / F::steps / F::group; ++g) {
                AXIAL_UNROLL
                for (int q = 0; q < F::group / 4; ++q, codes += 64) {
                    const VB code = hn::TableLookupBytes(Bytes(F::Code(v, g, q)), order);
                    const VS first = hn::BitCast(d16, hn::InterleaveLower(d8, code, none));
                    const VS second = hn::BitCast(d16, hn::InterleaveUpper(d8, code, none));
                    hn::StoreU(F::zero != 0 ? hn::Sub(first, zero) : first, d16, codes);
                    hn::StoreU(F::zero != 0 ? hn::Sub(second, zero) : second, d16, codes + 32);
                }
            }
        }
    }
}

template <class F>
void Pack(const uint8_t* w, ptrdiff_t rowBytes, size_t k, std::byte* panel) {
    int16_t* codes = reinterpret_cast<int16_t*>(panel);
    float* scale = reinterpret_cast<float*>(codes + 16 * k);
    float* minimum = scale + 16 * (k / F::group);
    for (size_t r = 0; r < 16; r += lanes) {
        const uint8_t* first = w + static_cast<ptrdiff_t>(r) * rowBytes;
        PackRows<F>({first, rowBytes, 3 * rowBytes}, first + lanes * rowBytes, k, codes + 2 * r, scale + r,
                    minimum + r);
    }
}

// f(a value of the format's type).
template <class G>
bool OfFormat(Format format, const G& f) {
    switch (format) {
        case Format::q8_0:
            return f(Q8_0());
        case Format::q4_0:
            return f(Q4_0());
        case Format::q4_1:
            return f(Q4_1());
        case Format::q5_0:
            return f(Q5_0());
        case Format::q5_1:
            return f(Q5_1());
        case Format::q2_k:
            return f(Q2_K());
        case Format::q3_k:
            return f(Q3_K());
        case Format::q4_k:
            return f(Q4_K());
        case Format::q5_k:
            return f(Q5_K());
        case Format::q6_k:
            return f(Q6_K());
        case Format::iq4_nl:
            return f(IQ4_NL());
        case Format::iq4_xs:
            return f(IQ4_XS());
        case Format::mxfp4:
            return f(MXFP4());
        default:
            return false;
    }
}

bool DotBlocks(const BlockProduct& p) {
    return OfFormat(p.format, [&](auto format) { return Product<decltype(format)>(p); });
}
bool PackBlocks(Format format, const uint8_t* w, ptrdiff_t rowBytes, size_t k, std::byte* panel) {
    return OfFormat(format, [&](auto f) {
        Pack<decltype(f)>(w, rowBytes, k, panel);
        return true;
    });
}

#endif

}  // namespace axial::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace axial::kernels {
HWY_EXPORT(DotBlocks);
HWY_EXPORT(PackBlocks);
#if HWY_TARGETS & HWY_AVX2
bool dotBlocksAVX2(const BlockProduct& product) noexcept { return N_AVX2::DotBlocks(product); }
bool packBlocksAVX2(Format format, const std::uint8_t* w, std::ptrdiff_t rowBytes, std::size_t k,
                    std::byte* panel) noexcept {
    return N_AVX2::PackBlocks(format, w, rowBytes, k, panel);
}
#endif
bool dotBlocksTurned(const BlockProduct& product) noexcept { return HWY_DYNAMIC_DISPATCH(DotBlocks)(product); }
bool packBlocksTurned(Format format, const std::byte* w, std::ptrdiff_t rowBytes, std::size_t k,
                      std::byte* panel) noexcept {
    return HWY_DYNAMIC_DISPATCH(PackBlocks)(format, reinterpret_cast<const std::uint8_t*>(w), rowBytes, k, panel);
}
}  // namespace axial::kernels
#endif
