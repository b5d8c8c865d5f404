#include "axial/ops/decode_kernels.h"

#include "axial/ops/targets.h"
// After targets.h:
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "axial/ops/decode_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cstring>

#include "axial/ops/linear_codes.h"
#include "axial/tensor/decode.h"
#include "axial/tensor/half.h"

HWY_BEFORE_NAMESPACE();
namespace axial::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

HWY_INLINE uint16_t Word(const uint8_t* p) {  // a file promises no alignment
    uint16_t word;
    memcpy(&word, p, 2);
    return word;
}

void DecodeF16(const uint8_t* row, size_t k, float* out) {
    size_t i = 0;
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3  // elsewhere Highway's conversion is not exact for all halves
    const hn::ScalableTag<float> d;
    const hn::Rebind<hwy::float16_t, decltype(d)> dh;
    for (; i + hn::Lanes(d) <= k; i += hn::Lanes(d))
        hn::StoreU(hn::PromoteTo(d, hn::LoadU(dh, reinterpret_cast<const hwy::float16_t*>(row + 2 * i))), d, out + i);
#endif
    for (; i < k; ++i) out[i] = f16ToF32(Word(row + 2 * i));
}

void DecodeBF16(const uint8_t* row, size_t k, float* out) {
    const hn::ScalableTag<float> d;
    const hn::Rebind<hwy::bfloat16_t, decltype(d)> db;
    size_t i = 0;
    for (; i + hn::Lanes(d) <= k; i += hn::Lanes(d))
        hn::StoreU(hn::PromoteTo(d, hn::LoadU(db, reinterpret_cast<const hwy::bfloat16_t*>(row + 2 * i))), d, out + i);
    for (; i < k; ++i) out[i] = bf16ToF32(Word(row + 2 * i));
}

// out = scale * code + minimum, two roundings, by groups.
void DecodeCodes(const int8_t* codes, const float* scale, const float* minimum, size_t group, size_t k, float* out) {
    const hn::CappedTag<float, 16> d;
    const hn::RebindToSigned<decltype(d)> di;
    const hn::Rebind<int8_t, decltype(d)> d8;
    for (size_t g = 0; g < k / group; ++g) {
        const auto s = hn::Set(d, scale[g]);
        for (size_t i = g * group; i < (g + 1) * group; i += hn::Lanes(d)) {
            auto v = hn::Mul(s, hn::ConvertTo(d, hn::PromoteTo(di, hn::LoadU(d8, codes + i))));
            if (minimum) v = hn::Add(v, hn::Set(d, minimum[g]));
            hn::StoreU(v, d, out + i);
        }
    }
}

}  // namespace axial::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace axial::kernels {
HWY_EXPORT(DecodeF16);
HWY_EXPORT(DecodeBF16);
HWY_EXPORT(DecodeCodes);

namespace {
constexpr std::size_t wholeLines(std::size_t bytes) { return (bytes + 63) / 64 * 64; }
}  // namespace

std::size_t decodeScratchBytes(Format format, std::size_t k) noexcept {
    const std::size_t group = codeFormOf(format).group;
    return group == 0 ? 0 : wholeLines(k) + 2 * wholeLines(k / group * sizeof(float));
}

void decodeRow(Format format, const std::byte* row, std::size_t k, float* out, std::byte* scratch) noexcept {
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(row);
    const CodeForm form = codeFormOf(format);
    if (format == Format::f16) return HWY_DYNAMIC_DISPATCH(DecodeF16)(bytes, k, out);
    if (format == Format::bf16) return HWY_DYNAMIC_DISPATCH(DecodeBF16)(bytes, k, out);
    if (form.group == 0) return decode(format, row, k, out);
    auto* codes = reinterpret_cast<std::int8_t*>(scratch);
    auto* scale = reinterpret_cast<float*>(scratch + wholeLines(k));
    float* minimum = scale + wholeLines(k / form.group * sizeof(float)) / sizeof(float);
    unpackRows(format, row, 0, 1, k, {codes, k, scale, minimum, k / form.group});
    HWY_DYNAMIC_DISPATCH(DecodeCodes)(codes, scale, form.minimum ? minimum : nullptr, form.group, k, out);
}

}  // namespace axial::kernels
#endif
