#include "axial/ops/targets.h"
// After targets.h:
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "axial/ops/linear_codes_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cstring>

#include "axial/ops/fetch_ahead-inl.h"
#include "axial/ops/linear_codes.h"
#include "axial/tensor/decode_grids.h"
#include "axial/tensor/half.h"

HWY_BEFORE_NAMESPACE();
namespace axial::kernels::HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR

void UnpackRow(Format format, const uint8_t* blocks, size_t k, int8_t* codes, float* scale, float* minimum) {
    plain::unpackCodes(format, reinterpret_cast<const std::byte*>(blocks), k, codes, scale, minimum);
}

#else

namespace hn = hwy::HWY_NAMESPACE;

using D16 = hn::Full128<uint8_t>;  // sixteen codes
using D32 = hn::CappedTag<uint8_t, 32>;
using V16 = hn::Vec<D16>;
using V32 = hn::Vec<D32>;
using DF = hn::CappedTag<float, 8>;

template <int bits, class V>
HWY_INLINE V Right(V v) {  // of each byte's upper bits only those survive that the caller's mask keeps
    const hn::DFromV<V> d;
    return hn::BitCast(d, hn::ShiftRight<bits>(hn::BitCast(hn::Repartition<uint16_t, decltype(d)>(), v)));
}
template <int bits, class V>
HWY_INLINE V Left(V v) {
    const hn::DFromV<V> d;
    return hn::BitCast(d, hn::ShiftLeft<bits>(hn::BitCast(hn::Repartition<uint16_t, decltype(d)>(), v)));
}
template <class V>
HWY_INLINE V LowNibbles(V v) {
    return hn::And(v, hn::Set(hn::DFromV<V>(), 15));
}
template <class V>
HWY_INLINE V HighNibbles(V v) {
    return LowNibbles(Right<4>(v));
}
// `value` in each byte of which `bit` is set, else 0.
template <class V>
HWY_INLINE V WhereBit(V v, V bit, uint8_t value) {
    const hn::DFromV<V> d;
    return hn::IfThenElseZero(hn::Eq(hn::And(v, bit), bit), hn::Set(d, value));
}
HWY_INLINE void Put(V16 v, int8_t* to) { hn::StoreU(v, D16(), reinterpret_cast<uint8_t*>(to)); }
HWY_INLINE void Put(V32 v, int8_t* to, size_t i) { hn::StoreU(v, D32(), reinterpret_cast<uint8_t*>(to) + i); }

HWY_INLINE uint16_t Word(const uint8_t* p) {
    uint16_t w;
    memcpy(&w, p, 2);
    return w;
}
HWY_INLINE void Floats(const uint16_t* halves, float* out, size_t n) {
    size_t i = 0;
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3  // elsewhere Highway's conversion is not exact for all halves
    const DF d;
    const hn::Rebind<hwy::float16_t, DF> dh;
    for (; i + hn::Lanes(d) <= n; i += hn::Lanes(d))
        hn::StoreU(hn::PromoteTo(d, hn::LoadU(dh, reinterpret_cast<const hwy::float16_t*>(halves + i))), d, out + i);
#endif
    for (; i < n; ++i) out[i] = f16ToF32(halves[i]);
}
// out[i] = d * bytes[i], for signed or unsigned bytes.
template <class Byte>
HWY_INLINE void Scaled(float d, const Byte* bytes, float* out, size_t n) {
    const DF df;
    const hn::RebindToSigned<DF> di;
    const hn::Rebind<Byte, DF> d8;
    for (size_t i = 0; i < n; i += hn::Lanes(df))
        hn::StoreU(hn::Mul(hn::Set(df, d), hn::ConvertTo(df, hn::PromoteTo(di, hn::LoadU(d8, bytes + i)))), df,
                   out + i);
}

// ---- blocks of 32: f(block, codes) writes the codes; scales, and minimums behind them, are halves at the start.
constexpr size_t batch = 32;  // blocks whose halves are converted together
template <bool minimum, class F>
HWY_INLINE void Blocks32(const uint8_t* p, size_t bytes, size_t k, int8_t* codes, float* scale, float* least,
                         const F& f) {
    const size_t blocks = k / 32;
    for (size_t first = 0; first < blocks; first += batch) {
        const size_t count = blocks - first < batch ? blocks - first : batch;
        uint16_t d[batch], m[batch];
        for (size_t b = 0; b < count; ++b, p += bytes, codes += 32) {
            d[b] = Word(p);
            if (minimum) m[b] = Word(p + 2);
            f(p, codes);
        }
        Floats(d, scale + first, count);
        if (minimum) Floats(m, least + first, count);
    }
}

struct Copy {
    HWY_INLINE void operator()(const uint8_t* p, int8_t* codes) const {
        for (size_t i = 0; i < 32; i += hn::Lanes(D32())) Put(hn::LoadU(D32(), p + 2 + i), codes, i);
    }
};
template <int offset, int zero>
struct Nibbles {
    HWY_INLINE void operator()(const uint8_t* p, int8_t* codes) const {
        const V16 v = hn::LoadU(D16(), p + offset), z = hn::Set(D16(), zero);
        Put(hn::Sub(LowNibbles(v), z), codes);
        Put(hn::Sub(HighNibbles(v), z), codes + 16);
    }
};
template <int offset, int zero>
struct FiveBits {
    HWY_INLINE void operator()(const uint8_t* p, int8_t* codes) const {
        const D16 d;
        HWY_ALIGN static constexpr uint8_t bits[16] = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
        HWY_ALIGN static constexpr uint8_t first[16] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1};
        HWY_ALIGN uint8_t fifth[16] = {};
        memcpy(fifth, p + offset - 4, 4);
        const V16 all = hn::Load(d, fifth), index = hn::Load(d, first), bit = hn::Load(d, bits);
        const V16 low = hn::TableLookupBytes(all, index);
        const V16 high = hn::TableLookupBytes(all, hn::Add(index, hn::Set(d, 2)));
        const V16 v = hn::LoadU(d, p + offset), z = hn::Set(d, zero);
        Put(hn::Sub(hn::Or(LowNibbles(v), WhereBit(low, bit, 16)), z), codes);
        Put(hn::Sub(hn::Or(HighNibbles(v), WhereBit(high, bit, 16)), z), codes + 16);
    }
};
HWY_INLINE void Levels(const int8_t* levels, const uint8_t* p, int8_t* codes) {
    const D16 d;
    const V16 table = hn::LoadU(d, reinterpret_cast<const uint8_t*>(levels)), v = hn::LoadU(d, p);
    Put(hn::TableLookupBytes(table, LowNibbles(v)), codes);
    Put(hn::TableLookupBytes(table, HighNibbles(v)), codes + 16);
}
struct FourBitLevels {
    HWY_INLINE void operator()(const uint8_t* p, int8_t* codes) const { Levels(iq4Levels.data(), p + 2, codes); }
};
HWY_INLINE void UnpackMXFP4(const uint8_t* p, size_t k, int8_t* codes, float* scale) {
    for (size_t b = 0; b < k / 32; ++b, p += 17, codes += 32) {
        const uint32_t bits = p[0] < 2 ? 0x00200000u << p[0] : static_cast<uint32_t>(p[0] - 1) << 23;
        memcpy(scale + b, &bits, 4);
        Levels(fp4Levels.data(), p + 1, codes);
    }
}

// ---- blocks of 256
HWY_INLINE float Half(const uint8_t* p) {
    const uint16_t h = Word(p);
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
    return _cvtsh_ss(h);
#else
    return f16ToF32(h);
#endif
}

void Block4K5K(bool five, const uint8_t* p, int8_t* codes, float* scale, float* minimum) {
    uint32_t s[3];
    memcpy(s, p + 4, 12);
    const uint32_t six[4] = {s[0] & 0x3f3f3f3fu, (s[2] & 0x0f0f0f0fu) | (s[0] >> 2 & 0x30303030u), s[1] & 0x3f3f3f3fu,
                             (s[2] >> 4 & 0x0f0f0f0fu) | (s[1] >> 2 & 0x30303030u)};
    Scaled(Half(p), reinterpret_cast<const uint8_t*>(six), scale, 8);
    Scaled(-Half(p + 2), reinterpret_cast<const uint8_t*>(six + 2), minimum, 8);
    const D32 d;
    const uint8_t *fifth = p + 16, *nibbles = five ? p + 48 : p + 16;
    for (size_t i = 0; i < 32; i += hn::Lanes(d)) {
        const V32 upper = five ? hn::LoadU(d, fifth + i) : hn::Zero(d);
        for (size_t g = 0; g < 4; ++g) {
            const V32 v = hn::LoadU(d, nibbles + 32 * g + i);
            V32 low = LowNibbles(v), high = HighNibbles(v);
            if (five) {
                low = hn::Or(low, WhereBit(upper, hn::Set(d, static_cast<uint8_t>(1u << (2 * g))), 16));
                high = hn::Or(high, WhereBit(upper, hn::Set(d, static_cast<uint8_t>(2u << (2 * g))), 16));
            }
            Put(low, codes + 64 * g, i);
            Put(high, codes + 64 * g + 32, i);
        }
    }
}

void Block6K(const uint8_t* p, int8_t* codes, float* scale) {
    Scaled(Half(p + 208), reinterpret_cast<const int8_t*>(p + 192), scale, 16);
    const D32 d;
    const V32 two = hn::Set(d, 0x30), zero = hn::Set(d, 32);
    for (size_t part = 0; part < 2; ++part, codes += 128)
        for (size_t i = 0; i < 32; i += hn::Lanes(d)) {
            const V32 l0 = hn::LoadU(d, p + 64 * part + i), l1 = hn::LoadU(d, p + 64 * part + 32 + i);
            const V32 h = hn::LoadU(d, p + 128 + 32 * part + i);
            Put(hn::Sub(hn::Or(LowNibbles(l0), hn::And(Left<4>(h), two)), zero), codes, i);
            Put(hn::Sub(hn::Or(LowNibbles(l1), hn::And(Left<2>(h), two)), zero), codes + 32, i);
            Put(hn::Sub(hn::Or(HighNibbles(l0), hn::And(h, two)), zero), codes + 64, i);
            Put(hn::Sub(hn::Or(HighNibbles(l1), hn::And(Right<2>(h), two)), zero), codes + 96, i);
        }
}

template <int shift>
HWY_INLINE V32 TwoBits(V32 v) {
    return hn::And(Right<shift>(v), hn::Set(D32(), 3));
}

void Block2K(const uint8_t* p, int8_t* codes, float* scale, float* minimum) {
    const D16 d16;
    HWY_ALIGN uint8_t low[16], high[16];
    const V16 packed = hn::LoadU(d16, p);
    hn::Store(LowNibbles(packed), d16, low);
    hn::Store(HighNibbles(packed), d16, high);
    Scaled(Half(p + 80), low, scale, 16);
    Scaled(-Half(p + 82), high, minimum, 16);
    const D32 d;
    for (size_t part = 0; part < 2; ++part, codes += 128)
        for (size_t i = 0; i < 32; i += hn::Lanes(d)) {
            const V32 v = hn::LoadU(d, p + 16 + 32 * part + i);
            Put(hn::And(v, hn::Set(d, 3)), codes, i);
            Put(TwoBits<2>(v), codes + 32, i);
            Put(TwoBits<4>(v), codes + 64, i);
            Put(TwoBits<6>(v), codes + 96, i);
        }
}

void Block3K(const uint8_t* p, int8_t* codes, float* scale) {
    uint32_t s[3];
    memcpy(s, p + 96, 12);
    const uint32_t low = 0x0f0f0f0fu, high = 0x30303030u;
    const uint32_t six[4] = {(s[0] & low) | (s[2] << 4 & high), (s[1] & low) | (s[2] << 2 & high),
                             (s[0] >> 4 & low) | (s[2] & high), (s[1] >> 4 & low) | (s[2] >> 2 & high)};
    const D16 d16;
    HWY_ALIGN int8_t scales[16];
    memcpy(scales, six, 16);
    Put(hn::Sub(hn::LoadU(d16, reinterpret_cast<const uint8_t*>(scales)), hn::Set(d16, 32)), scales);
    Scaled(Half(p + 108), scales, scale, 16);
    const D32 d;
    const V32 four = hn::Set(d, 4);
    for (size_t i = 0; i < 32; i += hn::Lanes(d)) {
        const V32 third = hn::LoadU(d, p + i);
        const auto put = [&](V32 two, size_t j) HWY_ATTR {
            const V32 bit = WhereBit(third, hn::Set(d, static_cast<uint8_t>(1u << j)), 4);
            Put(hn::Sub(hn::Or(two, bit), four), codes + 32 * j, i);
        };
        for (size_t part = 0; part < 2; ++part) {
            const V32 v = hn::LoadU(d, p + 32 + 32 * part + i);
            put(hn::And(v, hn::Set(d, 3)), 4 * part);
            put(TwoBits<2>(v), 4 * part + 1);
            put(TwoBits<4>(v), 4 * part + 2);
            put(TwoBits<6>(v), 4 * part + 3);
        }
    }
}

void BlockIQ4XS(const uint8_t* p, int8_t* codes, float* scale) {
    const uint16_t high = Word(p + 2);
    int8_t scales[8];
    for (size_t b = 0; b < 8; ++b)
        scales[b] = static_cast<int8_t>(((p[4 + b / 2] >> (b % 2 * 4) & 15) | (high >> (2 * b) & 3) << 4) - 32);
    Scaled(Half(p), scales, scale, 8);
    for (size_t b = 0; b < 8; ++b) Levels(iq4Levels.data(), p + 8 + 16 * b, codes + 32 * b);
}

void UnpackRow(Format format, const uint8_t* p, size_t k, int8_t* codes, float* scale, float* minimum) {
    const auto blocks = [&](size_t bytes, size_t group, auto f) HWY_ATTR {
        for (size_t i = 0; i < k; i += 256, p += bytes) f(p, codes + i, scale + i / group, minimum + i / group);
    };
    switch (format) {
        case Format::q8_0:
            return Blocks32<false>(p, 34, k, codes, scale, minimum, Copy());
        case Format::q4_0:
            return Blocks32<false>(p, 18, k, codes, scale, minimum, Nibbles<2, 8>());
        case Format::q4_1:
            return Blocks32<true>(p, 20, k, codes, scale, minimum, Nibbles<4, 0>());
        case Format::q5_0:
            return Blocks32<false>(p, 22, k, codes, scale, minimum, FiveBits<6, 16>());
        case Format::q5_1:
            return Blocks32<true>(p, 24, k, codes, scale, minimum, FiveBits<8, 0>());
        case Format::iq4_nl:
            return Blocks32<false>(p, 18, k, codes, scale, minimum, FourBitLevels());
        case Format::mxfp4:
            return UnpackMXFP4(p, k, codes, scale);
        case Format::q2_k:
            return blocks(84, 16, Block2K);
        case Format::q3_k:
            return blocks(110, 16, [](const uint8_t* b, int8_t* c, float* s, float*) HWY_ATTR { Block3K(b, c, s); });
        case Format::q4_k:
            return blocks(144, 32, [](const uint8_t* b, int8_t* c, float* s, float* m) HWY_ATTR {
                Block4K5K(false, b, c, s, m);
            });
        case Format::q5_k:
            return blocks(
                176, 32, [](const uint8_t* b, int8_t* c, float* s, float* m) HWY_ATTR { Block4K5K(true, b, c, s, m); });
        case Format::q6_k:
            return blocks(210, 16, [](const uint8_t* b, int8_t* c, float* s, float*) HWY_ATTR { Block6K(b, c, s); });
        default:  // iq4_xs
            return blocks(136, 32, [](const uint8_t* b, int8_t* c, float* s, float*) HWY_ATTR { BlockIQ4XS(b, c, s); });
    }
}

#endif  // HWY_TARGET == HWY_SCALAR

void UnpackRows(Format format, const uint8_t* blocks, ptrdiff_t rowBytes, size_t rows, size_t k, const CodeRows& into) {
    for (size_t r = 0; r < rows; ++r) {
        FetchAhead(blocks + static_cast<ptrdiff_t>(r) * rowBytes, rowBytes);
        UnpackRow(format, blocks + static_cast<ptrdiff_t>(r) * rowBytes, k, into.codes + r * into.codeStride,
                  into.scale + r * into.groupStride, into.minimum + r * into.groupStride);
    }
}

}  // namespace axial::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace axial::kernels {
HWY_EXPORT(UnpackRows);
void unpackRows(Format format, const std::byte* blocks, std::ptrdiff_t rowBytes, std::size_t rows, std::size_t k,
                const CodeRows& into) noexcept {
    HWY_DYNAMIC_DISPATCH(UnpackRows)(format, reinterpret_cast<const std::uint8_t*>(blocks), rowBytes, rows, k, into);
}
}  // namespace axial::kernels
#endif
