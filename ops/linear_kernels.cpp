#include "axial/ops/targets.h"
// After targets.h:
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "axial/ops/linear_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cstring>

#include "axial/ops/linear_kernels.h"
#include "axial/ops/linear_rows_kernels.h"
#include "axial/ops/linear_vnni.h"

#define AXIAL_UNROLL _Pragma("GCC unroll 16")

HWY_BEFORE_NAMESPACE();
namespace axial::kernels::HWY_NAMESPACE {

HWY_INLINE void Put(const CodeProduct& p, size_t t, size_t j, const float* values) {
    float* out = p.out + static_cast<ptrdiff_t>(t) * p.outStride + j;
    const float* add = p.add ? p.add + static_cast<ptrdiff_t>(t) * p.addStride + j : nullptr;
    const size_t count = p.rows - j < 16 ? p.rows - j : 16;
    for (size_t i = 0; i < count; ++i) out[i] = add ? add[i] + values[i] : values[i];
}

struct Row {
    const int16_t* wide;
    const float *scale, *sum;
};
HWY_INLINE Row RowOf(const CodeProduct& p, size_t t) {
    const uint8_t* row = reinterpret_cast<const uint8_t*>(p.x) + t * p.layout->bytes;
    const QuantisedRow::Groups& at = p.layout->groupsOf(p.form.group);
    return {reinterpret_cast<const int16_t*>(row + p.layout->wide), reinterpret_cast<const float*>(row + at.scale),
            reinterpret_cast<const float*>(row + at.sum)};
}

#if HWY_TARGET == HWY_SCALAR

void DotCodes(const CodeProduct& p) {
    const size_t group = p.form.group;
    for (size_t t = 0; t < p.m; ++t) {
        const Row x = RowOf(p, t);
        for (size_t j = 0; j < p.rows; j += 16) {
            float c[16] = {};
            for (size_t r = j; r < p.rows && r < j + 16; ++r)
                for (size_t g = 0; g < p.layout->k / group; ++g) {
                    int32_t sum = 0;
                    for (size_t i = g * group; i < (g + 1) * group; ++i)
                        sum += static_cast<int32_t>(p.w.codes[r * p.w.codeStride + i]) * x.wide[i];
                    const size_t at = r * p.w.groupStride + g;
                    c[r - j] += static_cast<float>(sum) * p.w.scale[at] * x.scale[g];
                    if (p.form.minimum) c[r - j] += p.w.minimum[at] * x.sum[g];
                }
            Put(p, t, j, c);
        }
    }
}

#else

namespace hn = hwy::HWY_NAMESPACE;

// Lane i of a vector of sums is row i of the weights.
using DI = hn::CappedTag<int32_t, 16>;
using DF = hn::RebindToFloat<DI>;
using D16 = hn::Repartition<int16_t, DI>;
using VI = hn::Vec<DI>;
using VF = hn::Vec<DF>;
constexpr int lanes = HWY_MAX_BYTES >= 64 ? 16 : HWY_MAX_BYTES / 4;
// The tile of sums in registers: vectors of rows of w times rows of x.
constexpr int tileW = lanes == 16 ? 1 : 2;
constexpr int tileX = lanes == 16 ? 8 : 3;

using Q32 = hn::Full128<int32_t>;  // four numbers: the unit in which rows and columns change places
using Q64 = hn::Full128<uint64_t>;
template <class V>
HWY_INLINE void Transpose4(V& a, V& b, V& c, V& d) {
    const hn::DFromV<V> tag;
    const Q64 q;
    const auto ab = hn::BitCast(q, hn::InterleaveLower(tag, a, b)), cd = hn::BitCast(q, hn::InterleaveLower(tag, c, d));
    const auto AB = hn::BitCast(q, hn::InterleaveUpper(tag, a, b)), CD = hn::BitCast(q, hn::InterleaveUpper(tag, c, d));
    a = hn::BitCast(tag, hn::InterleaveLower(q, ab, cd));
    b = hn::BitCast(tag, hn::InterleaveUpper(q, ab, cd));
    c = hn::BitCast(tag, hn::InterleaveLower(q, AB, CD));
    d = hn::BitCast(tag, hn::InterleaveUpper(q, AB, CD));
}

// Products of pairs of int16 added up in their dword. Highway's own operation may order them differently off x86.
HWY_INLINE VI MaddI16(hn::Vec<D16> a, hn::Vec<D16> b) {
#if HWY_ARCH_X86
    const DI d;
    VI none = hn::Zero(d);
    return hn::ReorderWidenMulAccumulate(d, a, b, hn::Zero(d), none);
#else
    const DI d;
    const VI x = hn::BitCast(d, a), y = hn::BitCast(d, b);
    const VI low = hn::Mul(hn::ShiftRight<16>(hn::ShiftLeft<16>(x)), hn::ShiftRight<16>(hn::ShiftLeft<16>(y)));
    return hn::Add(low, hn::Mul(hn::ShiftRight<16>(x), hn::ShiftRight<16>(y)));
#endif
}
// acc + x with the order pinned: g++ 12 moves the products of an unrolled chain ahead of the sums and spills them.
HWY_INLINE VI AddOrdered(VI acc, VI x) {
    VI sum = hn::Add(acc, x);
#if HWY_ARCH_X86 && HWY_COMPILER_GCC_ACTUAL
    asm("" : "+x"(sum.raw));
#endif
    return sum;
}

// ---- 16 rows of weights in the order of the sweep

struct Panel {
    const int16_t* codes;          // [k / 2][row][2]
    const float *scale, *minimum;  // [group][row]
};

HWY_NOINLINE Panel Pack(const CodeProduct& p, size_t j) {
    const Q32 q;
    const hn::Full128<int16_t> d16;
    const hn::Rebind<int8_t, decltype(d16)> d8;
    const size_t k = p.layout->k, groups = k / p.form.group;
    int16_t* codes = reinterpret_cast<int16_t*>(p.scratch);
    float* scale = reinterpret_cast<float*>(codes + 16 * k);
    float* minimum = scale + 16 * groups;
    if (!p.w.codes) return {codes, scale, minimum};  // by packBlocks
    for (size_t four = 0; four < 4; ++four) {
        const auto at = [&](size_t i, size_t c) HWY_ATTR {
            const size_t r = j + 4 * four + i;
            return r < p.rows ? hn::BitCast(q, hn::PromoteTo(d16, hn::LoadU(d8, p.w.codes + r * p.w.codeStride + c)))
                              : hn::Zero(q);
        };
        for (size_t c = 0; c < k; c += 8) {
            auto r0 = at(0, c), r1 = at(1, c), r2 = at(2, c), r3 = at(3, c);
            Transpose4(r0, r1, r2, r3);
            int32_t* to = reinterpret_cast<int32_t*>(codes) + 8 * c + 4 * four;
            hn::Store(r0, q, to);
            hn::Store(r1, q, to + 16);
            hn::Store(r2, q, to + 32);
            hn::Store(r3, q, to + 48);
        }
    }
    for (size_t r = 0; r < 16; ++r)
        for (size_t g = 0; g < groups; ++g) {
            const size_t at = (j + r) * p.w.groupStride + g;
            scale[16 * g + r] = j + r < p.rows ? p.w.scale[at] : 0;
            if (p.form.minimum) minimum[16 * g + r] = j + r < p.rows ? p.w.minimum[at] : 0;
        }
    return {codes, scale, minimum};
}

HWY_INLINE hn::Vec<D16> Pair(const int16_t* x) {
    int32_t pair;
    memcpy(&pair, x, 4);
    return hn::BitCast(D16(), hn::Set(DI(), pair));
}

template <int group, bool minimum, int MX>
HWY_INLINE void Tile(const CodeProduct& p, const Panel& w, size_t t, size_t r, float (*out)[16]) {
    const DF f;
    const DI di;
    const D16 d16;
    Row x[MX];
    for (int i = 0; i < MX; ++i) x[i] = RowOf(p, t + i);
    VF c[MX][tileW];
    AXIAL_UNROLL
    for (int i = 0; i < MX; ++i) {
        AXIAL_UNROLL
        for (int v = 0; v < tileW; ++v) c[i][v] = hn::Zero(f);
    }
    const int16_t* codes = w.codes + 2 * r;
    for (size_t g = 0; g < p.layout->k / group; ++g, codes += 16 * group) {
        VI sum[MX][tileW];
        AXIAL_UNROLL
        for (int i = 0; i < MX; ++i) {
            AXIAL_UNROLL
            for (int v = 0; v < tileW; ++v) sum[i][v] = hn::Zero(di);
        }
        AXIAL_UNROLL
        for (int k = 0; k < group / 2; ++k) {
            hn::Vec<D16> row[tileW];
            AXIAL_UNROLL
            for (int v = 0; v < tileW; ++v) row[v] = hn::Load(d16, codes + 32 * k + 2 * lanes * v);
            AXIAL_UNROLL
            for (int i = 0; i < MX; ++i) {
                const auto pair = Pair(x[i].wide + g * group + 2 * k);
                AXIAL_UNROLL
                for (int v = 0; v < tileW; ++v) sum[i][v] = AddOrdered(sum[i][v], MaddI16(row[v], pair));
            }
        }
        AXIAL_UNROLL
        for (int v = 0; v < tileW; ++v) {
            const VF scale = hn::Load(f, w.scale + 16 * g + r + lanes * v);
            AXIAL_UNROLL
            for (int i = 0; i < MX; ++i)
                c[i][v] = hn::MulAdd(hn::Mul(hn::ConvertTo(f, sum[i][v]), scale), hn::Set(f, x[i].scale[g]), c[i][v]);
            if (minimum) {
                const VF least = hn::Load(f, w.minimum + 16 * g + r + lanes * v);
                AXIAL_UNROLL
                for (int i = 0; i < MX; ++i) c[i][v] = hn::MulAdd(least, hn::Set(f, x[i].sum[g]), c[i][v]);
            }
        }
    }
    AXIAL_UNROLL
    for (int i = 0; i < MX; ++i) {
        AXIAL_UNROLL
        for (int v = 0; v < tileW; ++v) hn::Store(c[i][v], f, out[i] + r + lanes * v);
    }
}

template <int group, bool minimum, int MX>
HWY_INLINE void Tiles(const CodeProduct& p, const Panel& w, size_t t, size_t j) {
    HWY_ALIGN float values[MX][16];
    for (size_t r = 0; r < 16; r += lanes * tileW) Tile<group, minimum, MX>(p, w, t, r, values);
    for (size_t i = 0; i < MX; ++i) Put(p, t + i, j, values[i]);
}

template <int group, bool minimum>
HWY_NOINLINE void Sweep(const CodeProduct& p, const Panel& w, size_t j) {
    size_t t = 0;
    for (; t + tileX <= p.m; t += tileX) Tiles<group, minimum, tileX>(p, w, t, j);
    for (; t + 2 <= p.m; t += 2) Tiles<group, minimum, 2>(p, w, t, j);
    if (t < p.m) Tiles<group, minimum, 1>(p, w, t, j);
}

void DotCodes(const CodeProduct& p) {
    for (size_t j = 0; j < p.rows; j += 16) {
        const Panel w = Pack(p, j);
        if (p.form.group == 16)
            p.form.minimum ? Sweep<16, true>(p, w, j) : Sweep<16, false>(p, w, j);
        else
            p.form.minimum ? Sweep<32, true>(p, w, j) : Sweep<32, false>(p, w, j);
    }
}

#endif  // HWY_TARGET == HWY_SCALAR

bool IsAVX3() { return HWY_TARGET == HWY_AVX3; }

}  // namespace axial::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace axial::kernels {
HWY_EXPORT(DotCodes);
HWY_EXPORT(IsAVX3);

namespace {
IntegerUnit limit = IntegerUnit::amx;
// From here on the tiles are faster, although they always compute 16 rows; for groups of 16 codes, which fill only half
// of a tile, they never are.
constexpr std::size_t manyRows = 8;
}  // namespace

IntegerUnit integerUnit() noexcept {
    if (limit == IntegerUnit::portable || !HWY_DYNAMIC_DISPATCH(IsAVX3)() || !hasVnni()) return IntegerUnit::portable;
    return limit == IntegerUnit::amx && hasAmx() ? IntegerUnit::amx : IntegerUnit::vnni;
}
void limitIntegerUnit(IntegerUnit most) noexcept { limit = most; }

bool tilesWanted(std::size_t m, CodeForm form) noexcept {
    return m >= manyRows && form.group == 32 && integerUnit() == IntegerUnit::amx;
}
std::size_t tileBytes(const QuantisedRow& layout) noexcept { return tileBytesAmx(layout); }
void packTiles(const QuantisedRow& layout, const std::byte* rows, std::size_t m, std::byte* tiles) noexcept {
    packTilesAmx(layout, rows, m, tiles);
}

void dotCodes(const CodeProduct& product) noexcept {
    if (product.tiles)
        dotCodesAmx(product);
    else if (integerUnit() != IntegerUnit::portable)
        dotCodesVnni(product);
    else
        HWY_DYNAMIC_DISPATCH(DotCodes)(product);
}

bool dotBlocks(const BlockProduct& product) noexcept {
    if (integerUnit() == IntegerUnit::portable) return dotBlocksTurned(product);
    return product.m <= 5 && dotBlocksVnni(product);
}

bool packBlocks(Format format, const std::byte* w, std::ptrdiff_t rowBytes, std::size_t k,
                std::byte* scratch) noexcept {
    return integerUnit() == IntegerUnit::portable && packBlocksTurned(format, w, rowBytes, k, scratch);
}

}  // namespace axial::kernels
#endif
