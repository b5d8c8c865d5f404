#include "axial/ops/mixture_kernels.h"

#include "axial/ops/targets.h"
// After targets.h:
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "axial/ops/mixture_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace axial::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// One vector at i, or one value where D is a tag for that: so that a value's bits do not depend on where it stands.
template <class D>
HWY_INLINE void SumAt(D d, float* out, const float* add, const float* const* part, const float* weight, size_t parts,
                      size_t i) {
    auto sum = hn::Zero(d);
    if (parts != 0) sum = hn::Mul(hn::Set(d, weight[0]), hn::LoadU(d, part[0] + i));
    for (size_t s = 1; s < parts; ++s) sum = hn::MulAdd(hn::Set(d, weight[s]), hn::LoadU(d, part[s] + i), sum);
    hn::StoreU(add ? hn::Add(hn::LoadU(d, add + i), sum) : sum, d, out + i);
}

void WeightedSum(float* out, const float* add, const float* const* part, const float* weight, size_t parts, size_t n) {
    const hn::ScalableTag<float> d;
    size_t i = 0;
    for (; i + hn::Lanes(d) <= n; i += hn::Lanes(d)) SumAt(d, out, add, part, weight, parts, i);
    for (; i < n; ++i) SumAt(hn::CappedTag<float, 1>(), out, add, part, weight, parts, i);
}

}  // namespace axial::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace axial::kernels {

HWY_EXPORT(WeightedSum);

void weightedSum(float* out, const float* add, const float* const* part, const float* weight, std::size_t parts,
                 std::size_t n) noexcept {
    HWY_DYNAMIC_DISPATCH(WeightedSum)(out, add, part, weight, parts, n);
}

}  // namespace axial::kernels
#endif
