#include "axial/ops/targets.h"
// After targets.h:
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "axial/ops/linear_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "axial/ops/linear_kernels.h"
#include "axial/ops/linear_vnni.h"

HWY_BEFORE_NAMESPACE();
namespace axial::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// The exact integer product of `group` codes.
HWY_INLINE int32_t DotGroup(const int8_t* w, const int8_t* x, size_t group) {
#if HWY_TARGET == HWY_SCALAR
    int32_t sum = 0;
    for (size_t i = 0; i < group; ++i) sum += static_cast<int32_t>(w[i]) * x[i];
    return sum;
#else
    const hn::CappedTag<int16_t, 16> d16;
    const hn::Rebind<int8_t, decltype(d16)> d8;
    const hn::Repartition<int32_t, decltype(d16)> d32;
    auto sum0 = hn::Zero(d32), sum1 = hn::Zero(d32);
    for (size_t i = 0; i < group; i += hn::Lanes(d16))
        sum0 = hn::ReorderWidenMulAccumulate(d32, hn::PromoteTo(d16, hn::LoadU(d8, w + i)),
                                             hn::PromoteTo(d16, hn::LoadU(d8, x + i)), sum0, sum1);
    return hn::GetLane(hn::SumOfLanes(d32, hn::Add(sum0, sum1)));
#endif
}

constexpr size_t part = 32;  // groups that are multiplied before their sums enter the float rule

void DotCodes(const CodeProduct& p) {
    const hn::CappedTag<float, 16> d;
    const size_t group = p.form.group, groups = p.layout->k / group;
    const QuantisedRow::Groups& at = p.layout->groupsOf(group);
    for (size_t t = 0; t < p.m; ++t) {
        const uint8_t* row = reinterpret_cast<const uint8_t*>(p.x) + t * p.layout->bytes;
        const int8_t* codes = reinterpret_cast<const int8_t*>(row);
        const float* scale = reinterpret_cast<const float*>(row + at.scale);
        const float* sum = reinterpret_cast<const float*>(row + at.sum);
        HWY_ALIGN float result[32] = {};
        for (size_t first = 0; first < groups; first += part) {
            const size_t count = groups - first < part ? groups - first : part;
            HWY_ALIGN float product[part][32];  // lane = row of w
            HWY_ALIGN float minimum[part][32];
            for (size_t j = 0; j < p.rows; ++j)
                for (size_t g = first; g < first + count; ++g) {
                    const int32_t dot = DotGroup(p.w.codes + j * p.w.codeStride + g * group, codes + g * group, group);
                    product[g - first][j] = static_cast<float>(dot) * p.w.scale[j * p.w.groupStride + g];
                    if (p.form.minimum) minimum[g - first][j] = p.w.minimum[j * p.w.groupStride + g];
                }
            for (size_t j = 0; j < p.rows; j += hn::Lanes(d)) {
                auto c = hn::Load(d, result + j);
                for (size_t g = 0; g < count; ++g) {
                    c = hn::MulAdd(hn::Load(d, product[g] + j), hn::Set(d, scale[first + g]), c);
                    if (p.form.minimum) c = hn::MulAdd(hn::Load(d, minimum[g] + j), hn::Set(d, sum[first + g]), c);
                }
                hn::Store(c, d, result + j);
            }
        }
        float* out = p.out + static_cast<ptrdiff_t>(t) * p.outStride;
        const float* add = p.add ? p.add + static_cast<ptrdiff_t>(t) * p.addStride : nullptr;
        for (size_t j = 0; j < p.rows; ++j) out[j] = add ? add[j] + result[j] : result[j];
    }
}

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
    return integerUnit() != IntegerUnit::portable && dotBlocksVnni(product);
}

}  // namespace axial::kernels
#endif
