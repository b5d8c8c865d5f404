#include "axial/ops/targets.h"
// After targets.h:
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "axial/ops/linear_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cstring>

#include "axial/ops/linear_kernels.h"
#include "axial/ops/linear_rows_kernels.h"
#include "axial/ops/linear_tiles-inl.h"
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

HWY_INLINE const uint8_t* RowOf(const CodeProduct& p, size_t t) {
    return reinterpret_cast<const uint8_t*>(p.x) + t * p.layout->bytes;
}

#if HWY_TARGET == HWY_SCALAR

void DotCodes(const CodeProduct& p, bool) {
    const size_t group = p.form.group;
    const QuantisedRow::Groups& at = p.layout->groupsOf(group);
    for (size_t t = 0; t < p.m; ++t) {
        const uint8_t* x = RowOf(p, t);
        const int16_t* wide = reinterpret_cast<const int16_t*>(x + p.layout->wide);
        const float *scale = reinterpret_cast<const float*>(x + at.scale),
                    *all = reinterpret_cast<const float*>(x + at.sum);
        for (size_t j = 0; j < p.rows; j += 16) {
            float c[16] = {};
            for (size_t r = j; r < p.rows && r < j + 16; ++r)
                for (size_t g = 0; g < p.layout->k / group; ++g) {
                    int32_t sum = 0;
                    for (size_t i = g * group; i < (g + 1) * group; ++i)
                        sum += static_cast<int32_t>(p.w.codes[r * p.w.codeStride + i]) * wide[i];
                    const size_t one = r * p.w.groupStride + g;
                    c[r - j] += static_cast<float>(sum) * p.w.scale[one] * scale[g];
                    if (p.form.minimum) c[r - j] += p.w.minimum[one] * all[g];
                }
            Put(p, t, j, c);
        }
    }
}

#else

namespace hn = hwy::HWY_NAMESPACE;

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

// ---- 16 rows of weights in the order of the sweep

template <class Code>
struct Panel {
    const Code* codes;             // a dword of codes of each row, then the next of each row
    const float *scale, *minimum;  // [group][row]
};

template <class Code>
HWY_NOINLINE Panel<Code> Pack(const CodeProduct& p, size_t j) {
    const Q32 q;
    const hn::Full128<uint8_t> bytes;
    const hn::Full128<int16_t> d16;
    const hn::Rebind<int8_t, decltype(d16)> d8;
    const size_t k = p.layout->k, groups = k / p.form.group;
    Code* codes = reinterpret_cast<Code*>(p.scratch);
    float* scale = reinterpret_cast<float*>(codes + 16 * k);
    float* minimum = scale + 16 * groups;
    if (!p.w.codes) return {codes, scale, minimum};  // by packBlocks
    for (size_t four = 0; four < 4; ++four) {
        const auto at = [&](size_t i, size_t c) HWY_ATTR {
            const size_t r = j + 4 * four + i;
            if (r >= p.rows) return hn::Zero(q);
            const int8_t* from = p.w.codes + r * p.w.codeStride + c;
            if (sizeof(Code) == 2) return hn::BitCast(q, hn::PromoteTo(d16, hn::LoadU(d8, from)));
            const auto code = hn::LoadU(bytes, reinterpret_cast<const uint8_t*>(from));
            return hn::BitCast(q, hn::Xor(code, hn::Set(bytes, 128)));
        };
        for (size_t c = 0; c < k; c += 16 / sizeof(Code)) {
            auto r0 = at(0, c), r1 = at(1, c), r2 = at(2, c), r3 = at(3, c);
            Transpose4(r0, r1, r2, r3);
            int32_t* to = reinterpret_cast<int32_t*>(codes + 16 * c) + 4 * four;
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

template <class Dot, int group, bool minimum, int MX>
HWY_INLINE void Tile(const CodeProduct& p, const Panel<typename Dot::Code>& w, size_t t, size_t r, float (*out)[16]) {
    const DF f;
    const uint8_t* x[MX];
    for (int i = 0; i < MX; ++i) x[i] = RowOf(p, t + i);
    VF c[MX][tileW];
    AXIAL_UNROLL
    for (int i = 0; i < MX; ++i) {
        AXIAL_UNROLL
        for (int v = 0; v < tileW; ++v) c[i][v] = hn::Zero(f);
    }
    const auto* codes = w.codes + 4 / sizeof(*w.codes) * r;
    const float *scale = w.scale + r, *least = w.minimum + r;
    QuantisedRow::Groups at = p.layout->groupsOf(group);
    const size_t first = Dot::CodesOf(*p.layout), end = first + p.layout->k * sizeof(*codes);
    for (size_t g = first; g < end; g += group * sizeof(*codes)) {
        VI sum[MX][tileW];
        Dot::template Group<group, MX>(sum, codes, x, g, at.bias);
        AXIAL_UNROLL
        for (int v = 0; v < tileW; ++v) {
            const VF by = hn::Load(f, scale + lanes * v);
            AXIAL_UNROLL
            for (int i = 0; i < MX; ++i)
                c[i][v] = hn::MulAdd(hn::Mul(hn::ConvertTo(f, sum[i][v]), by), Float(x[i] + at.scale), c[i][v]);
            if (minimum) {
                const VF less = hn::Load(f, least + lanes * v);
                AXIAL_UNROLL
                for (int i = 0; i < MX; ++i) c[i][v] = hn::MulAdd(less, Float(x[i] + at.sum), c[i][v]);
            }
        }
        codes += 16 * group, scale += 16, least += 16;
        at.scale += 4, at.bias += 4, at.sum += 4;
    }
    AXIAL_UNROLL
    for (int i = 0; i < MX; ++i) {
        AXIAL_UNROLL
        for (int v = 0; v < tileW; ++v) hn::Store(c[i][v], f, out[i] + r + lanes * v);
    }
}

template <class Dot, int group, bool minimum, int MX>
HWY_INLINE size_t Tiles(const CodeProduct& p, const Panel<typename Dot::Code>& w, size_t t, size_t j) {
    HWY_ALIGN float values[MX][16];
    for (size_t r = 0; r < 16; r += lanes * tileW) Tile<Dot, group, minimum, MX>(p, w, t, r, values);
    for (size_t i = 0; i < MX; ++i) Put(p, t + i, j, values[i]);
    return t + MX;
}

template <class Dot, int group, bool minimum>
HWY_NOINLINE void Sweep(const CodeProduct& p, const Panel<typename Dot::Code>& w, size_t j) {
    size_t t = 0;
    while (t + Dot::tileX <= p.m) t = Tiles<Dot, group, minimum, Dot::tileX>(p, w, t, j);
    while (t + 2 <= p.m) t = Tiles<Dot, group, minimum, 2>(p, w, t, j);
    if (t < p.m) Tiles<Dot, group, minimum, 1>(p, w, t, j);
}

template <class Dot>
void DotCodesBy(const CodeProduct& p) {
    for (size_t j = 0; j < p.rows; j += 16) {
        const auto w = Pack<typename Dot::Code>(p, j);
        if (p.form.group == 16)
            p.form.minimum ? Sweep<Dot, 16, true>(p, w, j) : Sweep<Dot, 16, false>(p, w, j);
        else
            p.form.minimum ? Sweep<Dot, 32, true>(p, w, j) : Sweep<Dot, 32, false>(p, w, j);
    }
}

// A panel that packBlocks made as bytePanelOf says.
template <Format format>
void DotBytePanel(const CodeProduct& p) {
    constexpr BytePanel panel = bytePanelOf(format);
    constexpr CodeForm form = codeFormOf(format);
    Sweep<BytesMadd<panel.part, panel.zero>, form.group, form.minimum>(p, Pack<uint8_t>(p, 0), 0);
}

void DotCodes(const CodeProduct& p, [[maybe_unused]] bool avxVnni) {
#if HWY_TARGET == HWY_AVX2
    if (avxVnni) return p.layout->planes == 2 ? DotCodesBy<WordsVnni>(p) : DotCodesBy<BytesVnni>(p);
#endif
    switch (p.w.codes || p.layout->planes == 2 ? Format::f32 : p.packed) {
        case Format::q4_0:
            return DotBytePanel<Format::q4_0>(p);
        case Format::q4_1:
        case Format::q4_k:
            return DotBytePanel<Format::q4_k>(p);
        case Format::q5_0:
        case Format::mxfp4:
            return DotBytePanel<Format::q5_0>(p);
        case Format::q5_1:
        case Format::q5_k:
            return DotBytePanel<Format::q5_k>(p);
        case Format::q2_k:
            return DotBytePanel<Format::q2_k>(p);
        case Format::q3_k:
            return DotBytePanel<Format::q3_k>(p);
        case Format::q6_k:
            return DotBytePanel<Format::q6_k>(p);
        default:
            return DotCodesBy<Words>(p);
    }
}

#endif  // HWY_TARGET == HWY_SCALAR

int64_t Target() { return HWY_TARGET; }

}  // namespace axial::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace axial::kernels {
HWY_EXPORT(DotCodes);
HWY_EXPORT(Target);

namespace {
IntegerUnit limit = IntegerUnit::amx;
// From here on the tiles are faster, although they always compute 16 rows; for groups of 16 codes, which fill only half
// of a tile, they never are.
constexpr std::size_t manyRows = 8;
}  // namespace

IntegerUnit integerUnit() noexcept {
    const std::int64_t target = HWY_DYNAMIC_DISPATCH(Target)();
    if (limit >= IntegerUnit::i8mm && hasI8mm()) return IntegerUnit::i8mm;
    if (limit >= IntegerUnit::dotprod && hasDotprod()) return IntegerUnit::dotprod;
    if (target == HWY_AVX2 && limit >= IntegerUnit::avxVnni && hasAvxVnni()) return IntegerUnit::avxVnni;
    if (target != HWY_AVX3 || limit < IntegerUnit::vnni || !hasVnni()) return IntegerUnit::portable;
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
    const IntegerUnit unit = integerUnit();
    if (product.tiles)
        dotCodesAmx(product);
    else if (unit >= IntegerUnit::vnni)
        dotCodesVnni(product);
    else
        HWY_DYNAMIC_DISPATCH(DotCodes)(product, unit == IntegerUnit::avxVnni);
}

bool dotBlocks(const BlockProduct& product) noexcept {
    const IntegerUnit unit = integerUnit();
    if (unit == IntegerUnit::portable) return dotBlocksTurned(product);
    if (unit == IntegerUnit::dotprod) return dotBlocksDotprod(product);
    if (unit == IntegerUnit::i8mm) return dotBlocksI8mm(product);
    if (unit == IntegerUnit::avxVnni) return dotBlocksAvxVnni(product);
    return product.m <= 5 && dotBlocksVnni(product);
}

bool packBlocks(Format format, const std::byte* w, std::ptrdiff_t rowBytes, const QuantisedRow& layout,
                std::byte* scratch) noexcept {
    const IntegerUnit unit = integerUnit();
    if (unit >= IntegerUnit::vnni) return false;
    if (unit == IntegerUnit::avxVnni && layout.planes == 1)
        return packBytesAvxVnni(format, w, rowBytes, layout.k, scratch);
    return packBlocksTurned(format, w, rowBytes, layout, scratch);
}

}  // namespace axial::kernels
#endif
