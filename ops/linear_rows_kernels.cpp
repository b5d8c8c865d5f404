#include "axial/ops/targets.h"
// After targets.h:
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "axial/ops/linear_rows_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "axial/ops/linear_rows-inl.h"
#include "axial/ops/linear_rows_kernels.h"

HWY_BEFORE_NAMESPACE();
namespace axial::kernels::HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR

bool DotBlocks(const BlockProduct&) { return false; }
bool PackBlocks(Format, const uint8_t*, ptrdiff_t, const QuantisedRow&, std::byte*) { return false; }

#elif HWY_TARGET == HWY_AVX3 && (HWY_TARGETS & HWY_AVX2)

// Wider vectors would want more rows side by side; the bits are the same.
bool DotBlocks(const BlockProduct& p) { return dotBlocksAVX2(p); }
bool PackBlocks(Format format, const uint8_t* w, ptrdiff_t rowBytes, const QuantisedRow& x, std::byte* panel) {
    return packBlocksAVX2(format, w, rowBytes, x, panel);
}

#else

bool DotBlocks(const BlockProduct& p) {
    return OfFormat(p.format, [&](auto format) { return Product<decltype(format), Madd>(p); });
}
bool PackBlocks(Format format, const uint8_t* w, ptrdiff_t rowBytes, const QuantisedRow& x, std::byte* panel) {
    return OfFormat(format, [&](auto f) {
        using F = decltype(f);
        if constexpr (F::largest != 255)
            if (x.planes == 1) {
                Pack<F, uint8_t>(w, rowBytes, x.k, panel, bytePanelOf(format).zero);
                return true;
            }
        Pack<F, int16_t>(w, rowBytes, x.k, panel);
        return true;
    });
}

#endif

}  // namespace axial::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace axial::kernels {
HWY_EXPORT(DotBlocks);
HWY_EXPORT(PackBlocks);
#if HWY_TARGETS & HWY_AVX2
bool dotBlocksAVX2(const BlockProduct& product) noexcept { return N_AVX2::DotBlocks(product); }
bool packBlocksAVX2(Format format, const std::uint8_t* w, std::ptrdiff_t rowBytes, const QuantisedRow& x,
                    std::byte* panel) noexcept {
    return N_AVX2::PackBlocks(format, w, rowBytes, x, panel);
}
#endif
bool dotBlocksTurned(const BlockProduct& product) noexcept { return HWY_DYNAMIC_DISPATCH(DotBlocks)(product); }
bool packBlocksTurned(Format format, const std::byte* w, std::ptrdiff_t rowBytes, const QuantisedRow& x,
                      std::byte* panel) noexcept {
    return HWY_DYNAMIC_DISPATCH(PackBlocks)(format, reinterpret_cast<const std::uint8_t*>(w), rowBytes, x, panel);
}
}  // namespace axial::kernels
#endif
