#include "axial/ops/targets.h"
// After targets.h:
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "axial/ops/quantise_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cstring>

#include "axial/ops/linear_vnni.h"
#include "axial/ops/quantise_kernels.h"

HWY_BEFORE_NAMESPACE();
namespace axial::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

struct Planes {
    int8_t *high, *low;  // low: of two planes
    int16_t* wide;
};

// 32 values: their codes, the sums of the two halves' codes, and the scale.
HWY_INLINE float QuantiseBlock(const float* x, bool two, const Planes& to, int32_t* sums) {
    const hn::CappedTag<float, 16> d;
    const hn::RebindToSigned<decltype(d)> di;
    const hn::Rebind<int8_t, decltype(d)> d8;
    const hn::Rebind<int16_t, decltype(d)> d16;
    const size_t lanes = hn::Lanes(d);
    auto largest = hn::Zero(d), poison = hn::Zero(d);
    for (size_t i = 0; i < 32; i += lanes) {
        const auto v = hn::LoadU(d, x + i);
        largest = hn::Max(largest, hn::Abs(v));
        poison = hn::Add(poison, hn::Mul(v, hn::Zero(d)));  // NaN if v is a NaN or an infinity
    }
    const float all = hn::GetLane(hn::MaxOfLanes(d, largest)), zero = hn::GetLane(hn::SumOfLanes(d, poison));
    if (!(all >= 0x1p-100f) || zero != zero) {
        memset(to.high, 0, 32);
        if (two) memset(to.low, 0, 32);
        memset(to.wide, 0, 64);
        sums[0] = sums[1] = 0;
        return zero != zero ? __builtin_nanf("") : 0.0f;
    }
    const float most = two ? 32639.0f : 127.0f;
    const auto inverse = hn::Set(d, most / all);
    for (size_t half = 0; half < 2; ++half) {
        auto sum = hn::Zero(di);
        for (size_t i = 16 * half; i < 16 * half + 16; i += lanes) {
            const auto code = hn::NearestInt(hn::Mul(hn::LoadU(d, x + i), inverse));
            sum = hn::Add(sum, code);
            hn::StoreU(hn::DemoteTo(d16, code), d16, to.wide + i);
            if (two) {
                const auto high = hn::ShiftRight<8>(hn::Add(code, hn::Set(di, 128)));
                hn::StoreU(hn::DemoteTo(d8, high), d8, to.high + i);
                hn::StoreU(hn::DemoteTo(d8, hn::Sub(code, hn::ShiftLeft<8>(high))), d8, to.low + i);
            } else {
                hn::StoreU(hn::DemoteTo(d8, code), d8, to.high + i);
            }
        }
        sums[half] = hn::GetLane(hn::SumOfLanes(di, sum));
    }
    return all / most;
}

void Quantise(const float* x, const QuantisedRow& layout, uint8_t* row) {
    const size_t blocks = layout.k / 32;
    const bool two = layout.planes == 2;
    int8_t *high = reinterpret_cast<int8_t*>(row), *low = reinterpret_cast<int8_t*>(row + layout.low);
    int16_t* wide = reinterpret_cast<int16_t*>(row + layout.wide);
    float* scale16 = reinterpret_cast<float*>(row + layout.of16.scale);
    float* scale32 = reinterpret_cast<float*>(row + layout.of32.scale);
    float* sum16 = reinterpret_cast<float*>(row + layout.of16.sum);
    float* sum32 = reinterpret_cast<float*>(row + layout.of32.sum);
    int32_t* bias16 = reinterpret_cast<int32_t*>(row + layout.of16.bias);
    int32_t* bias32 = reinterpret_cast<int32_t*>(row + layout.of32.bias);
    for (size_t b = 0; b < blocks; ++b) {
        int32_t sums[2];
        const float scale = QuantiseBlock(x + 32 * b, two, {high + 32 * b, low + 32 * b, wide + 32 * b}, sums);
        const int32_t both = sums[0] + sums[1];
        scale32[b] = scale16[2 * b] = scale16[2 * b + 1] = scale;
        bias16[2 * b] = -128 * sums[0];
        bias16[2 * b + 1] = -128 * sums[1];
        bias32[b] = -128 * both;
        sum16[2 * b] = scale * static_cast<float>(sums[0]);
        sum16[2 * b + 1] = scale * static_cast<float>(sums[1]);
        sum32[b] = scale * static_cast<float>(both);
    }
    if (layout.k % 64 != 0) {
        memset(high + layout.k, 0, 64 - layout.k % 64);
        if (two) memset(low + layout.k, 0, 64 - layout.k % 64);
    }
    for (size_t b = blocks; b % 16 != 0; ++b) scale32[b] = 0, bias32[b] = 0, sum32[b] = 0;
    for (size_t b = 2 * blocks; b % 16 != 0; ++b) scale16[b] = 0, bias16[b] = 0, sum16[b] = 0;
}

}  // namespace axial::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace axial::kernels {

QuantisedRow::QuantisedRow(std::size_t length, std::size_t count) : k(length), planes(count) {
    const auto whole = [](std::size_t n) { return (n + 63) / 64 * 64; };
    low = whole(k);
    std::size_t at = planes * whole(k);
    const auto take = [&](std::size_t groups) {
        const std::size_t before = at;
        at += whole(groups * 4);
        return before;
    };
    of16.scale = take(k / 16), of16.bias = take(k / 16), of16.sum = take(k / 16);
    of32.scale = take(k / 32), of32.bias = take(k / 32), of32.sum = take(k / 32);
    wide = at;
    bytes = at + whole(k * 2);
}

HWY_EXPORT(Quantise);
void quantiseRow(const float* x, const QuantisedRow& layout, std::byte* row) noexcept {
    if (integerUnit() < IntegerUnit::vnni)
        HWY_DYNAMIC_DISPATCH(Quantise)(x, layout, reinterpret_cast<std::uint8_t*>(row));
    else
        quantiseRowVnni(x, layout, row);
}

}  // namespace axial::kernels
#endif
