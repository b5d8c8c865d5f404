#include "axial/ops/targets.h"
// After targets.h:
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "axial/ops/interleaved_avx_vnni.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "axial/ops/interleaved_blocks-inl.h"

#if HWY_TARGET == HWY_AVX2
HWY_BEFORE_NAMESPACE();
namespace axial::kernels::HWY_NAMESPACE {
void DotInterleavedVnni(const BlockProduct& p) { InterleavedBy<Vnni>(p); }
}  // namespace axial::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
namespace axial::kernels {
#if HWY_TARGETS & HWY_AVX2
void dotInterleavedAvxVnni(const BlockProduct& product) noexcept { N_AVX2::DotInterleavedVnni(product); }
#else
void dotInterleavedAvxVnni(const BlockProduct&) noexcept {}
#endif
}  // namespace axial::kernels
#endif
