// For each instruction set: stored blocks of several rows at once, turned so that lane r of each vector belongs to row
// r. Included by kernel files only, after targets.h.
#if defined(AXIAL_OPS_LINEAR_BLOCKS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef AXIAL_OPS_LINEAR_BLOCKS_INL_H
#undef AXIAL_OPS_LINEAR_BLOCKS_INL_H
#else
#define AXIAL_OPS_LINEAR_BLOCKS_INL_H
#endif

#include <hwy/highway.h>

#include <cstring>

#include "axial/tensor/decode_grids.h"

#ifndef AXIAL_UNROLL
#define AXIAL_UNROLL _Pragma("GCC unroll 16")
#endif

HWY_BEFORE_NAMESPACE();
namespace axial::kernels::HWY_NAMESPACE {
#if HWY_TARGET != HWY_SCALAR
namespace hn = hwy::HWY_NAMESPACE;

using DB = hn::CappedTag<uint8_t, 32>;
using DI = hn::Repartition<int32_t, DB>;
using DF = hn::RebindToFloat<DI>;
using VB = hn::Vec<DB>;
using VI = hn::Vec<DI>;
using VF = hn::Vec<DF>;
constexpr int lanes = HWY_MAX_BYTES >= 32 ? 8 : 4;  // how many rows are turned together

// `lanes` rows of blocks, from some block on.
struct BlockRows {
    const uint8_t* first;
    ptrdiff_t stride, three;  // from row to row, and three times as much
    HWY_INLINE BlockRows From(size_t bytes) const { return {first + bytes, stride, three}; }
    // f(r, p) for each row r and its bytes at `offset`.
    template <class F>
    HWY_INLINE void Each(size_t offset, const F& f) const {
        const uint8_t *p = first + offset, *q = p + 4 * stride;
        f(0, p), f(1, p + stride), f(2, p + 2 * stride), f(3, p + three);
        if (lanes == 8) f(4, q), f(5, q + stride), f(6, q + 2 * stride), f(7, q + three);
    }
};

// The scales and minimums of the groups of a block, one vector a group.
struct Scales {
    HWY_ALIGN float scale[16 * lanes];
    HWY_ALIGN float minimum[16 * lanes];
};

HWY_INLINE VB Bytes(VI v) { return hn::BitCast(DB(), v); }
HWY_INLINE VI Bits(VB v) { return hn::BitCast(DI(), v); }
HWY_INLINE VI Mask(VI v, uint32_t mask) { return hn::And(v, hn::Set(DI(), static_cast<int32_t>(mask))); }
template <int bits>
HWY_INLINE VI Left(VI v) {
    return hn::ShiftLeft<bits>(v);
}
template <int bits>
HWY_INLINE VI Right(VI v) {
    return hn::BitCast(DI(), hn::ShiftRight<bits>(hn::BitCast(hn::RebindToUnsigned<DI>(), v)));
}
HWY_INLINE VI LowNibbles(VI v) { return Mask(v, 0x0f0f0f0fu); }
HWY_INLINE VI HighNibbles(VI v) { return LowNibbles(Right<4>(v)); }

// In each 16 bytes, dword i of vector j becomes dword j of vector i.
HWY_INLINE void TurnFours(const VI (&r)[4], VI* v) {
    const DI d;
    const hn::Repartition<uint64_t, DI> pairs;
    const auto ab = hn::BitCast(pairs, hn::InterleaveLower(d, r[0], r[1]));
    const auto cd = hn::BitCast(pairs, hn::InterleaveLower(d, r[2], r[3]));
    const auto AB = hn::BitCast(pairs, hn::InterleaveUpper(d, r[0], r[1]));
    const auto CD = hn::BitCast(pairs, hn::InterleaveUpper(d, r[2], r[3]));
    v[0] = hn::BitCast(d, hn::InterleaveLower(pairs, ab, cd));
    v[1] = hn::BitCast(d, hn::InterleaveUpper(pairs, ab, cd));
    v[2] = hn::BitCast(d, hn::InterleaveLower(pairs, AB, CD));
    v[3] = hn::BitCast(d, hn::InterleaveUpper(pairs, AB, CD));
}
// Dwords 0 to 3 at `offset` of each row, one vector for each.
HWY_INLINE void Turn(const BlockRows& w, size_t offset, VI* v) {
    const hn::Full128<uint8_t> sixteen;
    hn::Vec<decltype(sixteen)> x[lanes];
    w.Each(offset, [&](int row, const uint8_t* p) HWY_ATTR { x[row] = hn::LoadU(sixteen, p); });
    VI r[4];
    AXIAL_UNROLL
    for (int i = 0; i < 4; ++i) {
#if HWY_MAX_BYTES >= 32
        r[i] = Bits(hn::Combine(DB(), x[i + 4], x[i]));
#else
        r[i] = Bits(x[i]);
#endif
    }
    TurnFours(r, v);
}

// One number from each row.
template <class T>
HWY_INLINE VI Gathered(const T (&x)[lanes]) {
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
    return VI{_mm256_setr_epi32(x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7])};
#elif HWY_TARGET == HWY_SSE4
    return VI{_mm_setr_epi32(x[0], x[1], x[2], x[3])};
#else
    HWY_ALIGN int32_t all[lanes];
    for (int r = 0; r < lanes; ++r) all[r] = x[r];
    return hn::Load(DI(), all);
#endif
}
// The dword at `offset` of each row.
HWY_INLINE VI Dwords(const BlockRows& w, size_t offset) {
    int32_t x[lanes];
    w.Each(offset, [&](int row, const uint8_t* p) { memcpy(x + row, p, 4); });
    return Gathered(x);
}

// The floats of the halves in the lower 16 bits, as f16ToF32 has them but for the payload of a NaN.
HWY_INLINE VF Halves(VI v) {
    const DI d;
    const DF f;
    const auto floats = [&](VI bits) HWY_ATTR { return hn::BitCast(f, bits); };
    const VI sign = Left<16>(Mask(v, 0x8000u)), magnitude = Left<13>(Mask(v, 0x7fffu));
    const VI up = hn::Set(d, 112 << 23), normal = hn::Add(magnitude, up);
    const VI infinite = hn::IfThenElseZero(hn::Gt(magnitude, hn::Set(d, (31 << 23) - 1)), up);
    const VF subnormal = hn::Sub(floats(hn::Add(normal, hn::Set(d, 1 << 23))), hn::Set(f, 0x1p-14f));
    const auto small = hn::RebindMask(f, hn::Gt(hn::Set(d, 1 << 23), magnitude));
    const VF value = hn::IfThenElse(small, subnormal, floats(hn::Add(normal, infinite)));
    return hn::Or(value, floats(sign));
}
// The half at `offset` of each row.
HWY_INLINE VF HalvesAt(const BlockRows& w, size_t offset) {
    uint16_t x[lanes];
    w.Each(offset, [&](int row, const uint8_t* p) { memcpy(x + row, p, 2); });
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
    const auto at = [&](int r) { return static_cast<int16_t>(x[r]); };
    return VF{_mm256_cvtph_ps(_mm_setr_epi16(at(0), at(1), at(2), at(3), at(4), at(5), at(6), at(7)))};
#else
    return Halves(Gathered(x));
#endif
}
// The floats of the lower halves of each lane, and of the upper ones.
HWY_INLINE void BothHalves(VI v, VF& lower, VF& upper) {
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
    const __m256i apart = _mm256_setr_epi8(0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15,  //
                                           0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15);
    const __m256i both = _mm256_permute4x64_epi64(_mm256_shuffle_epi8(v.raw, apart), 0xd8);
    lower = VF{_mm256_cvtph_ps(_mm256_castsi256_si128(both))};
    upper = VF{_mm256_cvtph_ps(_mm256_extracti128_si256(both, 1))};
#else
    lower = Halves(v);
    upper = Halves(Right<16>(v));
#endif
}

HWY_INLINE void Put(VF v, float* to, size_t group) { hn::Store(v, DF(), to + lanes * group); }
// Byte j of each lane times d, as group j. What a byte is worth where it stands is divided out of d, which is exact.
HWY_INLINE void PutScaled(VF d, VI bytes, float* to) {  // bytes up to 127
    const DF f;
    const auto put = [&](uint32_t mask, float unit, size_t j) HWY_ATTR {
        Put(hn::Mul(hn::Mul(d, hn::Set(f, unit)), hn::ConvertTo(f, Mask(bytes, mask))), to, j);
    };
    put(0xffu, 1.0f, 0);
    put(0xff00u, 0x1p-8f, 1);
    put(0xff0000u, 0x1p-16f, 2);
    put(0xff000000u, 0x1p-24f, 3);
}
HWY_INLINE void PutScaledSigned(VF d, VI bytes, float* to) {
    const DF f;
    const VF unit = hn::Mul(d, hn::Set(f, 0x1p-24f));
    const auto put = [&](VI atTop, size_t j)
                         HWY_ATTR { Put(hn::Mul(unit, hn::ConvertTo(f, Mask(atTop, 0xff000000u))), to, j); };
    put(Left<24>(bytes), 0);
    put(Left<16>(bytes), 1);
    put(Left<8>(bytes), 2);
    put(bytes, 3);
}

// Each format below says how many codes share a scale, how many codes and bytes a block has, how many steps a block is
// multiplied in, the largest unsigned code and the one that stands for 0. `Scale` writes what belongs to the groups of
// a block. `Step` turns the bytes of step i into `vectors` vectors, the steps of a block one after the other; of these
// Code(v, g, q) takes codes 4 q to 4 q + 3 of group g of the step. Where Blocks and V are open, rows that stand
// interleaved are taken too (interleaved_blocks-inl.h).
struct Q8_0 {
    static constexpr int group = 32, block = 32, steps = 1, bytes = 34, vectors = 8, largest = 255, zero = 128;
    static constexpr bool minimum = false;
    template <class Blocks>
    static HWY_INLINE void Scale(const Blocks& w, Scales& to) {
        Put(HalvesAt(w, 0), to.scale, 0);
    }
    static HWY_INLINE void Step(const BlockRows& w, size_t, VI* v) {
        Turn(w, 2, v);
        Turn(w, 18, v + 4);
    }
    template <class V>
    static HWY_INLINE VI Code(V v, int, int q) {
        return hn::Xor(v[q], hn::Set(DI(), static_cast<int32_t>(0x80808080u)));
    }
};

// 32 codes in the nibbles of 16 bytes: first the low ones, then the high ones.
template <int offset>
struct Nibbles {
    static constexpr int vectors = 4;
    static HWY_INLINE void Step(const BlockRows& w, size_t, VI* v) { Turn(w, offset, v); }
    template <class V>
    static HWY_INLINE VI Code(V v, int, int q) {
        return q < 4 ? LowNibbles(v[q]) : HighNibbles(v[q - 4]);
    }
};
struct Q4_0 : Nibbles<2> {
    static constexpr int group = 32, block = 32, steps = 1, bytes = 18, largest = 15, zero = 8;
    static constexpr bool minimum = false;
    template <class Blocks>
    static HWY_INLINE void Scale(const Blocks& w, Scales& to) {
        Put(HalvesAt(w, 0), to.scale, 0);
    }
};
struct Q4_1 : Nibbles<4> {
    static constexpr int group = 32, block = 32, steps = 1, bytes = 20, largest = 15, zero = 0;
    static constexpr bool minimum = true;
    template <class Blocks>
    static HWY_INLINE void Scale(const Blocks& w, Scales& to) {
        Put(HalvesAt(w, 0), to.scale, 0);
        Put(HalvesAt(w, 2), to.minimum, 0);
    }
};

// The same with a fifth bit of each code in a dword before them.
template <int offset>
struct FiveBits : Nibbles<offset> {
    static constexpr int vectors = 8;  // the last four: four times byte b of the dword
    static HWY_INLINE void Step(const BlockRows& w, size_t i, VI* v) {
        Nibbles<offset>::Step(w, i, v);
        Fifth(w, v + 4);
    }
    template <class Blocks>
    static HWY_INLINE void Fifth(const Blocks& w, VI* v) {
        HWY_ALIGN static constexpr uint8_t spread[16] = {0, 0, 0, 0, 4, 4, 4, 4, 8, 8, 8, 8, 12, 12, 12, 12};
        const VB all = Bytes(Dwords(w, offset - 4)), first = hn::LoadDup128(DB(), spread);
        AXIAL_UNROLL
        for (int b = 0; b < 4; ++b)
            v[b] = Bits(hn::TableLookupBytes(all, hn::Add(first, hn::Set(DB(), static_cast<uint8_t>(b)))));
    }
    template <class V>
    static HWY_INLINE VI Code(V v, int g, int q) {
        const VB bits = Bytes(hn::Set(DI(), static_cast<int32_t>(q % 2 == 0 ? 0x08040201u : 0x80402010u)));
        const auto set = hn::Eq(hn::And(Bytes(v[4 + q / 2]), bits), bits);
        return hn::Or(Nibbles<offset>::Code(v, g, q), Bits(hn::IfThenElseZero(set, hn::Set(DB(), 16))));
    }
};
struct Q5_0 : FiveBits<6> {
    static constexpr int group = 32, block = 32, steps = 1, bytes = 22, largest = 31, zero = 16;
    static constexpr bool minimum = false;
    template <class Blocks>
    static HWY_INLINE void Scale(const Blocks& w, Scales& to) {
        Put(HalvesAt(w, 0), to.scale, 0);
    }
};
struct Q5_1 : FiveBits<8> {
    static constexpr int group = 32, block = 32, steps = 1, bytes = 24, largest = 31, zero = 0;
    static constexpr bool minimum = true;
    template <class Blocks>
    static HWY_INLINE void Scale(const Blocks& w, Scales& to) {
        Put(HalvesAt(w, 0), to.scale, 0);
        Put(HalvesAt(w, 2), to.minimum, 0);
    }
};

// Nibbles that stand for the numbers of a table, `zero` being added to each.
template <int offset>
struct Levels : Nibbles<offset> {
    static constexpr int vectors = 5;  // the last one: the table
    static HWY_INLINE VI Table(const int8_t* levels, uint8_t zero) {
        return Bits(hn::Add(hn::LoadDup128(DB(), reinterpret_cast<const uint8_t*>(levels)), hn::Set(DB(), zero)));
    }
    template <class V>
    static HWY_INLINE VI Code(V v, int g, int q) {
        return Bits(hn::TableLookupBytes(Bytes(v[4]), Bytes(Nibbles<offset>::Code(v, g, q))));
    }
};
struct IQ4_NL : Levels<2> {
    static constexpr int group = 32, block = 32, steps = 1, bytes = 18, largest = 255, zero = 128;
    static constexpr bool minimum = false;
    template <class Blocks>
    static HWY_INLINE void Scale(const Blocks& w, Scales& to) {
        Put(HalvesAt(w, 0), to.scale, 0);
    }
    static HWY_INLINE void Step(const BlockRows& w, size_t i, VI* v) {
        Nibbles<2>::Step(w, i, v);
        v[4] = Table(iq4Levels.data(), zero);
    }
};
struct MXFP4 : Levels<1> {
    static constexpr int group = 32, block = 32, steps = 1, bytes = 17, largest = 24, zero = 12;
    static constexpr bool minimum = false;
    // 2^(e - 128): below e = 2 a subnormal.
    static HWY_INLINE void Scale(const BlockRows& w, Scales& to) {
        const DI d;
        const VI e = Mask(Dwords(w, 0), 255), one = hn::Set(d, 1);
        const VI small = Left<21>(hn::Add(e, one)), normal = Left<23>(hn::Sub(e, one));
        Put(hn::BitCast(DF(), hn::IfThenElse(hn::Gt(hn::Set(d, 2), e), small, normal)), to.scale, 0);
    }
    static HWY_INLINE void Step(const BlockRows& w, size_t i, VI* v) {
        Nibbles<1>::Step(w, i, v);
        v[4] = Table(fp4Levels.data(), zero);
    }
};
struct IQ4_XS : Levels<0> {
    static constexpr int group = 32, block = 256, steps = 8, bytes = 136, largest = 255, zero = 128;
    static constexpr bool minimum = false;
    // A half; of each scale two high bits, in words; of each four low bits, in dwords.
    static HWY_INLINE void Scale(const BlockRows& w, Scales& to) {
        const DF f;
        VI v[4];
        Turn(w, 0, v);
        const VF d = HalvesAt(w, 0);
        VI high = Right<16>(v[0]), low = v[1];
        for (size_t g = 0; g < 8; ++g, high = Right<2>(high), low = Right<4>(low)) {
            const VI scale = hn::Or(Mask(low, 15), Left<4>(Mask(high, 3)));
            Put(hn::Mul(d, hn::ConvertTo(f, hn::Sub(scale, hn::Set(DI(), 32)))), to.scale, g);
        }
    }
    static HWY_INLINE void Step(const BlockRows& w, size_t i, VI* v) {
        Nibbles<0>::Step(w.From(8 + 16 * i), i, v);
        v[4] = Table(iq4Levels.data(), zero);
    }
};

// The header of a block of Q4_K and Q5_K: two halves, and eight scales and minimums of six bits.
template <class Blocks>
HWY_INLINE void SixBits(const Blocks& w, Scales& to) {
    VI v[4];
    Turn(w, 0, v);
    VF d, least;
    BothHalves(v[0], d, least);
    least = hn::Neg(least);
    const auto upper = [](VI a, VI b) HWY_ATTR { return hn::Or(LowNibbles(a), Mask(Right<2>(b), 0x30303030u)); };
    PutScaled(d, Mask(v[1], 0x3f3f3f3fu), to.scale);
    PutScaled(d, upper(v[3], v[1]), to.scale + 4 * lanes);
    PutScaled(least, Mask(v[2], 0x3f3f3f3fu), to.minimum);
    PutScaled(least, upper(Right<4>(v[3]), v[2]), to.minimum + 4 * lanes);
}
// 64 codes in the nibbles of 32 bytes: one group in the low ones, the next in the high ones.
template <int offset>
struct PairsOfGroups {
    static constexpr int vectors = 8;
    static HWY_INLINE void Step(const BlockRows& w, size_t i, VI* v) {
        Turn(w, offset + 32 * i, v);
        Turn(w, offset + 16 + 32 * i, v + 4);
    }
    template <class V>
    static HWY_INLINE VI Code(V v, int g, int q) {
        return g == 0 ? LowNibbles(v[q]) : HighNibbles(v[q]);
    }
};
struct Q4_K : PairsOfGroups<16> {
    static constexpr int group = 32, block = 256, steps = 4, bytes = 144, largest = 15, zero = 0;
    static constexpr bool minimum = true;
    template <class Blocks>
    static HWY_INLINE void Scale(const Blocks& w, Scales& to) {
        SixBits(w, to);
    }
};
struct Q5_K : PairsOfGroups<48> {
    static constexpr int group = 32, block = 256, steps = 4, bytes = 176, largest = 31, zero = 0;
    static constexpr bool minimum = true;
    template <class Blocks>
    static HWY_INLINE void Scale(const Blocks& w, Scales& to) {
        SixBits(w, to);
    }
    static constexpr int vectors = 16;  // the last eight: bit g of each byte is that of group g of the step
    static HWY_INLINE void Step(const BlockRows& w, size_t i, VI* v) {
        PairsOfGroups<48>::Step(w, i, v);
        if (i == 0) {
            Turn(w, 16, v + 8);
            Turn(w, 32, v + 12);
        } else {
            AXIAL_UNROLL
            for (int q = 8; q < 16; ++q) v[q] = Right<2>(v[q]);
        }
    }
    template <class V>
    static HWY_INLINE VI Code(V v, int g, int q) {
        const VI bit = Mask(g == 0 ? Left<4>(v[8 + q]) : Left<3>(v[8 + q]), 0x10101010u);
        return hn::Or(PairsOfGroups<48>::Code(v, g, q), bit);
    }
};

// Blocks of groups of 16, in two steps of 128 codes: of groups 2 j and 2 j + 1, bits j of the same 32 bytes.
struct Q6_K {
    static constexpr int group = 16, block = 256, steps = 2, bytes = 210, largest = 63, zero = 32;
    static constexpr bool minimum = false;
    template <class Blocks>
    static HWY_INLINE void Scale(const Blocks& w, Scales& to) {
        const VF d = HalvesAt(w, 208);
        VI v[4];
        Turn(w, 192, v);
        for (size_t i = 0; i < 4; ++i) PutScaledSigned(d, v[i], to.scale + 4 * lanes * i);
    }
    static constexpr int vectors = 24;  // the last eight: two upper bits each
    static HWY_INLINE void Step(const BlockRows& w, size_t i, VI* v) {
        for (size_t j = 0; j < 4; ++j) Turn(w, 64 * i + 16 * j, v + 4 * j);
        for (size_t j = 0; j < 2; ++j) Turn(w, 128 + 32 * i + 16 * j, v + 16 + 4 * j);
    }
    template <class V>
    static HWY_INLINE VI Code(V v, int g, int q) {
        const VI low = v[g % 4 * 4 + q], high = v[16 + g % 2 * 4 + q];
        const VI two = g < 2 ? Left<4>(high) : g < 4 ? Left<2>(high) : g < 6 ? high : Right<2>(high);
        return hn::Or(g < 4 ? LowNibbles(low) : HighNibbles(low), Mask(two, 0x30303030u));
    }
};
template <int offset>
struct TwoBits {
    static constexpr int vectors = 8;
    static HWY_INLINE void Step(const BlockRows& w, size_t i, VI* v) {
        Turn(w, offset + 32 * i, v);
        Turn(w, offset + 16 + 32 * i, v + 4);
    }
    static HWY_INLINE VI Code(const VI* v, int g, int q) {
        const VI all = v[g % 2 * 4 + q];
        return Mask(g < 2 ? all : g < 4 ? Right<2>(all) : g < 6 ? Right<4>(all) : Right<6>(all), 0x03030303u);
    }
};
struct Q2_K : TwoBits<16> {
    static constexpr int group = 16, block = 256, steps = 2, bytes = 84, largest = 3, zero = 0;
    static constexpr bool minimum = true;
    static HWY_INLINE void Scale(const BlockRows& w, Scales& to) {
        VF d, least;
        BothHalves(Dwords(w, 80), d, least);
        least = hn::Neg(least);
        VI v[4];
        Turn(w, 0, v);
        for (size_t i = 0; i < 4; ++i) {
            PutScaled(d, LowNibbles(v[i]), to.scale + 4 * lanes * i);
            PutScaled(least, HighNibbles(v[i]), to.minimum + 4 * lanes * i);
        }
    }
};
struct Q3_K : TwoBits<32> {
    static constexpr int group = 16, block = 256, steps = 2, bytes = 110, largest = 7, zero = 4;
    static constexpr bool minimum = false;
    // Sixteen 6-bit scales in twelve bytes: four low bits each in the first eight, two high ones each in the rest.
    static HWY_INLINE void Scale(const BlockRows& w, Scales& to) {
        const VF d = HalvesAt(w, 108);
        const VI a = Dwords(w, 96), b = Dwords(w, 100), c = Dwords(w, 104);
        const auto put = [&](VI low, VI high, size_t i) HWY_ATTR {
            const VB six = Bytes(hn::Or(LowNibbles(low), Mask(high, 0x30303030u)));
            PutScaledSigned(d, Bits(hn::Sub(six, hn::Set(DB(), 32))), to.scale + 4 * lanes * i);
        };
        put(a, Left<4>(c), 0);
        put(b, Left<2>(c), 1);
        put(Right<4>(a), c, 2);
        put(Right<4>(b), Right<2>(c), 3);
    }
    static constexpr int vectors = 16;  // the last eight: bit j of each byte is that of groups 2 j and 2 j + 1
    static HWY_INLINE void Step(const BlockRows& w, size_t i, VI* v) {
        TwoBits<32>::Step(w, i, v);
        if (i == 0) {
            Turn(w, 0, v + 8);
            Turn(w, 16, v + 12);
        } else {
            AXIAL_UNROLL
            for (int q = 8; q < 16; ++q) v[q] = Right<4>(v[q]);
        }
    }
    static HWY_INLINE VI Code(const VI* v, int g, int q) {
        const VI all = v[8 + g % 2 * 4 + q];
        const VI bit = g < 2 ? Left<2>(all) : g < 4 ? Left<1>(all) : g < 6 ? all : Right<1>(all);
        return hn::Or(TwoBits<32>::Code(v, g, q), Mask(bit, 0x04040404u));
    }
};

#endif
}  // namespace axial::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
