#include "axial/ops/reduce_kernels.h"

#include "axial/ops/targets.h"
// After targets.h:
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "axial/ops/reduce_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "axial/ops/exp-inl.h"

HWY_BEFORE_NAMESPACE();
namespace axial::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;
constexpr size_t maxLanes = HWY_MAX_BYTES / sizeof(float);
constexpr float none = -__builtin_inff();

// Up to a vector of values, the lanes behind them filled with `rest`.
HWY_INLINE V LoadSome(const float* x, size_t n, float rest) {
    const D d;
    if (n >= hn::Lanes(d)) return hn::LoadU(d, x);
    HWY_ALIGN float buffer[maxLanes];
    for (size_t k = 0; k < hn::Lanes(d); ++k) buffer[k] = k < n ? x[k] : rest;
    return hn::Load(d, buffer);
}
HWY_INLINE void StoreSome(V v, float* x, size_t n) {
    const D d;
    if (n >= hn::Lanes(d)) return hn::StoreU(v, d, x);
    HWY_ALIGN float buffer[maxLanes];
    hn::Store(v, d, buffer);
    for (size_t k = 0; k < n; ++k) x[k] = buffer[k];
}

double SumRow(const float* x, size_t n) {
    const D d;
    const size_t lanes = hn::Lanes(d);
    constexpr size_t chunk = 512;
    double total = 0;
    for (size_t begin = 0; begin < n; begin += chunk) {
        const size_t end = HWY_MIN(n, begin + chunk);
        V s0 = hn::Zero(d), s1 = s0;
        size_t i = begin;
        for (; i + 2 * lanes <= end; i += 2 * lanes) {
            s0 = hn::Add(s0, hn::LoadU(d, x + i));
            s1 = hn::Add(s1, hn::LoadU(d, x + i + lanes));
        }
        for (; i < end; i += lanes) s0 = hn::Add(s0, LoadSome(x + i, end - i, 0));
        total += static_cast<double>(hn::GetLane(hn::SumOfLanes(d, hn::Add(s0, s1))));
    }
    return total;
}

float MaxRow(const float* x, size_t n) {
    const D d;
    V top = hn::Set(d, none), bad = hn::Zero(d);
    for (size_t i = 0; i < n; i += hn::Lanes(d)) {
        const V v = LoadSome(x + i, n - i, none);
        bad = hn::IfThenElse(hn::IsNaN(v), hn::Set(d, 1.0f), bad);
        top = hn::IfThenElse(hn::Gt(v, top), v, top);
    }
    if (hn::GetLane(hn::MaxOfLanes(d, bad)) != 0) return __builtin_nanf("");
    // not MaxOfLanes, which in Highway 1.0.3's EMU128 never goes below the lowest finite value
    HWY_ALIGN float lane[maxLanes];
    hn::Store(top, d, lane);
    float largest = lane[0];
    for (size_t k = 1; k < hn::Lanes(d); ++k)
        if (lane[k] > largest) largest = lane[k];
    return largest;
}

size_t FirstEqual(const float* x, size_t n, float value) {
    const D d;
    const V wanted = hn::Set(d, value);
    size_t i = 0;
    for (; i + hn::Lanes(d) <= n; i += hn::Lanes(d)) {
        const intptr_t at = hn::FindFirstTrue(d, hn::Eq(hn::LoadU(d, x + i), wanted));
        if (at >= 0) return i + static_cast<size_t>(at);
    }
    for (; i < n; ++i)
        if (x[i] == value) return i;
    return n;
}
size_t FirstAbove(const float* x, size_t n, float value) {
    const D d;
    const V bound = hn::Set(d, value);
    size_t i = 0;
    for (; i + hn::Lanes(d) <= n; i += hn::Lanes(d)) {
        const intptr_t at = hn::FindFirstTrue(d, hn::Gt(hn::LoadU(d, x + i), bound));
        if (at >= 0) return i + static_cast<size_t>(at);
    }
    for (; i < n; ++i)
        if (x[i] > value) return i;
    return n;
}

void SoftmaxRow(float* out, const float* x, size_t n) {
    const D d;
    const size_t lanes = hn::Lanes(d);
    V top = hn::Set(d, none);
    for (size_t i = 0; i < n; i += lanes) top = hn::Max(top, LoadSome(x + i, n - i, none));
    const float largest = hn::GetLane(hn::MaxOfLanes(d, top));
    const V shift = hn::Set(d, largest == none ? 0.0f : largest);
    V sum = hn::Zero(d);
    for (size_t i = 0; i < n; i += lanes) {
        const V weight = ExpNonPositive(d, hn::Sub(LoadSome(x + i, n - i, none), shift));
        StoreSome(weight, out + i, n - i);
        sum = hn::Add(sum, weight);
    }
    const float total = hn::GetLane(hn::SumOfLanes(d, sum));
    const V divisor = hn::Set(d, total == 0 ? 1.0f : total);
    for (size_t i = 0; i < n; i += lanes) StoreSome(hn::Div(LoadSome(out + i, n - i, 0), divisor), out + i, n - i);
}

}  // namespace axial::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace axial::kernels {

HWY_EXPORT(SumRow);
HWY_EXPORT(MaxRow);
HWY_EXPORT(FirstEqual);
HWY_EXPORT(FirstAbove);
HWY_EXPORT(SoftmaxRow);

double sumRow(const float* x, std::size_t n) noexcept { return HWY_DYNAMIC_DISPATCH(SumRow)(x, n); }
float maxRow(const float* x, std::size_t n) noexcept { return HWY_DYNAMIC_DISPATCH(MaxRow)(x, n); }
std::size_t firstEqual(const float* x, std::size_t n, float value) noexcept {
    return HWY_DYNAMIC_DISPATCH(FirstEqual)(x, n, value);
}
std::size_t firstAbove(const float* x, std::size_t n, float value) noexcept {
    return HWY_DYNAMIC_DISPATCH(FirstAbove)(x, n, value);
}
void softmaxRow(float* out, const float* x, std::size_t n) noexcept { HWY_DYNAMIC_DISPATCH(SoftmaxRow)(out, x, n); }

}  // namespace axial::kernels
#endif
