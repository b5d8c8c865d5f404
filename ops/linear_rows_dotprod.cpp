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

// By the dot product instruction of Armv8.2.
struct Dotprod : FourBytes<Dotprod>, SignedCodes {
    template <class F>
    static constexpr size_t Few(size_t) {
        return ~size_t{0};  // the tiles of dotCodes multiply words, two codes at a time
    }
    // sum + the four products of signed bytes in each dword.
    static HWY_INLINE VI Add(VI sum, VI a, VI b) {
        return VI(vdotq_s32(sum.raw, vreinterpretq_s8_s32(a.raw), vreinterpretq_s8_s32(b.raw)));
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
