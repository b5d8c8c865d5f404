// For each instruction set: weights taken as they stand in their blocks, several rows side by side. Included by kernel
// files only, after targets.h.
#if defined(AXIAL_OPS_LINEAR_ROWS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef AXIAL_OPS_LINEAR_ROWS_INL_H
#undef AXIAL_OPS_LINEAR_ROWS_INL_H
#else
#define AXIAL_OPS_LINEAR_ROWS_INL_H
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include "axial/ops/integer_products-inl.h"
#include "axial/ops/linear_blocks-inl.h"
#include "axial/ops/linear_rows_kernels.h"

HWY_BEFORE_NAMESPACE();
namespace axial::kernels::HWY_NAMESPACE {
#if HWY_TARGET != HWY_SCALAR

using DS = hn::Repartition<int16_t, DI>;
using VS = hn::Vec<DS>;

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

// How codes are multiplied with activations: by instructions that every set has. Others are below and in
// linear_rows_dotprod.cpp.
struct Madd {
    // Whether codes of a format meet the activations as words.
    template <class F>
    static constexpr bool words = F::largest == 255;
    // With how many rows of activations the tiles of dotCodes become faster.
    template <class F>
    static constexpr size_t Few(size_t planes) {
        return planes == 1 && (words<F> || (F::group == 32 && F::largest <= 15)) ? 8 : 4;
    }
    // The integer products of groups g to g + count - 1 of a step with each of m rows of activations. Several sums side
    // by side: one alone waits for itself.
    template <class F, int planes, int count, int m = 1, class V>
    static HWY_INLINE void Sums(V v, const Activated* x, int g, VI (*sum)[m]) {
        const DS d;
        AXIAL_UNROLL
        for (int i = 0; i < count; ++i) {
            AXIAL_UNROLL
            for (int t = 0; t < m; ++t)
                sum[i][t] = F::zero != 0 ? hn::Set(DI(), x[t].correction[g + i]) : hn::Zero(DI());
        }
        if constexpr (F::largest == 255) {
            AXIAL_UNROLL
            for (int q = 0; q < F::group / 4; ++q) {
                AXIAL_UNROLL
                for (int i = 0; i < count; ++i) {
                    const VI codes = F::Code(v, g + i, q);
                    const VS even = hn::BitCast(d, Mask(codes, 0x00ff00ffu));
                    const VS odd = hn::BitCast(d, hn::ShiftRight<8>(hn::BitCast(hn::RebindToUnsigned<DS>(), codes)));
                    AXIAL_UNROLL
                    for (int t = 0; t < m; ++t) {
                        const int16_t* wide = x[t].wide + (g + i) * F::group + 4 * q;
                        sum[i][t] = AddOrdered(sum[i][t], MaddWords(even, hn::BitCast(d, Four(wide))));
                        sum[i][t] = AddOrdered(sum[i][t], MaddWords(odd, hn::BitCast(d, Four(wide + 2))));
                    }
                }
            }
        } else {
            // As many sums of two products as a word holds.
            constexpr int fit = 32767 / (2 * 128 * F::largest);
            constexpr int part = fit >= 8 && F::group == 32 ? 8 : fit >= 4 ? 4 : 2;
            AXIAL_UNROLL
            for (int first = 0; first < F::group / 4; first += part) {
                VS high[count][m], low[count][m];
                AXIAL_UNROLL
                for (int q = first; q < first + part; ++q) {
                    AXIAL_UNROLL
                    for (int i = 0; i < count; ++i) {
                        const VB code = Bytes(F::Code(v, g + i, q));
                        const int at = (g + i) * F::group + 4 * q;
                        AXIAL_UNROLL
                        for (int t = 0; t < m; ++t) {
                            const VS one = MaddBytes(code, Bytes(Four(x[t].codes + at)));
                            high[i][t] = q == first ? one : AddOrdered(high[i][t], one);
                            if (planes == 2) {
                                const VS other = MaddBytes(code, Bytes(Four(x[t].low + at)));
                                low[i][t] = q == first ? other : AddOrdered(low[i][t], other);
                            }
                        }
                    }
                }
                AXIAL_UNROLL
                for (int i = 0; i < count; ++i) {
                    AXIAL_UNROLL
                    for (int t = 0; t < m; ++t) {
                        sum[i][t] = hn::Add(sum[i][t], MaddWords(high[i][t], hn::Set(d, planes == 2 ? 256 : 1)));
                        if (planes == 2) sum[i][t] = hn::Add(sum[i][t], MaddWords(low[i][t], hn::Set(d, 1)));
                    }
                }
            }
        }
    }
};

// The same by an instruction that adds four products of bytes to each dword: By::Add(sum, codes, activations).
// By::Code is Code of a format as that takes it, and By::corrected whether it still is too large by F::zero.
template <class By>
struct FourBytes {
    template <class F>
    static constexpr bool words = false;
    template <class F, int planes, int count, int m = 1, class V>
    static HWY_INLINE void Sums(V v, const Activated* x, int g, VI (*sum)[m]) {
        const DI d;
        VI high[count][m];
        AXIAL_UNROLL
        for (int i = 0; i < count; ++i) {
            AXIAL_UNROLL
            for (int t = 0; t < m; ++t) {
                sum[i][t] = By::template corrected<F> ? hn::Set(d, x[t].correction[g + i]) : hn::Zero(d);
                high[i][t] = hn::Zero(d);
            }
        }
        AXIAL_UNROLL
        for (int q = 0; q < F::group / 4; ++q) {
            AXIAL_UNROLL
            for (int i = 0; i < count; ++i) {
                const VI code = By::template Code<F>(v, g + i, q);
                const int at = (g + i) * F::group + 4 * q;
                AXIAL_UNROLL
                for (int t = 0; t < m; ++t) {
                    if (planes == 2) {
                        high[i][t] = By::Add(high[i][t], code, Four(x[t].codes + at));
                        sum[i][t] = By::Add(sum[i][t], code, Four(x[t].low + at));
                    } else {
                        sum[i][t] = By::Add(sum[i][t], code, Four(x[t].codes + at));
                    }
                }
            }
        }
        if (planes == 2) {
            AXIAL_UNROLL
            for (int i = 0; i < count; ++i) {
                AXIAL_UNROLL
                for (int t = 0; t < m; ++t) sum[i][t] = hn::Add(sum[i][t], Left<8>(high[i][t]));
            }
        }
    }
};

// For instructions whose operands are both signed: codes of 8 bits without what was added to them, and the others,
// which have less, as they are.
struct SignedCodes {
    template <class F>
    static constexpr bool corrected = F::largest != 255 && F::zero != 0;
    template <class F, class V>
    static HWY_INLINE VI Code(V v, int g, int q) {
        constexpr bool all = F::largest == 255;
        static_assert(all ? F::zero == 128 : F::largest <= 127);
        const VI code = F::Code(v, g, q);
        return all ? hn::Xor(code, hn::Set(DI(), static_cast<int32_t>(0x80808080u))) : code;
    }
};

#if HWY_TARGET == HWY_AVX2
// By the products of AVX-VNNI.
struct Vnni : FourBytes<Vnni> {
    template <class F>
    static constexpr size_t Few(size_t planes) {
        return planes == 2 ? 5 : 4;
    }
    template <class F>
    static constexpr bool corrected = F::zero != 0;
    template <class F, class V>
    static HWY_INLINE VI Code(V v, int g, int q) {
        return F::Code(v, g, q);
    }
    static HWY_INLINE VI Add(VI sum, VI codes, VI x) { return DotBytes(sum, codes, x); }
};
#endif

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
template <class F, class Dot, int planes, bool fetch>
HWY_INLINE VF Groups(const VI* v, const Scales& w, size_t at, const Activated& x, VF c, const uint8_t* ahead) {
    constexpr int groups = groupsOf<F>, count = atOnce<F>;
    const DF f;
    AXIAL_UNROLL
    for (int first = 0; first < groups; first += count) {
        if (fetch) FetchPart<F, groups / count>(ahead, first / count);
        VI sum[count][1];
        Dot::template Sums<F, planes, count>(v, &x, first, sum);
        AXIAL_UNROLL
        for (int i = 0; i < count; ++i) {
            const int g = first + i;
            const VF product = hn::Mul(hn::ConvertTo(f, sum[i][0]), hn::Load(f, w.scale + lanes * (at + g)));
            c = hn::MulAdd(product, hn::Set(f, x.scale[g]), c);
            if (F::minimum) c = hn::MulAdd(hn::Load(f, w.minimum + lanes * (at + g)), hn::Set(f, x.sum[g]), c);
        }
    }
    return c;
}

constexpr size_t together = 8;  // rows of activations for which the weights are turned once

// Rows t to t + m - 1 of the activations; `memory` for what is made of them. Each file has its own, since one is
// compiled for dotprod.
static inline HWY_NOINLINE void Activate(const BlockProduct& p, size_t t, size_t m, size_t group, bool words,
                                         int32_t zero, Activated* x) {
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
template <class F, class Dot, int planes, bool alone>
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
                c = Groups<F, Dot, planes, inParts>(v, scales, g, x[0].From(at, F::group), c, ahead);
            } else {
                for (size_t t = 0; t < m; ++t) {
                    c = hn::Load(f, out + lanes * t);
                    c = Groups<F, Dot, planes, false>(v, scales, g, x[t].From(at, F::group), c, ahead);
                    hn::Store(c, f, out + lanes * t);
                }
            }
            ahead += lanes * F::bytes / F::steps;
        }
    }
    if (alone) hn::Store(c, f, out);
}

// All rows of the weights with rows t to t + m - 1 of the activations: rows(w, ahead) puts the products with `lanes`
// rows into c, a vector for each row of activations.
template <class G>
HWY_INLINE void EachRows(const BlockProduct& p, size_t t, size_t m, const float* c, const G& rows) {
    // The last rows are taken together with some before them; where there are too few in all, one at a time.
    const bool few = p.rows < lanes;
    const ptrdiff_t stride = few ? 0 : p.rowBytes;
    for (size_t done = 0; done < p.rows;) {
        const size_t j = few || done + lanes <= p.rows ? done : p.rows - lanes, end = j + (few ? 1 : lanes);
        const uint8_t* first = reinterpret_cast<const uint8_t*>(p.w) + static_cast<ptrdiff_t>(j) * p.rowBytes;
        rows(BlockRows{first, stride, 3 * stride}, first + static_cast<ptrdiff_t>(end - j) * p.rowBytes);
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

template <class F, class Dot>
bool Product(const BlockProduct& p) {
    if (p.m > Dot::template Few<F>(p.layout->planes)) return false;
    Activated x[together];
    HWY_ALIGN float c[together * lanes];
    for (size_t t = 0; t < p.m; t += together) {
        const size_t m = p.m - t < together ? p.m - t : together;
        Activate(p, t, m, F::group, Dot::template words<F>, F::zero, x);
        // A row alone is worth its own code where it is most used. Words are met whatever the planes are.
        constexpr int one = Dot::template words<F> ? 2 : 1;
        constexpr bool own = lanes == 8;
        const bool two = p.layout->planes == 2;
        const auto rows = m == 1 ? two ? Rows<F, Dot, 2, own> : Rows<F, Dot, one, own>
                          : two ? Rows<F, Dot, 2, false>
                                 : Rows<F, Dot, one, false>;
        EachRows(p, t, m, c,
                 [&](const BlockRows& w, const uint8_t* ahead) HWY_ATTR { rows(w, ahead, p.layout->k, x, m, c); });
    }
    return true;
}

// The first `lanes` of 16 rows in the order of a panel (linear_tiles-inl.h): of words, or of bytes, code + `added`.
template <class F, class Code>
HWY_NOINLINE void PackRows(const BlockRows& w, const uint8_t* ahead, size_t k, Code* codes, float* scale,
                           float* minimum, uint8_t added) {
    const DF f;
    const DB d8;
    const DS d16;
    HWY_ALIGN static constexpr uint8_t pairs[16] = {0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15};
    const VB order = hn::LoadDup128(d8, pairs), none = hn::Zero(d8);
    const VB more = hn::Set(d8, static_cast<uint8_t>(added - F::zero));
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
                    if constexpr (sizeof(Code) == 1) {
                        hn::StoreU(hn::Add(Bytes(F::Code(v, g, q)), more), d8, codes);
                    } else {
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
}

template <class F, class Code>
void Pack(const uint8_t* w, ptrdiff_t rowBytes, size_t k, std::byte* panel, uint8_t added = 0) {
    Code* codes = reinterpret_cast<Code*>(panel);
    float* scale = reinterpret_cast<float*>(codes + 16 * k);
    float* minimum = scale + 16 * (k / F::group);
    for (size_t r = 0; r < 16; r += lanes) {
        const uint8_t* first = w + static_cast<ptrdiff_t>(r) * rowBytes;
        PackRows<F>({first, rowBytes, 3 * rowBytes}, first + lanes * rowBytes, k, codes + 4 / sizeof(Code) * r,
                    scale + r, minimum + r, added);
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

#endif
}  // namespace axial::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
