#include "axial/ops/targets.h"
// After targets.h:
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "axial/ops/store_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "axial/ops/store_kernels.h"
#include "axial/tensor/half.h"

HWY_BEFORE_NAMESPACE();
namespace axial::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

void StoreF16(const float* x, size_t n, uint16_t* half) {
    size_t i = 0;
#if HWY_TARGET == HWY_AVX2 || \
    HWY_TARGET == HWY_AVX3  // elsewhere Highway's own conversion does not round to nearest even
    const hn::ScalableTag<float> d;
    const hn::Rebind<hwy::float16_t, decltype(d)> dh;
    for (; i + hn::Lanes(d) <= n; i += hn::Lanes(d))
        hn::StoreU(hn::DemoteTo(dh, hn::LoadU(d, x + i)), dh, reinterpret_cast<hwy::float16_t*>(half + i));
#endif
    for (; i < n; ++i) half[i] = f32ToF16(x[i]);
}

}  // namespace axial::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace axial::kernels {
HWY_EXPORT(StoreF16);
void storeF16(const float* x, std::size_t n, std::uint16_t* half) noexcept {
    HWY_DYNAMIC_DISPATCH(StoreF16)(x, n, half);
}
}  // namespace axial::kernels
#endif
