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

// The shapes of the tile registers: 0 to 3 sums (16 rows of weights x 16 of activations), 4 and 5 activations, 6 and 7
// weights. Weights stand in tiles as they lie, activations with four codes of each row side by side: turning those over
// is done once for all weights.
struct alignas(64) TileShapes {
    std::uint8_t palette = 1, start = 0, reserved[14] = {};
    std::uint16_t bytes[16] = {};
    std::uint8_t rows[16] = {};
    TileShapes() {
        for (int i = 0; i < 8; ++i) {
            bytes[i] = i < 6 ? std::uint16_t{64} : static_cast<std::uint16_t>(group);
            rows[i] = i == 4 || i == 5 ? static_cast<std::uint8_t>(group / 4) : std::uint8_t{16};
        }
    }
};

// Where the parts of 16 rows of activations lie: each plane of codes as [group][4 codes][row][4], the others as
// [group][row].
struct TileLayout {
    std::size_t low, scale, sum, bytes;
    explicit TileLayout(const QuantisedRow& row)
        : low(16 * row.k),
          scale(16 * row.k * row.planes),
          sum(scale + row.k / group * 64),
          bytes(sum + row.k / group * 64) {}
};

// 16 rows of weights from row j on: where they lie, or, if there are fewer, filled up with zeros in `memory`.
CodeRows sixteenRows(const CodeProduct& p, std::size_t j, std::byte* memory) {
    const std::size_t k = p.layout->k, count = p.rows - j;
    CodeRows w = p.w;
    w.codes += j * w.codeStride;
    w.scale += j * w.groupStride;
    if (p.form.minimum) w.minimum += j * w.groupStride;
    if (count >= 16) return w;
    const CodeRows from = w;
    w.codes = reinterpret_cast<std::int8_t*>(memory);
    w.codeStride = k;
    w.groupStride = k / group;
    w.scale = reinterpret_cast<float*>(memory + 16 * k);
    w.minimum = w.scale + 16 * w.groupStride;
    __builtin_memset(memory, 0, 16 * k + 32 * w.groupStride * sizeof(float));
    for (std::size_t r = 0; r < count; ++r) {
        __builtin_memcpy(w.codes + r * k, from.codes + r * from.codeStride, k);
        __builtin_memcpy(w.scale + r * w.groupStride, from.scale + r * from.groupStride, w.groupStride * sizeof(float));
        if (p.form.minimum)
            __builtin_memcpy(w.minimum + r * w.groupStride, from.minimum + r * from.groupStride,
                             w.groupStride * sizeof(float));
    }
    return w;
}

// Sums of 16 rows by 16 activations, a vector for each row. Every index is a constant from the start: g++ keeps an
// array that a loop walks over in memory, since the tile instructions may touch memory.
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
// The sums of 16 rows by 16 activations for one group; those of two planes are of the high and the low bytes.
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
// The float rule for one group: its integer sums and its scales. Those of the rows lie `stride` apart.
template <bool minimum, int planes, int... R>
[[gnu::always_inline]] inline void addGroup(Totals& totals, Constants<R...>, const Sums<planes>& sums,
                                            const float* scale, const float* least, std::size_t stride,
                                            const __m512i* xScale, const __m512i* xSum) {
    const __m512 d = _mm512_castsi512_ps(*xScale);
    ((totals.c[R] =
          _mm512_fmadd_ps(_mm512_mul_ps(sums.template get<R>(), _mm512_set1_ps(scale[R * stride])), d, totals.c[R])),
     ...);
    if constexpr (minimum) {
        const __m512 sum = _mm512_castsi512_ps(*xSum);
        ((totals.c[R] = _mm512_fmadd_ps(_mm512_set1_ps(least[R * stride]), sum, totals.c[R])), ...);
    }
}
template <int... R>
[[gnu::always_inline]] inline void storeAll(const CodeProduct& p, std::size_t t, std::size_t j, const Totals& totals,
                                            Constants<R...>) {
    __m512i turned[] = {_mm512_castps_si512(totals.c[R])...};
    transpose(turned);
    for (std::size_t i = 0; i < 16 && t + i < p.m; ++i) {
        const auto row = static_cast<std::ptrdiff_t>(t + i), column = static_cast<std::ptrdiff_t>(j);
        store(p.out + row * p.outStride + column, p.add ? p.add + row * p.addStride + column : nullptr, p.rows - j,
              _mm512_castsi512_ps(turned[i]));
    }
}

// 16 rows of activations, tiles x, from row t on against 16 rows of weights. Three groups are under way at once, since
// a product of tiles takes long and a store that waits for it holds up everything behind it: while one is multiplied,
// the sums of the one before are stored, and those of the one before that go through the float rule.
template <bool minimum, int planes>
void tile(const CodeProduct& p, std::size_t t, std::size_t j, const CodeRows& w, const std::byte* x,
          const TileLayout& layout) {
    const std::size_t groups = p.layout->k / group;
    const auto stride = static_cast<long>(w.codeStride);
    const std::int8_t* codes = w.codes;
    const float *scale = w.scale, *least = w.minimum;
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
        _tile_loadd(4, x, 64);
        _tile_loadd(6, codes, stride);
        _tile_dpbssd(0, 6, 4);
        if constexpr (planes == 2) {
            _tile_zero(1);
            _tile_loadd(5, low, 64);
            _tile_dpbssd(1, 6, 5);
        }
        x += 16 * group, low += 16 * group, codes += group;
    };
    const auto multiplyOdd = [&] {
        _tile_zero(2);
        _tile_loadd(4, x, 64);
        _tile_loadd(7, codes, stride);
        _tile_dpbssd(2, 7, 4);
        if constexpr (planes == 2) {
            _tile_zero(3);
            _tile_loadd(5, low, 64);
            _tile_dpbssd(3, 7, 5);
        }
        x += 16 * group, low += 16 * group, codes += group;
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
        addGroup<minimum>(totals, All(), sums, scale, least, w.groupStride, xScale, xSum);
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
    CodeRows w[2];
    for (std::size_t j = 0; j < p.rows; j += 16) w[j / 16] = sixteenRows(p, j, p.scratch + j / 16 * half);
    const TileShapes shapes;
    _tile_loadconfig(&shapes);
    // Weights stay in the first-level cache while activations pass by, and these in the second-level one.
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
        turn(rows, row.bytes, count, row.k / 4, reinterpret_cast<__m512i*>(tiles));
        if (row.planes == 2)
            turn(rows + row.low, row.bytes, count, row.k / 4, reinterpret_cast<__m512i*>(tiles + layout.low));
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
