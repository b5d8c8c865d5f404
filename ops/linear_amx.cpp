#include "axial/ops/linear_vnni.h"

#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__) && \
    defined(__AVX512VNNI__) && defined(__AMX_TILE__) && defined(__AMX_INT8__) && defined(__linux__)

#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "axial/ops/linear_vnni-inl.h"

namespace axial::kernels {
namespace {

constexpr int group = 32;  // codes that share a scale

// The shapes of the tile registers: 0 and 1 sums (16 activations x 16 rows), 2 and 3 activations, 4 and 5 weights.
struct alignas(64) TileShapes {
    std::uint8_t palette = 1, start = 0, reserved[14] = {};
    std::uint16_t bytes[16] = {};
    std::uint8_t rows[16] = {};
    TileShapes() {
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

// Where the parts of 16 rows of activations lie: codes as [group][row][32], the others as [group][row].
struct TileLayout {
    std::size_t scale, sum, bytes;
    explicit TileLayout(std::size_t k) : scale(16 * k), sum(scale + k / group * 64), bytes(sum + k / group * 64) {}
};

// 16 rows of weights in the order of the sweep.
struct Panel {
    __m512i* codes;            // for each four codes along a row, those of all rows
    __m512i *scale, *minimum;  // for each group, those of all rows
};

template <bool minimum>
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

// Sums of 16 activations by 16 rows. Every index is a constant from the start: g++ keeps an array that a loop walks
// over in memory, since the tile instructions may touch memory.
template <int...>
struct Constants {};
using All = Constants<0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15>;
struct Totals {
    __m512 c[16];
};
template <int... T>
[[gnu::always_inline]] inline void clear(Totals& totals, Constants<T...>) {
    ((totals.c[T] = _mm512_setzero_ps()), ...);
}
// The float rule for one group: its integer sums and its scales.
template <bool minimum, int... T>
[[gnu::always_inline]] inline void addGroup(Totals& totals, Constants<T...>, const std::int32_t (&sums)[16][16],
                                            const __m512i* scale, const __m512i* least, const __m512i* xScale,
                                            const __m512i* xSum) {
    const __m512 s = _mm512_castsi512_ps(*scale);
    const auto* d = reinterpret_cast<const float*>(xScale);
    ((totals.c[T] = _mm512_fmadd_ps(_mm512_mul_ps(_mm512_cvtepi32_ps(_mm512_load_si512(sums[T])), s),
                                    _mm512_set1_ps(d[T]), totals.c[T])),
     ...);
    if constexpr (minimum) {
        const __m512 m = _mm512_castsi512_ps(*least);
        const auto* sum = reinterpret_cast<const float*>(xSum);
        ((totals.c[T] = _mm512_fmadd_ps(m, _mm512_set1_ps(sum[T]), totals.c[T])), ...);
    }
}
template <int... T>
[[gnu::always_inline]] inline void storeAll(const CodeProduct& p, std::size_t t, std::size_t j, const Totals& totals,
                                            Constants<T...>) {
    const __m512 c[] = {totals.c[T]...};
    for (std::size_t i = 0; i < 16 && t + i < p.m; ++i) {
        const auto row = static_cast<std::ptrdiff_t>(t + i), column = static_cast<std::ptrdiff_t>(j);
        store(p.out + row * p.outStride + column, p.add ? p.add + row * p.addStride + column : nullptr, p.rows - j,
              c[i]);
    }
}

// 16 rows of activations from row t on against a panel. While the tiles of one group are multiplied, the sums of the
// one before go through the float rule.
template <bool minimum>
void tile(const CodeProduct& p, std::size_t t, std::size_t j, const Panel& w, const std::byte* x, const __m512i* xScale,
          const __m512i* xSum) {
    const std::size_t groups = p.layout->k / group;
    const __m512i *codes = w.codes, *scale = w.scale, *least = w.minimum;
    alignas(64) std::int32_t even[16][16], odd[16][16];
    Totals totals;
    clear(totals, All());
    for (std::size_t i = 0; i < 16 && t + i < p.m; ++i)  // where the results go: often not in a cache
        __builtin_prefetch(p.out + static_cast<std::ptrdiff_t>(t + i) * p.outStride + j, 1);
    const auto multiplyEven = [&] {
        _tile_zero(0);
        _tile_loadd(2, x, 32);
        _tile_loadd(4, codes, 64);
        _tile_dpbssd(0, 2, 4);
        _tile_stored(0, even, 64);
        x += 512, codes += group / 4;
    };
    const auto multiplyOdd = [&] {
        _tile_zero(1);
        _tile_loadd(3, x, 32);
        _tile_loadd(5, codes, 64);
        _tile_dpbssd(1, 3, 5);
        _tile_stored(1, odd, 64);
        x += 512, codes += group / 4;
    };
    if (groups > 0) multiplyEven();
    std::size_t g = 1;
    for (; g + 2 <= groups; g += 2) {
        multiplyOdd();
        addGroup<minimum>(totals, All(), even, scale, least, xScale, xSum);
        multiplyEven();
        addGroup<minimum>(totals, All(), odd, scale + 1, least + 1, xScale + 1, xSum + 1);
        scale += 2, least += 2, xScale += 2, xSum += 2;
    }
    if (g < groups) multiplyOdd();
    if (groups > 0) addGroup<minimum>(totals, All(), even, scale, least, xScale, xSum);
    if (g < groups) addGroup<minimum>(totals, All(), odd, scale + 1, least + 1, xScale + 1, xSum + 1);
    storeAll(p, t, j, totals, All());
}

template <bool minimum>
void dot(const CodeProduct& p) {
    const std::size_t half = panelBytes(p.layout->k, p.form) / 2;
    const TileLayout layout(p.layout->k);
    Panel w[2];
    for (std::size_t j = 0; j < p.rows; j += 16) w[j / 16] = pack<minimum>(p, j, p.scratch + j / 16 * half);
    const TileShapes shapes;
    _tile_loadconfig(&shapes);
    for (std::size_t t = 0; t < p.m; t += 16) {
        const std::byte* x = p.tiles + t / 16 * layout.bytes;
        for (std::size_t j = 0; j < p.rows; j += 16)
            tile<minimum>(p, t, j, w[j / 16], x, reinterpret_cast<const __m512i*>(x + layout.scale),
                          reinterpret_cast<const __m512i*>(x + layout.sum));
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

std::size_t tileBytesAmx(const QuantisedRow& row) noexcept { return TileLayout(row.k).bytes; }

void packTilesAmx(const QuantisedRow& row, const std::byte* rows, std::size_t m, std::byte* tiles) noexcept {
    const TileLayout layout(row.k);
    for (std::size_t t = 0; t < m; t += 16, rows += 16 * row.bytes, tiles += layout.bytes) {
        const std::size_t count = m - t < 16 ? m - t : 16;
        for (std::size_t i = 0; i < 16; ++i)
            for (std::size_t b = 0; b < row.k / group; ++b) {
                const auto* from = reinterpret_cast<const __m256i*>(rows + i * row.bytes + 32 * b);
                _mm256_store_si256(reinterpret_cast<__m256i*>(tiles + 512 * b + 32 * i),
                                   i < count ? _mm256_loadu_si256(from) : _mm256_setzero_si256());
            }
        turn(rows + row.of32.scale, row.bytes, count, row.k / group, reinterpret_cast<__m512i*>(tiles + layout.scale));
        turn(rows + row.of32.sum, row.bytes, count, row.k / group, reinterpret_cast<__m512i*>(tiles + layout.sum));
    }
}

void dotCodesAmx(const CodeProduct& p) noexcept { p.form.minimum ? dot<true>(p) : dot<false>(p); }

}  // namespace axial::kernels

#else

namespace axial::kernels {
bool hasAmx() noexcept { return false; }
std::size_t tileBytesAmx(const QuantisedRow&) noexcept { return 0; }
void packTilesAmx(const QuantisedRow&, const std::byte*, std::size_t, std::byte*) noexcept {}
void dotCodesAmx(const CodeProduct&) noexcept {}
}  // namespace axial::kernels

#endif
