#include "axial/ops/superblock_kernels.h"

#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__) && \
    defined(__AVX512VNNI__) && defined(__AMX_TILE__) && defined(__AMX_INT8__)

#include "axial/ops/linear_vnni_blocks-inl.h"
#include "axial/ops/superblock-inl.h"

namespace axial::kernels {
namespace {

// The shapes of the tile registers: 0 to 3 sums (16 activations x 16 rows), 4 and 5 activations, 6 and 7 weights.
struct alignas(64) TileShapes {
    std::uint8_t palette = 1, start = 0, reserved[14] = {};
    std::uint16_t bytes[16] = {};
    std::uint8_t rows[16] = {};
    TileShapes() {
        for (int i = 0; i < 8; ++i) bytes[i] = 64, rows[i] = 16;
    }
};

// Where the parts of 16 rows of activations lie: each plane of codes as [block][64 codes][row][64], the scales as
// [block][row], the sums of 32 codes as [block][row][plane][8].
struct TileLayout {
    std::size_t low, scale, sum, bytes;
    explicit TileLayout(const SuperRow& row)
        : low(16 * row.k),
          scale(16 * row.k * row.planes),
          sum(scale + row.k / 256 * 64),
          bytes(sum + row.k / 256 * 512) {}
};

// scale * code of 256 weights is a number of up to 13 bits: 128 * high + low, with low in -64..63.
inline void putWeights(__m512i w, std::int8_t* high, std::int8_t* low) {
    const __m512i half = _mm512_set1_epi16(64);
    const __m512i lower = _mm512_sub_epi16(_mm512_and_si512(_mm512_add_epi16(w, half), _mm512_set1_epi16(127)), half);
    const __m512i upper = _mm512_srai_epi16(_mm512_sub_epi16(w, lower), 7);
    _mm256_store_si256(reinterpret_cast<__m256i*>(high), _mm512_cvtepi16_epi8(upper));
    _mm256_store_si256(reinterpret_cast<__m256i*>(low), _mm512_cvtepi16_epi8(lower));
}
inline __m256i thirtyTwo(const Byte* p) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)); }

// One block's weights, and the numbers that go with it.
struct Numbers {
    float *scale, *least;   // of the first of 16 rows
    std::int16_t* minimum;  // eight
};
template <bool five>
inline void unpack45(const Byte* p, std::int8_t* high, std::int8_t* low, const Numbers& to) {
    const long long scale = scales(p + 4), least = minimums(p + 4);
    *to.scale = half(p);
    *to.least = -half(p + 2);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to.minimum), _mm_cvtepu8_epi16(_mm_cvtsi64_si128(least)));
    const __m256i fifteen = _mm256_set1_epi8(15), fifth = five ? thirtyTwo(p + 16) : _mm256_setzero_si256();
    for (int g = 0; g < 8; ++g) {
        __m256i codes = thirtyTwo(p + (five ? 48 : 16) + 32 * (g / 2));
        codes = _mm256_and_si256(g % 2 ? _mm256_srli_epi16(codes, 4) : codes, fifteen);
        if constexpr (five)
            codes =
                _mm256_mask_add_epi8(codes, _mm256_test_epi8_mask(fifth, _mm256_set1_epi8(static_cast<char>(1 << g))),
                                     codes, _mm256_set1_epi8(16));
        const auto by = static_cast<short>(scale >> (8 * g) & 63);
        putWeights(_mm512_mullo_epi16(_mm512_cvtepu8_epi16(codes), _mm512_set1_epi16(by)), high + 32 * g, low + 32 * g);
    }
}
inline void unpack6(const Byte* p, std::int8_t* high, std::int8_t* low, const Numbers& to) {
    *to.scale = half(p + 208);
    const auto* scale = reinterpret_cast<const std::int8_t*>(p + 192);
    const __m256i fifteen = _mm256_set1_epi8(15), two = _mm256_set1_epi8(0x30);
    for (int g = 0; g < 8; ++g) {  // 32 values: of the half g / 4 of the block, the part v
        const int v = g % 4;
        const __m256i nibbles = thirtyTwo(p + 64 * (g / 4) + 32 * (v % 2)), upper = thirtyTwo(p + 128 + 32 * (g / 4));
        const __m256i four = _mm256_and_si256(v < 2 ? nibbles : _mm256_srli_epi16(nibbles, 4), fifteen);
        const __m256i high2 = v == 0   ? _mm256_slli_epi16(upper, 4)
                              : v == 1 ? _mm256_slli_epi16(upper, 2)
                              : v == 2 ? upper
                                       : _mm256_srli_epi16(upper, 2);
        const __m256i codes = _mm256_or_si256(four, _mm256_and_si256(high2, two));
        const __m512i signedCodes = _mm512_sub_epi16(_mm512_cvtepu8_epi16(codes), _mm512_set1_epi16(32));
        const __m512i by = _mm512_inserti64x4(_mm512_set1_epi16(scale[2 * g]), _mm256_set1_epi16(scale[2 * g + 1]), 1);
        putWeights(_mm512_mullo_epi16(signedCodes, by), high + 32 * g, low + 32 * g);
    }
}

// 16 stored rows in the order of the sweep.
struct Panel {
    const std::byte *high, *low;  // [block][64 codes][4 codes][row][4]
    const float *scale, *least;   // [block][row]
    const std::byte* minimum;     // [block][two groups][row][2] of int16
};

constexpr std::size_t panelBytes(std::size_t k) { return 32 * k + k / 256 * (64 + 64 + 256); }

Panel pack(const SuperProduct& p, std::size_t j, std::byte* memory, std::byte* scratch) {
    const std::size_t k = p.layout->k, blocks = k / 256, count = p.rows - j < 16 ? p.rows - j : 16;
    auto* high = reinterpret_cast<std::int8_t*>(scratch);
    auto* low = high + 16 * k;
    auto* minimum = reinterpret_cast<std::int16_t*>(low + 16 * k);  // [row][block][8]
    auto* scale = reinterpret_cast<float*>(memory + 32 * k);
    auto* least = scale + 16 * blocks;
    auto* turned = memory + 32 * k + blocks * 128;
    __builtin_memset(scale, 0, blocks * 128);
    for (std::size_t r = 0; r < count; ++r) {
        const auto* w = reinterpret_cast<const Byte*>(p.w + static_cast<std::ptrdiff_t>(j + r) * p.rowBytes);
        for (std::size_t b = 0; b < blocks; ++b) {
            const Numbers numbers{scale + 16 * b + r, least + 16 * b + r, minimum + (r * blocks + b) * 8};
            std::int8_t *h = high + r * k + 256 * b, *l = low + r * k + 256 * b;
            if (p.format == Format::q4_k)
                unpack45<false>(w + 144 * b, h, l, numbers);
            else if (p.format == Format::q5_k)
                unpack45<true>(w + 176 * b, h, l, numbers);
            else
                unpack6(w + 210 * b, h, l, numbers);
        }
    }
    turn(reinterpret_cast<const std::byte*>(high), k, count, k / 4, reinterpret_cast<__m512i*>(memory));
    turn(reinterpret_cast<const std::byte*>(low), k, count, k / 4, reinterpret_cast<__m512i*>(memory + 16 * k));
    if (p.format != Format::q6_k)
        turn(reinterpret_cast<const std::byte*>(minimum), blocks * 16, count, blocks * 4,
             reinterpret_cast<__m512i*>(turned));
    return {memory, memory + 16 * k, scale, least, turned};
}

// Every index is a constant from the start: g++ keeps an array that a loop walks over in memory, since the tile
// instructions may touch memory.
template <int...>
struct Constants {};
using All = Constants<0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15>;
struct Totals {
    __m512 c[16];
};
// The sums of 16 activations by 16 rows: of the high and low parts of the weights with the high bytes of the
// activations, then with the low ones.
struct alignas(64) Sums {
    std::int32_t of[4][16][16];
};
// The numbers of one block: the panel's, and the activations'.
struct BlockNumbers {
    const float *scale, *least;
    const std::byte* minimum;
    const float* x;
    const std::byte* sum;
};

template <int planes, int T>
[[gnu::always_inline]] inline __m512 sumOf(const Sums& s) {
    const auto joined = [&](int i) __attribute__((always_inline)) {
        return _mm512_add_epi32(_mm512_slli_epi32(_mm512_load_si512(s.of[i][T]), 7), _mm512_load_si512(s.of[i + 1][T]));
    };
    if constexpr (planes == 1)
        return _mm512_cvtepi32_ps(joined(0));
    else
        return asOneFloat(joined(0), joined(2));
}
// msum of 16 rows with the activation row T.
template <int planes, int T>
[[gnu::always_inline]] inline __m512 minimumOf(const BlockNumbers& n) {
    const auto* pairs = reinterpret_cast<const __m512i*>(n.minimum);
    const std::byte* sum = n.sum + 32 * T;
    const auto add = [&](__m512i to, int plane) __attribute__((always_inline)) {
        AXIAL_UNROLL
        for (int i = 0; i < 4; ++i) {
            std::int32_t pair;
            __builtin_memcpy(&pair, sum + 16 * plane + 4 * i, 4);
            to = _mm512_dpwssd_epi32(to, _mm512_load_si512(pairs + i), _mm512_set1_epi32(pair));
        }
        return to;
    };
    __m512i all = add(_mm512_setzero_si512(), 0);
    if constexpr (planes == 2) all = add(_mm512_slli_epi32(all, 8), 1);
    return _mm512_cvtepi32_ps(all);
}
// The float rule for one block.
template <bool minimum, int planes, int... T>
[[gnu::always_inline]] inline void addBlock(Totals& totals, Constants<T...>, const Sums& sums, const BlockNumbers& n) {
    const __m512 scale = _mm512_load_ps(n.scale);
    ((totals.c[T] = _mm512_fmadd_ps(_mm512_mul_ps(sumOf<planes, T>(sums), scale), _mm512_set1_ps(n.x[T]), totals.c[T])),
     ...);
    if constexpr (minimum) {
        const __m512 least = _mm512_load_ps(n.least);
        ((totals.c[T] =
              _mm512_fmadd_ps(_mm512_mul_ps(minimumOf<planes, T>(n), least), _mm512_set1_ps(n.x[T]), totals.c[T])),
         ...);
    }
}
template <int... T>
[[gnu::always_inline]] inline void load(Totals& totals, const float* from, Constants<T...>) {
    ((totals.c[T] = _mm512_load_ps(from + 16 * T)), ...);
}
template <int... T>
[[gnu::always_inline]] inline void keep(const Totals& totals, float* to, Constants<T...>) {
    (_mm512_store_ps(to + 16 * T, totals.c[T]), ...);
}
template <int... T>
[[gnu::always_inline]] inline void clear(Totals& totals, Constants<T...>) {
    ((totals.c[T] = _mm512_setzero_ps()), ...);
}
template <int... T>
[[gnu::always_inline]] inline void storeAll(const SuperProduct& p, std::size_t t, std::size_t j, const Totals& totals,
                                            Constants<T...>) {
    const __m512 c[] = {totals.c[T]...};
    for (std::size_t i = 0; i < 16 && t + i < p.m; ++i) {
        const auto row = static_cast<std::ptrdiff_t>(t + i), column = static_cast<std::ptrdiff_t>(j);
        store(p.out + row * p.outStride + column, p.add ? p.add + row * p.addStride + column : nullptr, p.rows - j,
              c[i]);
    }
}

// One block of 16 rows of activations from t on, tiles x, against that of a panel.
struct Step {
    std::size_t b, t, j;
    const Panel* w;
    const std::byte* x;
    float* totals;  // [row of activations][row], between blocks
    bool fetch;     // whether the activations are used for the last time in this block
};

template <int planes>
[[gnu::always_inline]] inline void multiply(const Step& s, const TileLayout& layout) {
    _tile_zero(0);
    _tile_zero(1);
    if constexpr (planes == 2) {
        _tile_zero(2);
        _tile_zero(3);
    }
    for (std::size_t at = 4096 * s.b; at < 4096 * (s.b + 1); at += 1024) {
        if (s.fetch) {  // the next activations, which lie in the second-level cache
            AXIAL_UNROLL
            for (std::size_t i = 0; i < 1024; i += 64) {
                _mm_prefetch(s.x + layout.bytes + at + i, _MM_HINT_T0);
                if constexpr (planes == 2) _mm_prefetch(s.x + layout.bytes + layout.low + at + i, _MM_HINT_T0);
            }
        }
        _tile_loadd(4, s.x + at, 64);
        _tile_loadd(6, s.w->high + at, 64);
        _tile_dpbssd(0, 4, 6);
        _tile_loadd(7, s.w->low + at, 64);
        _tile_dpbssd(1, 4, 7);
        if constexpr (planes == 2) {
            _tile_loadd(5, s.x + layout.low + at, 64);
            _tile_dpbssd(2, 5, 6);
            _tile_dpbssd(3, 5, 7);
        }
    }
}

template <bool minimum, int planes>
[[gnu::always_inline]] inline void finish(const SuperProduct& p, const Step& s, const TileLayout& layout,
                                          const Sums& sums) {
    Totals totals;
    if (s.b == 0)
        clear(totals, All());
    else
        load(totals, s.totals, All());
    const Panel& w = *s.w;
    addBlock<minimum, planes>(
        totals, All(), sums,
        {w.scale + 16 * s.b, w.least + 16 * s.b, w.minimum + 256 * s.b,
         reinterpret_cast<const float*>(s.x + layout.scale) + 16 * s.b, s.x + layout.sum + 512 * s.b});
    if (s.b + 1 == p.layout->k / 256)
        storeAll(p, s.t, s.j, totals, All());
    else
        keep(totals, s.totals, All());
}

// Block after block of the panels stays in the first-level cache while all activations pass by. While the tiles of one
// step are multiplied, the sums of the one before go through the float rule.
template <bool minimum, int planes>
void steps(const SuperProduct& p, const Panel (&w)[2], const TileLayout& layout, float* totals) {
    Sums sums;
    Step before{};
    // So many activations at a time stay in the second-level cache.
    const std::size_t block = (layout.bytes < 1u << 20 ? (1u << 20) / layout.bytes : 1) * 16;
    for (std::size_t first = 0; first < p.m; first += block)
        for (std::size_t b = 0; b < p.layout->k / 256; ++b)
            for (std::size_t t = first; t < p.m && t < first + block; t += 16)
                for (std::size_t j = 0; j < p.rows; j += 16) {
                    const Step now{
                        b, t, j, &w[j / 16], p.x + t / 16 * layout.bytes, totals + 32 * t + 16 * j, j + 16 >= p.rows};
                    multiply<planes>(now, layout);
                    if (before.w) finish<minimum, planes>(p, before, layout, sums);
                    _tile_stored(0, sums.of[0], 64);
                    _tile_stored(1, sums.of[1], 64);
                    if constexpr (planes == 2) {
                        _tile_stored(2, sums.of[2], 64);
                        _tile_stored(3, sums.of[3], 64);
                    }
                    before = now;
                }
    if (before.w) finish<minimum, planes>(p, before, layout, sums);
}

template <bool minimum>
void sweep(const SuperProduct& p) {
    const std::size_t k = p.layout->k;
    Panel w[2];
    std::byte* const rows = p.scratch + 2 * panelBytes(k);
    auto* const totals = reinterpret_cast<float*>(rows + 32 * k + k / 256 * 256);
    for (std::size_t j = 0; j < p.rows; j += 16) w[j / 16] = pack(p, j, p.scratch + j / 16 * panelBytes(k), rows);
    const TileShapes shapes;
    _tile_loadconfig(&shapes);
    const TileLayout layout(*p.layout);
    p.layout->planes == 2 ? steps<minimum, 2>(p, w, layout, totals) : steps<minimum, 1>(p, w, layout, totals);
    _tile_release();
}

}  // namespace

std::size_t superTileBytes(const SuperRow& row) noexcept { return TileLayout(row).bytes; }

void packSuperTiles(const SuperRow& row, const std::byte* rows, std::size_t m, std::byte* tiles) noexcept {
    const TileLayout layout(row);
    for (std::size_t t = 0; t < m; t += 16, rows += 16 * row.bytes, tiles += layout.bytes) {
        const std::size_t count = m - t < 16 ? m - t : 16;
        const auto plane = [&](std::size_t from, std::size_t to) {
            for (std::size_t i = 0; i < 16; ++i)
                for (std::size_t at = 0; at < row.k; at += 64)
                    _mm512_store_si512(tiles + to + 16 * at + 64 * i,
                                       i < count ? kernels::load(rows + i * row.bytes + from + at) : zero());
        };
        plane(0, 0);
        if (row.planes == 2) plane(row.low, layout.low);
        turn(rows + row.scale, row.bytes, count, row.k / 256, reinterpret_cast<__m512i*>(tiles + layout.scale));
        for (std::size_t b = 0; b < row.k / 256; ++b)
            for (std::size_t i = 0; i < 16; ++i)
                for (std::size_t s = 0; s < row.planes; ++s) {
                    std::byte* to = tiles + layout.sum + 512 * b + 32 * i + 16 * s;
                    if (i < count)
                        __builtin_memcpy(to, rows + i * row.bytes + row.sum32[s] + 16 * b, 16);
                    else
                        __builtin_memset(to, 0, 16);
                }
    }
}

void dotSuperTiles(const SuperProduct& p) noexcept { p.format == Format::q6_k ? sweep<false>(p) : sweep<true>(p); }

}  // namespace axial::kernels

#else

namespace axial::kernels {
std::size_t superTileBytes(const SuperRow&) noexcept { return 0; }
void packSuperTiles(const SuperRow&, const std::byte*, std::size_t, std::byte*) noexcept {}
void dotSuperTiles(const SuperProduct&) noexcept {}
}  // namespace axial::kernels

#endif
