#include "axial/ops/targets.h"
// After targets.h:
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "axial/ops/linear_rows_dotprod.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "axial/ops/linear_rows-inl.h"
#include "axial/ops/linear_rows_kernels.h"

#if defined(__ARM_FEATURE_DOTPROD) && HWY_TARGET == HWY_NEON
HWY_BEFORE_NAMESPACE();
namespace axial::kernels::HWY_NAMESPACE {

// sum + the four products of signed bytes in each dword.
HWY_INLINE VI DotSigned(VI sum, VI a, VI b) {
    return VI(vdotq_s32(sum.raw, vreinterpretq_s8_s32(a.raw), vreinterpretq_s8_s32(b.raw)));
}

// As Madd is, by the dot product instruction of Armv8.2. Both its operands are signed, so codes of 8 bits are taken
// without what was added to them, and the others, which have less, as they are.
struct Dotprod {
    template <class F>
    static constexpr bool words = false;
    template <class F>
    static constexpr size_t Few(size_t) {
        return ~size_t{0};  // the tiles of dotCodes multiply words, two codes at a time
    }
    template <class F, int planes, int count>
    static HWY_INLINE void Sums(const VI* v, const Activated& x, int g, VI* sum) {
        const DI d;
        constexpr bool all = F::largest == 255;
        static_assert(all ? F::zero == 128 : F::largest <= 127);
        VI high[count];
        AXIAL_UNROLL
        for (int i = 0; i < count; ++i) {
            sum[i] = !all && F::zero != 0 ? hn::Set(d, x.correction[g + i]) : hn::Zero(d);
            high[i] = hn::Zero(d);
        }
        AXIAL_UNROLL
        for (int q = 0; q < F::group / 4; ++q) {
            AXIAL_UNROLL
            for (int i = 0; i < count; ++i) {
                VI code = F::Code(v, g + i, q);
                if (all) code = hn::Xor(code, hn::Set(d, static_cast<int32_t>(0x80808080u)));
                const int at = (g + i) * F::group + 4 * q;
                if (planes == 2) {
                    high[i] = DotSigned(high[i], code, Four(x.codes + at));
                    sum[i] = DotSigned(sum[i], code, Four(x.low + at));
                } else {
                    sum[i] = DotSigned(sum[i], code, Four(x.codes + at));
                }
            }
        }
        if (planes == 2) {
            AXIAL_UNROLL
            for (int i = 0; i < count; ++i) sum[i] = hn::Add(sum[i], Left<8>(high[i]));
        }
    }
};

bool DotBlocksDotprod(const BlockProduct& p) {
    return OfFormat(p.format, [&](auto format) { return Product<decltype(format), Dotprod>(p); });
}

}  // namespace axial::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
#if defined(__ARM_FEATURE_DOTPROD) && defined(__linux__)
#include <sys/auxv.h>
#endif

namespace axial::kernels {
#if defined(__ARM_FEATURE_DOTPROD) && defined(__linux__)
bool hasDotprod() noexcept {
    static const bool has = (getauxval(AT_HWCAP) & HWCAP_ASIMDDP) != 0;
    return has;
}
bool dotBlocksDotprod(const BlockProduct& product) noexcept { return N_NEON::DotBlocksDotprod(product); }
#else
bool hasDotprod() noexcept { return false; }
bool dotBlocksDotprod(const BlockProduct&) noexcept { return false; }
#endif
}  // namespace axial::kernels
#endif
