#include "axial/ops/targets.h"
// After targets.h:
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "axial/ops/dot_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <cstring>

#include "axial/ops/dot_kernels.h"

#define AXIAL_UNROLL _Pragma("GCC unroll 8")

HWY_BEFORE_NAMESPACE();
namespace axial::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;
// The tile of outputs that is kept in registers: rows of w times rows of x.
constexpr int tileW = 4;
constexpr int tileX = HWY_MAX_BYTES == 64 ? 6 : 3;

struct LoadF32 {
    using Element = float;
    HWY_INLINE V operator()(const float* p) const { return hn::LoadU(D(), p); }
};
struct LoadF16 {
    using Element = hwy::float16_t;
    HWY_INLINE V operator()(const hwy::float16_t* p) const {
        return hn::PromoteTo(D(), hn::LoadU(hn::Rebind<hwy::float16_t, D>(), p));
    }
};
struct LoadBF16 {
    using Element = hwy::bfloat16_t;
    HWY_INLINE V operator()(const hwy::bfloat16_t* p) const {
        return hn::PromoteTo(D(), hn::LoadU(hn::Rebind<hwy::bfloat16_t, D>(), p));
    }
};

// The one rule for every output: lane i of a vector adds up the products at i, i + lanes, i + 2 lanes, ... in that
// order, then the lanes are added up.
template <class Load, int MX, int MW>
HWY_INLINE void Tile(const FloatProduct& o, size_t t, size_t j) {
    using Element = typename Load::Element;
    const D d;
    const Load load;
    const size_t lanes = hn::Lanes(d);
    const float* x[MX];
    const Element* w[MW];
    for (int a = 0; a < MX; ++a) x[a] = o.x + static_cast<ptrdiff_t>(t + a) * o.xStride;
    for (int b = 0; b < MW; ++b)
        w[b] = reinterpret_cast<const Element*>(o.w + static_cast<ptrdiff_t>(j + b) * o.rowBytes);
    V sum[MX][MW];
    AXIAL_UNROLL
    for (int a = 0; a < MX; ++a) {
        AXIAL_UNROLL
        for (int b = 0; b < MW; ++b) sum[a][b] = hn::Zero(d);
    }
    const ptrdiff_t ahead = MW * o.rowBytes;
    size_t i = 0;
    for (; i + lanes <= o.k; i += lanes) {
        V wide[MW];
        AXIAL_UNROLL
        for (int b = 0; b < MW; ++b) wide[b] = load(w[b] + i);
        if (MX == 1) {  // the rows after these
            AXIAL_UNROLL
            for (int b = 0; b < MW; ++b) hwy::Prefetch(reinterpret_cast<const uint8_t*>(w[b] + i) + ahead);
        }
        AXIAL_UNROLL
        for (int a = 0; a < MX; ++a) {
            const V xv = hn::LoadU(d, x[a] + i);
            AXIAL_UNROLL
            for (int b = 0; b < MW; ++b) sum[a][b] = hn::MulAdd(xv, wide[b], sum[a][b]);
        }
    }
    if (i < o.k) {  // the rest of a row, filled up with zeros
        HWY_ALIGN float xRest[HWY_MAX_BYTES / 4];
        HWY_ALIGN Element wRest[HWY_MAX_BYTES / 4];
        const size_t rest = o.k - i;
        for (int b = 0; b < MW; ++b) {
            memset(wRest, 0, sizeof(wRest));
            memcpy(wRest, w[b] + i, rest * sizeof(Element));
            const V wv = load(wRest);
            for (int a = 0; a < MX; ++a) {
                memset(xRest, 0, sizeof(xRest));
                memcpy(xRest, x[a] + i, rest * sizeof(float));
                sum[a][b] = hn::MulAdd(hn::Load(d, xRest), wv, sum[a][b]);
            }
        }
    }
    for (int a = 0; a < MX; ++a)
        for (int b = 0; b < MW; ++b) {
            float value = hn::GetLane(hn::SumOfLanes(d, sum[a][b]));
            if (o.add)
                value = o.add[static_cast<ptrdiff_t>(t + a) * o.addStride + static_cast<ptrdiff_t>(j + b)] + value;
            o.out[static_cast<ptrdiff_t>(t + a) * o.outStride + static_cast<ptrdiff_t>(j + b)] = value;
        }
}

// Some rows of x stay in the first cache while all of w passes by.
template <class Load, int MX>
HWY_INLINE void AllOfW(const FloatProduct& o, size_t t) {
    size_t j = 0;
    for (; j + tileW <= o.n; j += tileW) Tile<Load, MX, tileW>(o, t, j);
    for (; j < o.n; ++j) Tile<Load, MX, 1>(o, t, j);
}

template <class Load>
HWY_NOINLINE void Rows(const FloatProduct& o) {
    size_t t = 0;
    for (; t + tileX <= o.m; t += tileX) AllOfW<Load, tileX>(o, t);
    switch (o.m - t) {
        case 1:
            return AllOfW<Load, 1>(o, t);
        case 2:
            return AllOfW<Load, 2>(o, t);
#if HWY_MAX_BYTES == 64
        case 3:
            return AllOfW<Load, 3>(o, t);
        case 4:
            return AllOfW<Load, 4>(o, t);
        case 5:
            return AllOfW<Load, 5>(o, t);
#endif
    }
}

void DotF32(const FloatProduct& o) { Rows<LoadF32>(o); }
void DotF16(const FloatProduct& o) { Rows<LoadF16>(o); }
void DotBF16(const FloatProduct& o) { Rows<LoadBF16>(o); }

}  // namespace axial::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace axial::kernels {
HWY_EXPORT(DotF32);
HWY_EXPORT(DotF16);
HWY_EXPORT(DotBF16);
void dotFloats(const FloatProduct& product) noexcept {
    if (product.format == Format::f32)
        HWY_DYNAMIC_DISPATCH(DotF32)(product);
    else if (product.format == Format::f16)
        HWY_DYNAMIC_DISPATCH(DotF16)(product);
    else
        HWY_DYNAMIC_DISPATCH(DotBF16)(product);
}
}  // namespace axial::kernels
#endif
