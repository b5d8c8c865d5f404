#include "axial/ops/norm_rope_kernels.h"

#include "axial/ops/targets.h"
// After targets.h:
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "axial/ops/norm_rope_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace axial::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;
constexpr size_t maxLanes = HWY_MAX_BYTES / sizeof(float);

// The sum of squares of up to `chunk` values in floats, the sum of the chunks in double: the error does not grow with
// n.
constexpr size_t chunk = 512;

HWY_INLINE double SumOfSquares(const float* x, size_t n) {
    const D d;
    const size_t lanes = hn::Lanes(d);
    double total = 0;
    for (size_t begin = 0; begin < n; begin += chunk) {
        const size_t end = HWY_MIN(n, begin + chunk);
        V s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
        size_t i = begin;
        for (; i + 4 * lanes <= end; i += 4 * lanes) {
            const V x0 = hn::LoadU(d, x + i), x1 = hn::LoadU(d, x + i + lanes);
            const V x2 = hn::LoadU(d, x + i + 2 * lanes), x3 = hn::LoadU(d, x + i + 3 * lanes);
            s0 = hn::MulAdd(x0, x0, s0);
            s1 = hn::MulAdd(x1, x1, s1);
            s2 = hn::MulAdd(x2, x2, s2);
            s3 = hn::MulAdd(x3, x3, s3);
        }
        for (; i < end; i += lanes) {
            HWY_ALIGN float rest[maxLanes] = {};
            const size_t left = HWY_MIN(lanes, end - i);
            for (size_t k = 0; k < left; ++k) rest[k] = x[i + k];
            const V v = hn::Load(d, rest);
            s0 = hn::MulAdd(v, v, s0);
        }
        total += static_cast<double>(hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(s0, s1), hn::Add(s2, s3)))));
    }
    return total;
}

HWY_INLINE void NormRow(float* out, const float* x, const float* weight, size_t n, float eps) {
    if (n == 0) return;
    const D d;
    const size_t lanes = hn::Lanes(d);
    const double mean = SumOfSquares(x, n) / static_cast<double>(n);
    const V factor =
        hn::Div(hn::Set(d, 1.0f), hn::Sqrt(hn::Set(d, static_cast<float>(mean + static_cast<double>(eps)))));
    size_t i = 0;
    for (; i + lanes <= n; i += lanes)
        hn::StoreU(hn::Mul(hn::Mul(hn::LoadU(d, x + i), factor), hn::LoadU(d, weight + i)), d, out + i);
    const float one = hn::GetLane(factor);
    for (; i < n; ++i) out[i] = x[i] * one * weight[i];
}

// (a, b) turned by an angle, as vectors of many pairs.
struct Turned {
    V a, b;
};
HWY_INLINE Turned Turn(V a, V b, V cosine, V sine) {
    return {hn::NegMulAdd(b, sine, hn::Mul(a, cosine)), hn::MulAdd(a, sine, hn::Mul(b, cosine))};
}

// The last pairs of a row, fewer than a vector holds: through buffers, with the same arithmetic.
HWY_INLINE void TurnRest(float* out, const float* x, size_t first, size_t second, size_t step, const float* cosine,
                         const float* sine, size_t pairs) {
    const D d;
    HWY_ALIGN float a[maxLanes] = {}, b[maxLanes] = {}, c[maxLanes] = {}, s[maxLanes] = {};
    for (size_t k = 0; k < pairs; ++k) {
        a[k] = x[first + step * k], b[k] = x[second + step * k];
        c[k] = cosine[k], s[k] = sine[k];
    }
    const Turned t = Turn(hn::Load(d, a), hn::Load(d, b), hn::Load(d, c), hn::Load(d, s));
    hn::Store(t.a, d, a);
    hn::Store(t.b, d, b);
    for (size_t k = 0; k < pairs; ++k) out[first + step * k] = a[k], out[second + step * k] = b[k];
}

HWY_INLINE void CopyRest(float* out, const float* x, size_t from, size_t n) {
    if (out != x)
        for (size_t i = from; i < n; ++i) out[i] = x[i];
}

HWY_INLINE void HalfRow(float* out, const float* x, const float* cosine, const float* sine, size_t pairs, size_t n) {
    const D d;
    const size_t lanes = hn::Lanes(d);
    size_t i = 0;
    for (; i + lanes <= pairs; i += lanes) {
        const Turned t =
            Turn(hn::LoadU(d, x + i), hn::LoadU(d, x + pairs + i), hn::LoadU(d, cosine + i), hn::LoadU(d, sine + i));
        hn::StoreU(t.a, d, out + i);
        hn::StoreU(t.b, d, out + pairs + i);
    }
    if (i < pairs) TurnRest(out, x, i, pairs + i, 1, cosine + i, sine + i, pairs - i);
    CopyRest(out, x, 2 * pairs, n);
}

void RmsNormMulRow(float* out, const float* x, const float* weight, size_t n, float eps) {
    NormRow(out, x, weight, n, eps);
}
void RopeHalfRow(float* out, const float* x, const float* cosine, const float* sine, size_t pairs, size_t n) {
    HalfRow(out, x, cosine, sine, pairs, n);
}
void RopeInterleavedRow(float* out, const float* x, const float* cosine, const float* sine, size_t pairs, size_t n) {
    const D d;
    const size_t lanes = hn::Lanes(d);
    size_t i = 0;
    for (; i + lanes <= pairs; i += lanes) {
        V a, b;
        hn::LoadInterleaved2(d, x + 2 * i, a, b);
        const Turned t = Turn(a, b, hn::LoadU(d, cosine + i), hn::LoadU(d, sine + i));
        hn::StoreInterleaved2(t.a, t.b, d, out + 2 * i);
    }
    if (i < pairs) TurnRest(out, x, 2 * i, 2 * i + 1, 2, cosine + i, sine + i, pairs - i);
    CopyRest(out, x, 2 * pairs, n);
}
void RmsNormMulRopeHalfRow(float* out, const float* x, const float* weight, float eps, const float* cosine,
                           const float* sine, size_t pairs, size_t n) {
    NormRow(out, x, weight, n, eps);
    HalfRow(out, out, cosine, sine, pairs, n);
}

}  // namespace axial::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace axial::kernels {

HWY_EXPORT(RmsNormMulRow);
HWY_EXPORT(RopeHalfRow);
HWY_EXPORT(RopeInterleavedRow);
HWY_EXPORT(RmsNormMulRopeHalfRow);

void rmsNormMulRow(float* out, const float* x, const float* weight, std::size_t n, float eps) noexcept {
    HWY_DYNAMIC_DISPATCH(RmsNormMulRow)(out, x, weight, n, eps);
}
void ropeHalfRow(float* out, const float* x, const float* cosine, const float* sine, std::size_t pairs,
                 std::size_t n) noexcept {
    HWY_DYNAMIC_DISPATCH(RopeHalfRow)(out, x, cosine, sine, pairs, n);
}
void ropeInterleavedRow(float* out, const float* x, const float* cosine, const float* sine, std::size_t pairs,
                        std::size_t n) noexcept {
    HWY_DYNAMIC_DISPATCH(RopeInterleavedRow)(out, x, cosine, sine, pairs, n);
}
void rmsNormMulRopeHalfRow(float* out, const float* x, const float* weight, float eps, const float* cosine,
                           const float* sine, std::size_t pairs, std::size_t n) noexcept {
    HWY_DYNAMIC_DISPATCH(RmsNormMulRopeHalfRow)(out, x, weight, eps, cosine, sine, pairs, n);
}

}  // namespace axial::kernels
#endif
