#include "axial/ops/targets.h"
// After targets.h:
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "axial/ops/linear_rows_avx_vnni.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "axial/ops/linear_rows-inl.h"
#include "axial/ops/linear_rows_kernels.h"

#if HWY_TARGET == HWY_AVX2
HWY_BEFORE_NAMESPACE();
namespace axial::kernels::HWY_NAMESPACE {

bool DotBlocksVnni(const BlockProduct& p) {
    return OfFormat(p.format, [&](auto format) { return Product<decltype(format), Vnni>(p); });
}
bool PackBytes(Format format, const uint8_t* w, ptrdiff_t rowBytes, size_t k, std::byte* panel) {
    return OfFormat(format, [&](auto f) {
        Pack<decltype(f), uint8_t>(w, rowBytes, k, panel, 128);
        return true;
    });
}

}  // namespace axial::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
#if HWY_TARGETS & HWY_AVX2
#include <cpuid.h>
#endif

namespace axial::kernels {
#if HWY_TARGETS & HWY_AVX2
bool hasAvxVnni() noexcept {
    static const bool has = [] {
        unsigned a, b, c, d;
        return __get_cpuid_count(7, 1, &a, &b, &c, &d) != 0 && (a >> 4 & 1) != 0;
    }();
    return has;
}
bool dotBlocksAvxVnni(const BlockProduct& product) noexcept { return N_AVX2::DotBlocksVnni(product); }
bool packBytesAvxVnni(Format format, const std::byte* w, std::ptrdiff_t rowBytes, std::size_t k,
                      std::byte* panel) noexcept {
    return N_AVX2::PackBytes(format, reinterpret_cast<const std::uint8_t*>(w), rowBytes, k, panel);
}
#else
bool hasAvxVnni() noexcept { return false; }
bool dotBlocksAvxVnni(const BlockProduct&) noexcept { return false; }
bool packBytesAvxVnni(Format, const std::byte*, std::ptrdiff_t, std::size_t, std::byte*) noexcept { return false; }
#endif
}  // namespace axial::kernels
#endif
