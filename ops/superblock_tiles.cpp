#include "axial/ops/superblock_kernels.h"

#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__) && \
    defined(__AVX512VNNI__) && defined(__AMX_TILE__) && defined(__AMX_INT8__)

#include "axial/ops/linear_vnni_blocks-inl.h"
#include "axial/ops/superblock-inl.h"

namespace axial::kernels {
namespace {

// The shapes of the tile registers: 0 to 3 sums (16 rows of weights x 16 of activations), 4 and 5 activations, 6 and 7
// weights. Weights stand in tiles as they lie, activations with four codes of each row side by side: turning those over
// is done once for all weights.
struct alignas(64) TileShapes {
    std::uint8_t palette = 1, start = 0, reserved[14] = {};
    std::uint16_t bytes[16] = {};
    std::uint8_t rows[16] = {};
    TileShapes() {
        for (int i = 0; i < 8; ++i) bytes[i] = 64, rows[i] = 16;
    }
};

// Where the parts of 16 rows of activations lie: each plane of codes as [block][4 codes][row][4], the scales as
// [block][row], the sums of 32 codes as [block][plane][two sums][row][2].
struct TileLayout {
    std::size_t low, scale, sum, bytes;
    explicit TileLayout(const SuperRow& row)
        : low(16 * row.k),
          scale(16 * row.k * row.planes),
          sum(scale + row.k / 256 * 64),
          bytes(sum + row.k / 256 * 512) {}
};

inline __m256i thirtyTwo(const Byte* p) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)); }

// What tiles need of one block of one row. scale * code of its weights is 2^`shift` * high + low.
struct Weights {
    std::int8_t *high, *low;  // 64 codes each 1024 bytes apart
    float *scale, *least;
    std::int16_t* minimum;  // eight
};
// Numbers of up to 13 bits with shift = 7: low in -64..63.
inline void putWeights(const Weights& to, int group, __m512i w) {
    const __m512i half = _mm512_set1_epi16(64);
    const __m512i lower = _mm512_sub_epi16(_mm512_and_si512(_mm512_add_epi16(w, half), _mm512_set1_epi16(127)), half);
    const __m512i upper = _mm512_srai_epi16(_mm512_sub_epi16(w, lower), 7);
    const int at = 1024 * (group / 2) + 32 * (group % 2);
    _mm256_store_si256(reinterpret_cast<__m256i*>(to.high + at), _mm512_cvtepi16_epi8(upper));
    _mm256_store_si256(reinterpret_cast<__m256i*>(to.low + at), _mm512_cvtepi16_epi8(lower));
}
inline void putMinimums(const Byte* p, const Weights& to) {
    *to.scale = half(p);
    *to.least = -half(p + 2);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to.minimum), _mm_cvtepu8_epi16(_mm_cvtsi64_si128(minimums(p + 4))));
}

// 0 to 7 times each nibble.
struct Multiples {
    alignas(16) std::int8_t of[8][16];
    constexpr Multiples() : of() {
        for (int factor = 0; factor < 8; ++factor)
            for (int code = 0; code < 16; ++code) of[factor][code] = static_cast<std::int8_t>(factor * code);
    }
};
constexpr Multiples multiples;

// A scale of six bits is 8 times its upper three plus its lower three, so shift = 3, and both products are looked up.
struct UnpackQ4_K {
    static constexpr int block = 144, shift = 3;
    static constexpr bool minimum = true;
    static void unpack(const Byte* p, const Weights& to) {
        putMinimums(p, to);
        const auto scale = static_cast<std::uint64_t>(scales(p + 4));
        const auto table = [](std::uint64_t factor) {
            return _mm256_broadcastsi128_si256(
                _mm_load_si128(reinterpret_cast<const __m128i*>(multiples.of[factor & 7])));
        };
        for (int g = 0; g < 8; ++g) {
            __m256i codes = thirtyTwo(p + 16 + 32 * (g / 2));
            codes = _mm256_and_si256(g % 2 ? _mm256_srli_epi16(codes, 4) : codes, _mm256_set1_epi8(15));
            const std::uint64_t by = scale >> (8 * g);
            const int at = 1024 * (g / 2) + 32 * (g % 2);
            _mm256_store_si256(reinterpret_cast<__m256i*>(to.high + at), _mm256_shuffle_epi8(table(by >> 3), codes));
            _mm256_store_si256(reinterpret_cast<__m256i*>(to.low + at), _mm256_shuffle_epi8(table(by), codes));
        }
    }
};
struct UnpackQ5_K {
    static constexpr int block = 176, shift = 7;
    static constexpr bool minimum = true;
    static void unpack(const Byte* p, const Weights& to) {
        putMinimums(p, to);
        const long long scale = scales(p + 4);
        const __m256i fifteen = _mm256_set1_epi8(15), fifth = thirtyTwo(p + 16);
        for (int g = 0; g < 8; ++g) {
            __m256i codes = thirtyTwo(p + 48 + 32 * (g / 2));
            codes = _mm256_and_si256(g % 2 ? _mm256_srli_epi16(codes, 4) : codes, fifteen);
            const __mmask32 sixteen = _mm256_test_epi8_mask(fifth, _mm256_set1_epi8(static_cast<char>(1 << g)));
            codes = _mm256_mask_add_epi8(codes, sixteen, codes, _mm256_set1_epi8(16));
            const auto by = static_cast<short>(scale >> (8 * g) & 63);
            putWeights(to, g, _mm512_mullo_epi16(_mm512_cvtepu8_epi16(codes), _mm512_set1_epi16(by)));
        }
    }
};
struct UnpackQ6_K {
    static constexpr int block = 210, shift = 7;
    static constexpr bool minimum = false;
    static void unpack(const Byte* p, const Weights& to) {
        *to.scale = half(p + 208);
        const auto* scale = reinterpret_cast<const std::int8_t*>(p + 192);
        const __m256i fifteen = _mm256_set1_epi8(15), two = _mm256_set1_epi8(0x30);
        for (int g = 0; g < 8; ++g) {  // 32 values: of the half g / 4 of the block, the part v
            const int v = g % 4;
            const __m256i nibbles = thirtyTwo(p + 64 * (g / 4) + 32 * (v % 2)),
                          upper = thirtyTwo(p + 128 + 32 * (g / 4));
            const __m256i four = _mm256_and_si256(v < 2 ? nibbles : _mm256_srli_epi16(nibbles, 4), fifteen);
            const __m256i high = v == 0   ? _mm256_slli_epi16(upper, 4)
                                 : v == 1 ? _mm256_slli_epi16(upper, 2)
                                 : v == 2 ? upper
                                          : _mm256_srli_epi16(upper, 2);
            const __m256i codes = _mm256_or_si256(four, _mm256_and_si256(high, two));
            const __m512i meant = _mm512_sub_epi16(_mm512_cvtepu8_epi16(codes), _mm512_set1_epi16(32));
            const __m512i by =
                _mm512_inserti64x4(_mm512_set1_epi16(scale[2 * g]), _mm256_set1_epi16(scale[2 * g + 1]), 1);
            putWeights(to, g, _mm512_mullo_epi16(meant, by));
        }
    }
};

// 16 stored rows in the order of the sweep.
struct Panel {
    const std::byte *high, *low;  // [block][64 codes][row][64]
    const float *scale, *least;   // [block][row]
    const std::int16_t* minimum;  // [block][row][8]
};

constexpr std::size_t panelBytes(std::size_t k) { return 32 * k + k / 256 * (64 + 64 + 256); }

template <class F>
Panel pack(const SuperProduct& p, std::size_t j, std::byte* memory) {
    const std::size_t k = p.layout->k, blocks = k / 256, count = p.rows - j < 16 ? p.rows - j : 16;
    auto* high = reinterpret_cast<std::int8_t*>(memory);
    auto* scale = reinterpret_cast<float*>(memory + 32 * k);
    auto* least = scale + 16 * blocks;
    auto* minimum = reinterpret_cast<std::int16_t*>(least + 16 * blocks);
    if (count < 16) __builtin_memset(memory, 0, panelBytes(k));
    for (std::size_t r = 0; r < count; ++r) {
        const auto* w = reinterpret_cast<const Byte*>(p.w + static_cast<std::ptrdiff_t>(j + r) * p.rowBytes);
        for (std::size_t b = 0; b < blocks; ++b, w += F::block) {
            for (int i = 0; i < F::block; i += 64) _mm_prefetch(w + 2048 + i, _MM_HINT_T0);
            F::unpack(w, {high + 4096 * b + 64 * r, high + 16 * k + 4096 * b + 64 * r, scale + 16 * b + r,
                          least + 16 * b + r, minimum + (16 * b + r) * 8});
        }
    }
    return {memory, memory + 16 * k, scale, least, minimum};
}

// Every index is a constant from the start: g++ keeps an array that a loop walks over in memory, since the tile
// instructions may touch memory.
template <int...>
struct Constants {};
using All = Constants<0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15>;
// Row r of the weights with 16 rows of activations.
struct Totals {
    __m512 c[16];
};
// The sums of 16 rows by 16 activations: of the high and low parts of the weights with the high bytes of the
// activations, then with the low ones.
struct alignas(64) Sums {
    std::int32_t of[4][16][16];
};
// The numbers of one block: the panel's, and the activations'.
struct BlockNumbers {
    const float *scale, *least;
    const std::int16_t* minimum;
    const float* x;
    const std::byte* sum;
};

template <int planes, int shift, int R>
[[gnu::always_inline]] inline __m512 sumOf(const Sums& s) {
    const auto joined = [&](int i) __attribute__((always_inline)) {
        return _mm512_add_epi32(_mm512_slli_epi32(_mm512_load_si512(s.of[i][R]), shift),
                                _mm512_load_si512(s.of[i + 1][R]));
    };
    if constexpr (planes == 1)
        return _mm512_cvtepi32_ps(joined(0));
    else
        return asOneFloat(joined(0), joined(2));
}
// msum of the row R with 16 activations.
template <int planes, int R>
[[gnu::always_inline]] inline __m512 minimumOf(const BlockNumbers& n) {
    const auto* sums = reinterpret_cast<const __m512i*>(n.sum);
    const auto add = [&](__m512i to, int plane) __attribute__((always_inline)) {
        AXIAL_UNROLL
        for (int i = 0; i < 4; ++i) {
            std::int32_t pair;
            __builtin_memcpy(&pair, n.minimum + 8 * R + 2 * i, 4);
            to = _mm512_dpwssd_epi32(to, _mm512_load_si512(sums + 4 * plane + i), _mm512_set1_epi32(pair));
        }
        return to;
    };
    __m512i all = add(_mm512_setzero_si512(), 0);
    if constexpr (planes == 2) all = add(_mm512_slli_epi32(all, 8), 1);
    return _mm512_cvtepi32_ps(all);
}
// The float rule for one block.
template <class F, int planes, int... R>
[[gnu::always_inline]] inline void addBlock(Totals& totals, Constants<R...>, const Sums& sums, const BlockNumbers& n) {
    const __m512 x = _mm512_load_ps(n.x);
    ((totals.c[R] =
          _mm512_fmadd_ps(_mm512_mul_ps(sumOf<planes, F::shift, R>(sums), _mm512_set1_ps(n.scale[R])), x, totals.c[R])),
     ...);
    if constexpr (F::minimum)
        ((totals.c[R] =
              _mm512_fmadd_ps(_mm512_mul_ps(minimumOf<planes, R>(n), _mm512_set1_ps(n.least[R])), x, totals.c[R])),
         ...);
}
template <int... R>
[[gnu::always_inline]] inline void load(Totals& totals, const float* from, Constants<R...>) {
    ((totals.c[R] = _mm512_load_ps(from + 16 * R)), ...);
}
template <int... R>
[[gnu::always_inline]] inline void keep(const Totals& totals, float* to, Constants<R...>) {
    (_mm512_store_ps(to + 16 * R, totals.c[R]), ...);
}
template <int... R>
[[gnu::always_inline]] inline void clear(Totals& totals, Constants<R...>) {
    ((totals.c[R] = _mm512_setzero_ps()), ...);
}
template <int... R>
[[gnu::always_inline]] inline void storeAll(const SuperProduct& p, std::size_t t, std::size_t j, const Totals& totals,
                                            Constants<R...>) {
    __m512i turned[] = {_mm512_castps_si512(totals.c[R])...};
    transpose(turned);
    for (std::size_t i = 0; i < 16 && t + i < p.m; ++i) {
        const auto row = static_cast<std::ptrdiff_t>(t + i), column = static_cast<std::ptrdiff_t>(j);
        store(p.out + row * p.outStride + column, p.add ? p.add + row * p.addStride + column : nullptr, p.rows - j,
              _mm512_castsi512_ps(turned[i]));
    }
}

// One block of 16 rows of activations from t on, tiles x, against that of a panel.
struct Step {
    std::size_t b, t, j;
    const Panel* w;
    const std::byte* x;
    float* totals;  // [row][row of activations], between blocks
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
        _tile_dpbssd(0, 6, 4);
        _tile_loadd(7, s.w->low + at, 64);
        _tile_dpbssd(1, 7, 4);
        if constexpr (planes == 2) {
            _tile_loadd(5, s.x + layout.low + at, 64);
            _tile_dpbssd(2, 6, 5);
            _tile_dpbssd(3, 7, 5);
        }
    }
}

template <class F, int planes>
[[gnu::always_inline]] inline void finish(const SuperProduct& p, const Step& s, const TileLayout& layout,
                                          const Sums& sums) {
    Totals totals;
    if (s.b == 0)
        clear(totals, All());
    else
        load(totals, s.totals, All());
    const Panel& w = *s.w;
    addBlock<F, planes>(totals, All(), sums,
                        {w.scale + 16 * s.b, w.least + 16 * s.b, w.minimum + 128 * s.b,
                         reinterpret_cast<const float*>(s.x + layout.scale) + 16 * s.b, s.x + layout.sum + 512 * s.b});
    if (s.b + 1 == p.layout->k / 256)
        storeAll(p, s.t, s.j, totals, All());
    else
        keep(totals, s.totals, All());
}

// Block after block of the panels stays in the first-level cache while all activations pass by. While the tiles of one
// step are multiplied, the sums of the one before go through the float rule.
template <class F, int planes>
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
                    if (before.w) finish<F, planes>(p, before, layout, sums);
                    _tile_stored(0, sums.of[0], 64);
                    _tile_stored(1, sums.of[1], 64);
                    if constexpr (planes == 2) {
                        _tile_stored(2, sums.of[2], 64);
                        _tile_stored(3, sums.of[3], 64);
                    }
                    before = now;
                }
    if (before.w) finish<F, planes>(p, before, layout, sums);
}

template <class F>
void sweep(const SuperProduct& p) {
    const std::size_t k = p.layout->k;
    Panel w[2];
    auto* const totals = reinterpret_cast<float*>(p.scratch + 2 * panelBytes(k));
    for (std::size_t j = 0; j < p.rows; j += 16) w[j / 16] = pack<F>(p, j, p.scratch + j / 16 * panelBytes(k));
    const TileShapes shapes;
    _tile_loadconfig(&shapes);
    const TileLayout layout(*p.layout);
    p.layout->planes == 2 ? steps<F, 2>(p, w, layout, totals) : steps<F, 1>(p, w, layout, totals);
    _tile_release();
}

}  // namespace

std::size_t superTileBytes(const SuperRow& row) noexcept { return TileLayout(row).bytes; }

void packSuperTiles(const SuperRow& row, const std::byte* rows, std::size_t m, std::byte* tiles) noexcept {
    const TileLayout layout(row);
    for (std::size_t t = 0; t < m; t += 16, rows += 16 * row.bytes, tiles += layout.bytes) {
        const std::size_t count = m - t < 16 ? m - t : 16;
        const auto put = [&](std::size_t from, std::size_t columns, std::size_t to) {
            turn(rows + from, row.bytes, count, columns, reinterpret_cast<__m512i*>(tiles + to));
        };
        put(0, row.k / 4, 0);
        if (row.planes == 2) put(row.low, row.k / 4, layout.low);
        put(row.scale, row.k / 256, layout.scale);
        for (std::size_t b = 0; b < row.k / 256; ++b)
            for (std::size_t plane = 0; plane < row.planes; ++plane)
                put(row.sum32[plane] + 16 * b, 4, layout.sum + 512 * b + 256 * plane);
    }
}

void dotSuperTiles(const SuperProduct& p) noexcept {
    if (p.format == Format::q4_k)
        sweep<UnpackQ4_K>(p);
    else if (p.format == Format::q5_k)
        sweep<UnpackQ5_K>(p);
    else
        sweep<UnpackQ6_K>(p);
}

}  // namespace axial::kernels

#else

namespace axial::kernels {
std::size_t superTileBytes(const SuperRow&) noexcept { return 0; }
void packSuperTiles(const SuperRow&, const std::byte*, std::size_t, std::byte*) noexcept {}
void dotSuperTiles(const SuperProduct&) noexcept {}
}  // namespace axial::kernels

#endif
