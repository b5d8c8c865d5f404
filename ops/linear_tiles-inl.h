// For each instruction set: how groups of codes of 16 rows of weights, in the order of a panel, are multiplied with
// several rows of activations. Included by kernel files only, after targets.h.
#if defined(AXIAL_OPS_LINEAR_TILES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef AXIAL_OPS_LINEAR_TILES_INL_H
#undef AXIAL_OPS_LINEAR_TILES_INL_H
#else
#define AXIAL_OPS_LINEAR_TILES_INL_H
#endif

#include <hwy/highway.h>

#include <cstring>

#include "axial/ops/integer_products-inl.h"
#include "axial/ops/quantise_kernels.h"

#ifndef AXIAL_UNROLL
#define AXIAL_UNROLL _Pragma("GCC unroll 16")
#endif

HWY_BEFORE_NAMESPACE();
namespace axial::kernels::HWY_NAMESPACE {
#if HWY_TARGET != HWY_SCALAR
namespace hn = hwy::HWY_NAMESPACE;

// Lane i of a vector of sums is row i of the weights.
using DI = hn::CappedTag<int32_t, 16>;
using DF = hn::RebindToFloat<DI>;
using D16 = hn::Repartition<int16_t, DI>;
using VI = hn::Vec<DI>;
using V16 = hn::Vec<D16>;
using VF = hn::Vec<DF>;
constexpr int lanes = HWY_MAX_BYTES >= 64 ? 16 : HWY_MAX_BYTES / 4;
// Vectors of rows of w whose sums with some rows of x stand in registers.
constexpr int tileW = lanes == 16 ? 1 : 2;

HWY_INLINE VI Dword(const void* p) {
    int32_t v;
    memcpy(&v, p, 4);
    return hn::Set(DI(), v);
}

HWY_INLINE VF Float(const void* p) { return hn::BitCast(DF(), Dword(p)); }

// ---- how a group of codes is multiplied with MX rows of x, from offset `at` of each on; `bias` is the offset of the
// number that takes back what was added to the weights' codes

template <int MX>
using Sums = VI[MX][tileW];
template <int MX>
using Rows = const uint8_t* const[MX];

// `dwords` dwords of codes of each row: their products, or sum + their products.
template <class Dot, int dwords, bool add, int MX>
HWY_INLINE void Multiply(Sums<MX>& sum, const typename Dot::Code* codes, const Rows<MX>& x, size_t at) {
    AXIAL_UNROLL
    for (int k = 0; k < dwords; ++k) {
        VI row[tileW];
        AXIAL_UNROLL
        for (int v = 0; v < tileW; ++v)
            row[v] = hn::Load(DI(), reinterpret_cast<const int32_t*>(codes) + 16 * k + lanes * v);
        AXIAL_UNROLL
        for (int i = 0; i < MX; ++i) {
            const VI some = Dword(x[i] + at + 4 * k);
            AXIAL_UNROLL
            for (int v = 0; v < tileW; ++v)
                sum[i][v] = add || k > 0 ? Dot::Add(sum[i][v], row[v], some) : Dot::Product(row[v], some);
        }
    }
}
template <int MX, class F>
HWY_INLINE void ForEach(Sums<MX>& sum, const F& f) {
    AXIAL_UNROLL
    for (int i = 0; i < MX; ++i) {
        AXIAL_UNROLL
        for (int v = 0; v < tileW; ++v) sum[i][v] = f(i, v);
    }
}

// As words.
struct Words {
    using Code = int16_t;
    static constexpr int tileX = lanes == 16 ? 8 : 3;  // how many rows of x have sums in registers
    static size_t CodesOf(const QuantisedRow& x) { return x.wide; }
    static HWY_INLINE VI Product(VI w, VI x) { return MaddWords(hn::BitCast(D16(), w), hn::BitCast(D16(), x)); }
    static HWY_INLINE VI Add(VI sum, VI w, VI x) { return AddOrdered(sum, Product(w, x)); }
    template <int group, int MX>
    static HWY_INLINE void Group(Sums<MX>& sum, const Code* codes, const Rows<MX>& x, size_t at, size_t) {
        Multiply<Words, group / 2, false, MX>(sum, codes, x, at);
    }
};
// As bytes, code + `zero` with the activations, of which words hold so many sums of two products as `part` says.
template <int part, int zero>
struct BytesMadd {
    using Code = uint8_t;
    static constexpr int tileX = lanes == 16 ? 8 : 4;
    static size_t CodesOf(const QuantisedRow&) { return 0; }
    static HWY_INLINE VI Product(VI w, VI x) { return hn::BitCast(DI(), MaddBytes(w, x)); }
    static HWY_INLINE VI Add(VI sum, VI w, VI x) {
        return hn::BitCast(DI(), AddOrdered(hn::BitCast(D16(), sum), MaddBytes(w, x)));
    }
    template <int group, int MX>
    static HWY_INLINE void Group(Sums<MX>& sum, const Code* codes, const Rows<MX>& x, size_t at, size_t bias) {
        constexpr int shift = zero == 4 ? 5 : zero == 8 ? 4 : zero == 16 ? 3 : 2;  // from 128
        AXIAL_UNROLL
        for (int first = 0; first < group / 4; first += part) {
            VI some[MX][tileW];
            Multiply<BytesMadd, part, false, MX>(some, codes + 64 * first, x, at + 4 * first);
            ForEach<MX>(sum, [&](int i, int v) HWY_ATTR {
                const VI one = MaddWords(hn::BitCast(D16(), some[i][v]), hn::Set(D16(), 1));
                if (first > 0) return hn::Add(sum[i][v], one);
                return zero == 0 ? one : hn::Add(one, hn::ShiftRight<shift>(Dword(x[i] + bias)));
            });
        }
    }
};
#if HWY_TARGET == HWY_AVX2
// The same by AVX-VNNI, whose sums take long, so that there must be many.
struct WordsVnni : Words {
    static constexpr int tileX = 6;
    static HWY_INLINE VI Add(VI sum, VI w, VI x) { return DotWords(sum, w, x); }
    template <int group, int MX>
    static HWY_INLINE void Group(Sums<MX>& sum, const Code* codes, const Rows<MX>& x, size_t at, size_t) {
        ForEach<MX>(sum, [](int, int) HWY_ATTR { return hn::Zero(DI()); });
        Multiply<WordsVnni, group / 2, true, MX>(sum, codes, x, at);
    }
};
struct BytesVnni {  // code + 128
    using Code = uint8_t;
    static constexpr int tileX = 6;
    static size_t CodesOf(const QuantisedRow&) { return 0; }
    static HWY_INLINE VI Product(VI w, VI x) { return DotBytes(hn::Zero(DI()), w, x); }
    static HWY_INLINE VI Add(VI sum, VI w, VI x) { return DotBytes(sum, w, x); }
    template <int group, int MX>
    static HWY_INLINE void Group(Sums<MX>& sum, const Code* codes, const Rows<MX>& x, size_t at, size_t bias) {
        ForEach<MX>(sum, [&](int i, int) HWY_ATTR { return Dword(x[i] + bias); });
        Multiply<BytesVnni, group / 4, true, MX>(sum, codes, x, at);
    }
};
#endif

#endif
}  // namespace axial::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
