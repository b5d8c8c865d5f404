#include "axial/ops/split_floats.h"

#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__) && \
    defined(__AVX512VNNI__) && defined(__AMX_TILE__) && defined(__AMX_BF16__)

#include <cpuid.h>

#include "axial/ops/split_floats-inl.h"

namespace axial::kernels {
namespace {

// Rounds to bfloat16, halves to even. Finite numbers may become infinite, and infinite ones NaN.
inline __m512i rounded(__m512 v) {
    const __m512i bits = _mm512_castps_si512(v);
    const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
    return _mm512_and_si512(_mm512_add_epi32(bits, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7fff))),
                            _mm512_set1_epi32(static_cast<int>(0xffff0000)));
}
// The parts of 16 numbers, the lowest first.
template <int parts>
inline void splitInto(__m512 v, __m512i (&part)[3], __mmask16& beyond) {
    const __m512i exponent = _mm512_set1_epi32(0x7f800000), bits = _mm512_castps_si512(v);
    AXIAL_UNROLL
    for (int i = 1; i <= parts; ++i) {
        part[parts - i] = rounded(v);
        v = _mm512_sub_ps(v, _mm512_castsi512_ps(part[parts - i]));
    }
    beyond =
        static_cast<__mmask16>(beyond | _mm512_cmpeq_epi32_mask(_mm512_and_si512(part[parts - 1], exponent), exponent) |
                               _mm512_cmpeq_epi32_mask(_mm512_and_si512(bits, exponent), exponent));
}

// What the control register says meanwhile, so that vectors do what tiles always do: numbers below the smallest normal
// one are zero.
class FlushToZero {
  public:
    FlushToZero() : before_(_mm_getcsr()) { _mm_setcsr(before_ | 0x8040); }
    ~FlushToZero() { _mm_setcsr(before_); }
    FlushToZero(const FlushToZero&) = delete;

  private:
    unsigned before_;
};

// One or two rows of activations: what tiles compute, by vectors, which cost less than filling tiles.
template <class W, int m>
void vectors(const SplitProduct& p) {
    const auto* x = reinterpret_cast<const float*>(p.x);
    const std::size_t part = paddedFloats(p.k);
    alignas(64) std::byte memory[step * 32];
    for (std::size_t j = 0; j < p.rows; j += 16) {
        __m512 c[m];
        AXIAL_UNROLL
        for (int t = 0; t < m; ++t) c[t] = _mm512_setzero_ps();
        for (std::size_t s = 0; s < stepsOf(p.k); ++s) {
            const std::byte* w = numbersOf(p, j, s, memory);
            const float* from = x + s * step;
            __m512 even[m][3], odd[m][3];
            AXIAL_UNROLL
            for (int t = 0; t < m; ++t) {
                AXIAL_UNROLL
                for (int i = 0; i < 3; ++i) even[t][i] = odd[t][i] = _mm512_setzero_ps();
            }
            const auto add = [&](__m512(&sum)[m][3], const Parts& parts, std::size_t i) __attribute__((always_inline)) {
                AXIAL_UNROLL
                for (int t = 0; t < m; ++t) {
                    const float* at = from + t * W::xParts * part + i;
                    AXIAL_UNROLL
                    for (std::size_t n = 0; n < W::xParts; ++n)
                        sum[t][n] = _mm512_fmadd_ps(parts.high, _mm512_set1_ps(at[n * part]), sum[t][n]);
                    if (W::hasLow) sum[t][2] = _mm512_fmadd_ps(parts.low, _mm512_set1_ps(at[part]), sum[t][2]);
                }
            };
            for (std::size_t i = 0; i < step; i += 2) {
                if (p.interleaved) fetchAhead<false>(w + 32 * i);
                add(even, W::parts(w + 32 * i), i);
                add(odd, W::parts(w + 32 * i + 32), i + 1);
            }
            AXIAL_UNROLL
            for (int t = 0; t < m; ++t) {
                AXIAL_UNROLL
                for (int i = 0; i < 3; ++i) c[t] = _mm512_add_ps(c[t], _mm512_add_ps(even[t][i], odd[t][i]));
            }
        }
        AXIAL_UNROLL
        for (int t = 0; t < m; ++t) finish(p, t, j, c[t]);
    }
}

template <class W>
void vectorsOf(const SplitProduct& p) {
    p.m == 1 ? vectors<W, 1>(p) : vectors<W, 2>(p);
}

bool detect() {
    unsigned a, b, c, d;
    constexpr unsigned amxBf16 = 1u << 22;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (d & amxBf16) != 0;
}

}  // namespace

bool splitWanted(Format format) noexcept {
    static const bool has = detect();
    return (format == Format::f16 || format == Format::bf16) && has && integerUnit() == IntegerUnit::amx;
}

void interleaveHalves(const std::byte* rows, std::ptrdiff_t rowBytes, std::size_t count, std::size_t k,
                      std::byte* group) noexcept {
    for (std::size_t i = 0; i < k; i += step)
        turnHalves(rows + 2 * i, rowBytes, count, k - i, group + 32 * i, k - i < step ? k - i : step);
}

void restoreHalves(const std::byte* group, std::size_t k, std::byte* rows) noexcept {
    for (std::size_t r = 0; r < 16; ++r)
        for (std::size_t i = 0; i < k; ++i) __builtin_memcpy(rows + 2 * (r * k + i), group + 2 * (16 * i + r), 2);
}

std::size_t splitBytes(int parts, std::size_t m, std::size_t k) noexcept {
    return static_cast<std::size_t>(parts) *
           (m <= mostVectors ? m * paddedFloats(k) * sizeof(float) : tilesOf(m) * stepsOf(k) * partBytes);
}

void splitRows(int parts, const float* x, std::ptrdiff_t stride, std::size_t m, std::size_t k, std::size_t begin,
               std::size_t end, std::byte* split, std::uint8_t* marked) noexcept {
    const auto count = static_cast<std::size_t>(parts);
    // Of a single tile, the kernels read only the rows that are there.
    for (std::size_t t = begin; t < (m <= 16 ? m : begin + tilesOf(end - begin) * 16); ++t) {
        __mmask16 beyond = 0;
        for (std::size_t i = 0; i < k; i += step) {
            __m512i part[2][3];
            for (std::size_t half = 0; half < 2; ++half) {
                const std::size_t at = i + 16 * half, left = t < m && at < k ? k - at : 0;
                const auto there = static_cast<__mmask16>(left >= 16 ? 0xffffu : (1u << left) - 1u);
                const __m512 v = _mm512_maskz_loadu_ps(there, x + static_cast<std::ptrdiff_t>(t) * stride + at);
                parts == 3 ? splitInto<3>(v, part[half], beyond) : splitInto<2>(v, part[half], beyond);
            }
            for (std::size_t n = 0; n < count; ++n)
                if (m <= mostVectors) {
                    std::byte* to = split + 4 * ((t * count + n) * paddedFloats(k) + i);
                    _mm512_store_si512(to, part[0][n]);
                    _mm512_store_si512(to + 64, part[1][n]);
                } else {
                    const __m256i first = _mm512_cvtepi32_epi16(_mm512_srli_epi32(part[0][n], 16)),
                                  second = _mm512_cvtepi32_epi16(_mm512_srli_epi32(part[1][n], 16));
                    _mm512_store_si512(split + ((t / 16 * stepsOf(k) + i / step) * count + n) * partBytes + t % 16 * 64,
                                       _mm512_inserti64x4(_mm512_castsi256_si512(first), second, 1));
                }
        }
        if (t < m) marked[t] = beyond != 0;
    }
}

void dotSplit(const SplitProduct& p) noexcept {
    const FlushToZero flush;  // of what is added, too
    if (p.m > mostVectors) return dotSplitTiles(p);
    p.format == Format::f16 ? vectorsOf<F16>(p) : vectorsOf<BF16>(p);
}

}  // namespace axial::kernels

#else

namespace axial::kernels {
bool splitWanted(Format) noexcept { return false; }
void interleaveHalves(const std::byte*, std::ptrdiff_t, std::size_t, std::size_t, std::byte*) noexcept {}
void restoreHalves(const std::byte*, std::size_t, std::byte*) noexcept {}
std::size_t splitBytes(int, std::size_t, std::size_t) noexcept { return 0; }
void splitRows(int, const float*, std::ptrdiff_t, std::size_t, std::size_t, std::size_t, std::size_t, std::byte*,
               std::uint8_t*) noexcept {}
void dotSplit(const SplitProduct&) noexcept {}
}  // namespace axial::kernels

#endif
