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

// The shapes of the tile registers: 0 to 3 sums (16 activations x 16 rows), 4 and 5 activations, 6 and 7 weights.
struct alignas(64) TileShapes {
    std::uint8_t palette = 1, start = 0, reserved[14] = {};
    std::uint16_t bytes[16] = {};
    std::uint8_t rows[16] = {};
    TileShapes() {
        for (int i = 0; i < 8; ++i) {
            bytes[i] = i == 4 || i == 5 ? static_cast<std::uint16_t>(group) : std::uint16_t{64};
            rows[i] = i < 6 ? std::uint8_t{16} : static_cast<std::uint8_t>(group / 4);
        }
    }
};

// Where the parts of 16 rows of activations lie: each plane of codes as [group][row][32], the others as [group][row].
struct TileLayout {
    std::size_t low, scale, sum, bytes;
    explicit TileLayout(const QuantisedRow& row)
        : low(16 * row.k),
          scale(16 * row.k * row.planes),
          sum(scale + row.k / group * 64),
          bytes(sum + row.k / group * 64) {}
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
// The sums of 16 activations by 16 rows for one group; those of two planes are of the high and the low bytes.
template <int planes>
struct alignas(64) Sums {
    std::int32_t of[planes][16][16];
    template <int T>
    [[gnu::always_inline]] __m512 get() const {
        const __m512i sums = _mm512_load_si512(of[0][T]);
        if constexpr (planes == 1)
            return _mm512_cvtepi32_ps(sums);
        else
            return _mm512_cvtepi32_ps(_mm512_add_epi32(_mm512_slli_epi32(sums, 8), _mm512_load_si512(of[1][T])));
    }
};
// The float rule for one group: its integer sums and its scales.
template <bool minimum, int planes, int... T>
[[gnu::always_inline]] inline void addGroup(Totals& totals, Constants<T...>, const Sums<planes>& sums,
                                            const __m512i* scale, const __m512i* least, const __m512i* xScale,
                                            const __m512i* xSum) {
    const __m512 s = _mm512_castsi512_ps(*scale);
    const auto* d = reinterpret_cast<const float*>(xScale);
    ((totals.c[T] = _mm512_fmadd_ps(_mm512_mul_ps(sums.template get<T>(), s), _mm512_set1_ps(d[T]), totals.c[T])), ...);
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

// 16 rows of activations, tiles x, from row t on against a panel. Three groups are under way at once, since a product
// of tiles takes long and a store that waits for it holds up everything behind it: while one is multiplied, the sums of
// the one before are stored, and those of the one before that go through the float rule. Storing each group's sums as
// soon as they were asked for took 1.7 times as long.
template <bool minimum, int planes>
void tile(const CodeProduct& p, std::size_t t, std::size_t j, const Panel& w, const std::byte* x,
          const TileLayout& layout) {
    const std::size_t groups = p.layout->k / group;
    const __m512i *codes = w.codes, *scale = w.scale, *least = w.minimum;
    const auto* xScale = reinterpret_cast<const __m512i*>(x + layout.scale);
    const auto* xSum = reinterpret_cast<const __m512i*>(x + layout.sum);
    const std::byte* low = x + layout.low;
    Sums<planes> even, odd;
    Totals totals;
    clear(totals, All());
    for (std::size_t i = 0; i < 16 && t + i < p.m; ++i)  // where the results go: often not in a cache
        __builtin_prefetch(p.out + static_cast<std::ptrdiff_t>(t + i) * p.outStride + j, 1);
    const auto multiplyEven = [&] {
        _tile_zero(0);
        _tile_loadd(4, x, group);
        _tile_loadd(6, codes, 64);
        _tile_dpbssd(0, 4, 6);
        if constexpr (planes == 2) {
            _tile_zero(1);
            _tile_loadd(5, low, group);
            _tile_dpbssd(1, 5, 6);
        }
        x += 16 * group, low += 16 * group, codes += group / 4;
    };
    const auto multiplyOdd = [&] {
        _tile_zero(2);
        _tile_loadd(4, x, group);
        _tile_loadd(7, codes, 64);
        _tile_dpbssd(2, 4, 7);
        if constexpr (planes == 2) {
            _tile_zero(3);
            _tile_loadd(5, low, group);
            _tile_dpbssd(3, 5, 7);
        }
        x += 16 * group, low += 16 * group, codes += group / 4;
    };
    const auto storeEven = [&] {
        _tile_stored(0, even.of[0], 64);
        if constexpr (planes == 2) _tile_stored(1, even.of[1], 64);
    };
    const auto storeOdd = [&] {
        _tile_stored(2, odd.of[0], 64);
        if constexpr (planes == 2) _tile_stored(3, odd.of[1], 64);
    };
    const auto add = [&](const Sums<planes>& sums) __attribute__((always_inline)) {
        addGroup<minimum>(totals, All(), sums, scale, least, xScale, xSum);
        ++scale, ++least, ++xScale, ++xSum;
    };
    if (groups == 1) {
        multiplyEven(), storeEven(), add(even);
    } else if (groups > 1) {
        multiplyEven(), multiplyOdd(), storeEven();
        std::size_t left = groups - 2;  // to be multiplied yet
        for (; left >= 2; left -= 2) {
            multiplyEven(), storeOdd(), add(even);
            multiplyOdd(), storeEven(), add(odd);
        }
        if (left == 1) multiplyEven();
        storeOdd(), add(even);
        if (left == 1) storeEven();
        add(odd);
        if (left == 1) add(even);
    }
    storeAll(p, t, j, totals, All());
}

template <bool minimum>
void dot(const CodeProduct& p) {
    const std::size_t half = panelBytes(p.layout->k, p.form) / 2;
    const TileLayout layout(*p.layout);
    Panel w[2];
    for (std::size_t j = 0; j < p.rows; j += 16) w[j / 16] = pack<minimum>(p, j, p.scratch + j / 16 * half);
    const TileShapes shapes;
    _tile_loadconfig(&shapes);
    // A panel stays in the first-level cache while activations pass by, and these in the second-level one from panel to
    // panel.
    const std::size_t block = (layout.bytes < 1u << 20 ? (1u << 20) / layout.bytes : 1) * 16;
    for (std::size_t first = 0; first < p.m; first += block)
        for (std::size_t j = 0; j < p.rows; j += 16)
            for (std::size_t t = first; t < p.m && t < first + block; t += 16) {
                const std::byte* x = p.tiles + t / 16 * layout.bytes;
                p.layout->planes == 2 ? tile<minimum, 2>(p, t, j, w[j / 16], x, layout)
                                      : tile<minimum, 1>(p, t, j, w[j / 16], x, layout);
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

std::size_t tileBytesAmx(const QuantisedRow& row) noexcept { return TileLayout(row).bytes; }

void packTilesAmx(const QuantisedRow& row, const std::byte* rows, std::size_t m, std::byte* tiles) noexcept {
    const TileLayout layout(row);
    for (std::size_t t = 0; t < m; t += 16, rows += 16 * row.bytes, tiles += layout.bytes) {
        const std::size_t count = m - t < 16 ? m - t : 16;
        const auto plane = [&](std::size_t from, std::size_t to) {
            for (std::size_t i = 0; i < 16; ++i)
                for (std::size_t g = 0; g < row.k / group; ++g) {
                    const auto* codes = reinterpret_cast<const __m256i*>(rows + i * row.bytes + from + group * g);
                    _mm256_store_si256(reinterpret_cast<__m256i*>(tiles + to + 16 * group * g + group * i),
                                       i < count ? _mm256_loadu_si256(codes) : _mm256_setzero_si256());
                }
        };
        plane(0, 0);
        if (row.planes == 2) plane(row.low, layout.low);
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
