#include "axial/ops/elementwise_kernels.h"

#include "axial/ops/targets.h"
// After targets.h:
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "axial/ops/elementwise_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "axial/ops/exp-inl.h"

HWY_BEFORE_NAMESPACE();
namespace axial::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

// The rest of a row goes through a buffer of one vector, so that a value's bits do not depend on where it stands.
template <class F>
HWY_INLINE void Row(float* out, const float* a, int aStep, const float* b, int bStep, size_t n, const F& f) {
    if (n == 0) return;
    const D d;
    const size_t lanes = hn::Lanes(d);
    const V a0 = hn::Set(d, a[0]), b0 = hn::Set(d, b[0]);
    size_t i = 0;
    for (; i + lanes <= n; i += lanes)
        hn::StoreU(f(aStep ? hn::LoadU(d, a + i) : a0, bStep ? hn::LoadU(d, b + i) : b0), d, out + i);
    if (i == n) return;
    HWY_ALIGN float x[HWY_MAX_BYTES / sizeof(float)] = {};
    HWY_ALIGN float y[HWY_MAX_BYTES / sizeof(float)] = {};
    if (!aStep) hn::Store(a0, d, x);
    if (!bStep) hn::Store(b0, d, y);
    const size_t rest = n - i;
    for (size_t k = 0; k < rest; ++k) {
        if (aStep) x[k] = a[i + k];
        if (bStep) y[k] = b[i + k];
    }
    hn::Store(f(hn::Load(d, x), hn::Load(d, y)), d, x);
    for (size_t k = 0; k < rest; ++k) out[i + k] = x[k];
}

struct Sum {
    HWY_INLINE V operator()(V a, V b) const { return hn::Add(a, b); }
};
struct Difference {
    HWY_INLINE V operator()(V a, V b) const { return hn::Sub(a, b); }
};
struct Product {
    HWY_INLINE V operator()(V a, V b) const { return hn::Mul(a, b); }
};
struct GatedProduct {
    HWY_INLINE V operator()(V gate, V up) const { return hn::Mul(Silu(D(), gate), up); }
};

void PointwiseRow(Pointwise op, float* out, const float* a, int aStep, const float* b, int bStep, size_t n) {
    switch (op) {
        case Pointwise::add:
            return Row(out, a, aStep, b, bStep, n, Sum());
        case Pointwise::sub:
            return Row(out, a, aStep, b, bStep, n, Difference());
        case Pointwise::mul:
            return Row(out, a, aStep, b, bStep, n, Product());
        case Pointwise::swiglu:
            return Row(out, a, aStep, b, bStep, n, GatedProduct());
    }
}

}  // namespace axial::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace axial::kernels {

HWY_EXPORT(PointwiseRow);

void pointwise(Pointwise op, float* out, const float* a, int aStep, const float* b, int bStep, std::size_t n) noexcept {
    HWY_DYNAMIC_DISPATCH(PointwiseRow)(op, out, a, aStep, b, bStep, n);
}

}  // namespace axial::kernels
#endif
