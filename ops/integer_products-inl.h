// For each instruction set: sums of products of neighbouring small integers, which Highway 1.0.3 has only some of.
// Included by kernel files only, after targets.h.
#if defined(AXIAL_OPS_INTEGER_PRODUCTS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef AXIAL_OPS_INTEGER_PRODUCTS_INL_H
#undef AXIAL_OPS_INTEGER_PRODUCTS_INL_H
#else
#define AXIAL_OPS_INTEGER_PRODUCTS_INL_H
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace axial::kernels::HWY_NAMESPACE {
#if HWY_TARGET != HWY_SCALAR

// Of pairs of int16, in their dword. Highway's own operation may order them differently off x86.
template <class V, class D = hwy::HWY_NAMESPACE::Repartition<int32_t, hwy::HWY_NAMESPACE::DFromV<V>>>
HWY_INLINE hwy::HWY_NAMESPACE::Vec<D> MaddWords(V a, V b) {
    namespace hn = hwy::HWY_NAMESPACE;
    const D d;
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_SSE4
    auto none = hn::Zero(d);
    return hn::ReorderWidenMulAccumulate(d, a, b, hn::Zero(d), none);
#else
    const auto x = hn::BitCast(d, a), y = hn::BitCast(d, b);
    const auto low = hn::Mul(hn::ShiftRight<16>(hn::ShiftLeft<16>(x)), hn::ShiftRight<16>(hn::ShiftLeft<16>(y)));
    return hn::Add(low, hn::Mul(hn::ShiftRight<16>(x), hn::ShiftRight<16>(y)));
#endif
}

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_SSE4
HWY_INLINE __m128i MaddRawBytes(__m128i u, __m128i s) { return _mm_maddubs_epi16(u, s); }
#if HWY_TARGET <= HWY_AVX2
HWY_INLINE __m256i MaddRawBytes(__m256i u, __m256i s) { return _mm256_maddubs_epi16(u, s); }
#endif
#if HWY_TARGET <= HWY_AVX3
HWY_INLINE __m512i MaddRawBytes(__m512i u, __m512i s) { return _mm512_maddubs_epi16(u, s); }
#endif
#endif
// Of pairs of bytes, unsigned times signed, in their word. The sums must fit.
template <class V, class D = hwy::HWY_NAMESPACE::Repartition<int16_t, hwy::HWY_NAMESPACE::DFromV<V>>>
HWY_INLINE hwy::HWY_NAMESPACE::Vec<D> MaddBytes(V u, V s) {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_SSE4
    return hwy::HWY_NAMESPACE::Vec<D>{MaddRawBytes(u.raw, s.raw)};
#else
    namespace hn = hwy::HWY_NAMESPACE;
    const D d;
    const auto a = hn::BitCast(d, u), b = hn::BitCast(d, s);
    const auto odd = hn::BitCast(d, hn::ShiftRight<8>(hn::BitCast(hn::RebindToUnsigned<D>(), a)));
    return hn::Add(hn::Mul(hn::And(a, hn::Set(d, 255)), hn::ShiftRight<8>(hn::ShiftLeft<8>(b))),
                   hn::Mul(odd, hn::ShiftRight<8>(b)));
#endif
}

// sum + x with the order pinned: g++ 12 moves the products of an unrolled chain ahead of the sums and spills them.
template <class V>
HWY_INLINE V AddOrdered(V sum, V x) {
    sum = hwy::HWY_NAMESPACE::Add(sum, x);
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_SSE4 && HWY_COMPILER_GCC_ACTUAL
    asm("" : "+x"(sum.raw));
#endif
    return sum;
}

// The products of AVX-VNNI, for code that is compiled for AVX2. Highway has no target for them, and the compilers'
// intrinsics can only be used in functions that are compiled for AVX-VNNI with all that is inlined into them; an
// instruction by its name can be chosen by a template's argument.
#if HWY_TARGET == HWY_AVX2
// sum + the four products of bytes in each dword, unsigned times signed.
template <class V>
HWY_INLINE V DotBytes(V sum, V u, V s) {
    asm("%{vex%} vpdpbusd %2, %1, %0" : "+x"(sum.raw) : "x"(u.raw), "x"(s.raw));
    return sum;
}
// sum + the two products of int16 in each dword.
template <class V>
HWY_INLINE V DotWords(V sum, V a, V b) {
    asm("%{vex%} vpdpwssd %2, %1, %0" : "+x"(sum.raw) : "x"(a.raw), "x"(b.raw));
    return sum;
}
#endif

#endif
}  // namespace axial::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
