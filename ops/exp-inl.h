// Target-side mathematics: e^x and what is made of it. Included by kernel files inside foreach_target's loop.
#if defined(AXIAL_OPS_EXP_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef AXIAL_OPS_EXP_INL_H_
#undef AXIAL_OPS_EXP_INL_H_
#else
#define AXIAL_OPS_EXP_INL_H_
#endif

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace axial::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// e^x for x <= 0, within 1 ulp (measured with and without fused multiply-add; also where the result is subnormal); 0
// from -104 down and for minus infinity; NaN for NaN. x = n ln 2 + r with |r| <= ln 2 / 2, and e^r = 1 + r + r^2 q(r),
// where q is a polynomial of degree 4 whose relative error was made smallest over that range (3e-9).
template <class D, class V>
HWY_INLINE V ExpNonPositive(D d, V x) {
    const hn::RebindToSigned<D> di;
    const V n = hn::Round(hn::Mul(x, hn::Set(d, 1.44269504f)));
    V r = hn::NegMulAdd(n, hn::Set(d, 0.693359375f), x);  // exact: 8 bits times 10
    r = hn::NegMulAdd(n, hn::Set(d, -2.12194440e-4f), r);
    V q = hn::MulAdd(hn::Set(d, 0x1.6a23d0p-10f), r, hn::Set(d, 0x1.123a20p-7f));
    q = hn::MulAdd(q, r, hn::Set(d, 0x1.5558f2p-5f));
    q = hn::MulAdd(q, r, hn::Set(d, 0x1.555492p-3f));
    q = hn::MulAdd(q, r, hn::Set(d, 0x1.fffffcp-2f));
    const V y = hn::Add(hn::MulAdd(q, hn::Mul(r, r), r), hn::Set(d, 1.0f));
#if HWY_TARGET == HWY_AVX3
    // times 2^n by the instruction for it; the same bits as below for all x, tried one by one
    if constexpr (sizeof(y.raw) == 64)
        return hn::IfThenElse(hn::Lt(x, hn::Set(d, -104.0f)), hn::Zero(d), V{_mm512_scalef_ps(y.raw, n.raw)});
#endif
    // times 2^n in two steps, since 2^n alone may be no normal number
    const auto exponent = hn::ConvertTo(di, n);
    const auto half = hn::ShiftRight<1>(exponent);
    const auto bias = hn::Set(di, 127);
    const V first = hn::BitCast(d, hn::ShiftLeft<23>(hn::Add(half, bias)));
    const V second = hn::BitCast(d, hn::ShiftLeft<23>(hn::Add(hn::Sub(exponent, half), bias)));
    return hn::IfThenElse(hn::Lt(x, hn::Set(d, -104.0f)), hn::Zero(d), hn::Mul(hn::Mul(y, first), second));
}

// x / (1 + e^-x), by way of e^-|x| so that nothing overflows; 0 for minus infinity.
template <class D, class V>
HWY_INLINE V Silu(D d, V x) {
    const V e = ExpNonPositive(d, hn::Neg(hn::Abs(x)));
    const V low = hn::Max(x, hn::Set(d, -104.0f));  // there e is 0, and infinity times 0 would be NaN
    const V top = hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::Mul(low, e), x);
    return hn::Div(top, hn::Add(e, hn::Set(d, 1.0f)));
}

}  // namespace axial::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
