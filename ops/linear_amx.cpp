#include "axial/ops/linear_vnni.h"

#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__) && \
    defined(__AVX512VNNI__) && defined(__AMX_TILE__) && defined(__AMX_INT8__) && defined(__linux__)

#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "axial/ops/linear_vnni-inl.h"

namespace axial::kernels {
namespace {

// The shapes of the tile registers: 0 and 1 sums (16 activations x 16 rows), 2 and 3 activations, 4 and 5 weights.
struct alignas(64) TileShapes {
    std::uint8_t palette = 1, start = 0, reserved[14] = {};
    std::uint16_t bytes[16] = {};
    std::uint8_t rows[16] = {};
    explicit TileShapes(int group) {
        for (int i = 0; i < 2; ++i) {
            bytes[i] = 64, rows[i] = 16;
            bytes[2 + i] = static_cast<std::uint16_t>(group), rows[2 + i] = 16;
            bytes[4 + i] = 64, rows[4 + i] = static_cast<std::uint8_t>(group / 4);
        }
    }
};

// 16 rows of numbers, one vector for each column.
inline void turn(const std::byte* from, std::size_t rowBytes, std::size_t rows, std::size_t columns, __m512i* to) {
    for (std::size_t first = 0; first < columns; first += 16) {
        __m512i r[16];
        AXIAL_UNROLL
        for (std::size_t i = 0; i < 16; ++i)
            r[i] = i < rows ? _mm512_loadu_si512(from + i * rowBytes + 4 * first) : _mm512_setzero_si512();
        transpose(r);
        if (columns - first >= 16) {
            AXIAL_UNROLL
            for (std::size_t i = 0; i < 16; ++i) to[first + i] = r[i];
        } else {
            for (std::size_t i = 0; i < columns - first; ++i) to[first + i] = r[i];
        }
    }
}

// 16 rows of weights in the order of the sweep.
struct Panel {
    __m512i* codes;            // for each four codes along a row, those of all rows
    __m512i *scale, *minimum;  // for each group, those of all rows
};

template <int group, bool minimum>
Panel pack(const CodeProduct& p, std::size_t j, std::byte* memory) {
    const std::size_t k = p.layout->k, padded = (k + 63) / 64 * 64, groups = k / group;
    const std::size_t rows = p.rows - j < 16 ? p.rows - j : 16, stride = p.w.groupStride * sizeof(float);
    auto* codes = reinterpret_cast<__m512i*>(memory);
    const Panel panel{codes, codes + padded / 4, codes + padded / 4 + groups};
    turn(reinterpret_cast<const std::byte*>(p.w.codes + j * p.w.codeStride), p.w.codeStride, rows, padded / 4,
         panel.codes);
    turn(reinterpret_cast<const std::byte*>(p.w.scale + j * p.w.groupStride), stride, rows, groups, panel.scale);
    if constexpr (minimum)
        turn(reinterpret_cast<const std::byte*>(p.w.minimum + j * p.w.groupStride), stride, rows, groups,
             panel.minimum);
    return panel;
}

// The float rule for one group: integer sums of 16 activations by 16 rows, and the group's scales.
template <bool minimum>
inline void addGroup(const std::int32_t (&sums)[16][16], __m512 scale, __m512 least, const float* xScale,
                     const float* xSum, __m512 (&c)[16]) {
    AXIAL_UNROLL
    for (int t = 0; t < 16; ++t) {
        const __m512 product = _mm512_mul_ps(_mm512_cvtepi32_ps(_mm512_load_si512(sums[t])), scale);
        c[t] = _mm512_fmadd_ps(product, _mm512_set1_ps(xScale[t]), c[t]);
        if constexpr (minimum) c[t] = _mm512_fmadd_ps(least, _mm512_set1_ps(xSum[t]), c[t]);
    }
}

// 16 rows of activations from x on against a panel; only `count` of them are wanted. While the tiles of one group are
// multiplied, the sums of the one before go through the float rule.
template <int group, bool minimum>
void tile(const CodeProduct& p, std::size_t t, std::size_t j, const Panel& w, const __m512i* xScale,
          const __m512i* xSum) {
    const std::size_t groups = p.layout->k / group, stride = p.layout->bytes;
    const std::byte* x = p.x + t * stride;
    alignas(64) std::int32_t sums[2][16][16];
    __m512 c[16];
    AXIAL_UNROLL
    for (int i = 0; i < 16; ++i) c[i] = _mm512_setzero_ps();
    const auto add = [&](std::size_t g) {
        addGroup<minimum>(sums[g % 2], _mm512_castsi512_ps(w.scale[g]),
                          minimum ? _mm512_castsi512_ps(w.minimum[g]) : _mm512_setzero_ps(),
                          reinterpret_cast<const float*>(xScale + g), reinterpret_cast<const float*>(xSum + g), c);
    };
    std::size_t g = 0;
    for (; g + 2 <= groups; g += 2) {
        _tile_zero(0);
        _tile_loadd(2, x + g * group, stride);
        _tile_loadd(4, w.codes + g * (group / 4), 64);
        _tile_dpbssd(0, 2, 4);
        _tile_stored(0, sums[0], 64);
        if (g > 0) add(g - 1);
        _tile_zero(1);
        _tile_loadd(3, x + (g + 1) * group, stride);
        _tile_loadd(5, w.codes + (g + 1) * (group / 4), 64);
        _tile_dpbssd(1, 3, 5);
        _tile_stored(1, sums[1], 64);
        add(g);
    }
    if (g > 0) add(g - 1);
    if (g < groups) {
        _tile_zero(0);
        _tile_loadd(2, x + g * group, stride);
        _tile_loadd(4, w.codes + g * (group / 4), 64);
        _tile_dpbssd(0, 2, 4);
        _tile_stored(0, sums[0], 64);
        add(g);
    }
    const std::size_t count = p.m - t < 16 ? p.m - t : 16;
    AXIAL_UNROLL
    for (std::size_t i = 0; i < 16; ++i) {
        if (i >= count) break;
        const auto row = static_cast<std::ptrdiff_t>(t + i), column = static_cast<std::ptrdiff_t>(j);
        store(p.out + row * p.outStride + column, p.add ? p.add + row * p.addStride + column : nullptr, p.rows - j,
              c[i]);
    }
}

template <int group, bool minimum>
void dot(const CodeProduct& p) {
    const std::size_t groups = p.layout->k / group, half = panelBytes(p.layout->k, p.form) / 2;
    const QuantisedRow::Groups& at = p.layout->groupsOf(group);
    Panel w[2];
    for (std::size_t j = 0; j < p.rows; j += 16) w[j / 16] = pack<group, minimum>(p, j, p.scratch + j / 16 * half);
    auto* xScale = reinterpret_cast<__m512i*>(p.scratch + 2 * half);
    auto* xSum = xScale + groups;
    const TileShapes shapes(group);
    _tile_loadconfig(&shapes);
    for (std::size_t t = 0; t < p.m; t += 16) {
        const std::byte* x = p.x + t * p.layout->bytes;
        turn(x + at.scale, p.layout->bytes, 16, groups, xScale);
        if constexpr (minimum) turn(x + at.sum, p.layout->bytes, 16, groups, xSum);
        for (std::size_t j = 0; j < p.rows; j += 16) tile<group, minimum>(p, t, j, w[j / 16], xScale, xSum);
    }
    _tile_release();
}

bool detect() {
    unsigned a, b, c, d;
    constexpr unsigned amxTile = 1u << 24, amxInt8 = 1u << 25;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || (d & (amxTile | amxInt8)) != (amxTile | amxInt8)) return false;
    constexpr long requestPermission = 0x1023, tileData = 18;  // arch_prctl(ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA)
    return syscall(SYS_arch_prctl, requestPermission, tileData) == 0;
}

}  // namespace

bool hasAmx() noexcept {
    static const bool has = hasVnni() && detect();
    return has;
}

void dotCodesAmx(const CodeProduct& p) noexcept {
    if (p.form.group == 16)
        p.form.minimum ? dot<16, true>(p) : dot<16, false>(p);
    else
        p.form.minimum ? dot<32, true>(p) : dot<32, false>(p);
}

}  // namespace axial::kernels

#else

namespace axial::kernels {
bool hasAmx() noexcept { return false; }
void dotCodesAmx(const CodeProduct&) noexcept {}
}  // namespace axial::kernels

#endif
