#include "axial/ops/interleaved_kernels.h"

#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__) && \
    defined(__AVX512VNNI__) && defined(__AMX_TILE__) && defined(__AMX_INT8__)

#include "axial/ops/interleaved_superblocks-inl.h"

namespace axial::kernels {
namespace {

// Activations stand in tiles as they lie, a row each. Interleaved codes are already in the order in which weights stand
// in tiles: four of each of 16 rows side by side. So the sums have stored rows as lanes, and nothing is turned over.
// The scales go into the weights, scale * code = 128 * high + low, so that a whole block gives one sum. Tiles 0 to 3:
// the sums of high and low with the activations' high bytes, then with their low ones; 4 and 5: activations; 6 and 7:
// weights.
struct alignas(64) FewShapes {
    std::uint8_t palette = 1, start = 0, reserved[14] = {};
    std::uint16_t bytes[16] = {};
    std::uint8_t rows[16] = {};
    explicit FewShapes(std::size_t m) {
        for (int i = 0; i < 8; ++i) bytes[i] = 64, rows[i] = i < 6 ? static_cast<std::uint8_t>(m) : std::uint8_t{16};
    }
};

// The weights of one block, [four codes][row][4], and its sums, [row of activations][row].
struct alignas(64) Scratch {
    std::byte high[256 * 16], low[256 * 16];
    std::int32_t sums[4][16][16];
};

template <class F>
inline void unpack(const std::byte* w, const typename F::Numbers& numbers, Scratch& s) {
    const __m512i evenBytes = _mm512_set1_epi16(0xff), seven = _mm512_set1_epi8(127);
    AXIAL_UNROLL
    for (int part = 0; part < F::parts; ++part) {
        __m512i even[2], odd[2];  // the scale in every other byte of each row's dword
        AXIAL_UNROLL
        for (int n = 0; n < 2; ++n) {
            const __m512i scale = _mm512_and_si512(F::scale(numbers, part, n), _mm512_set1_epi32(255));
            even[n] = _mm512_or_si512(scale, _mm512_slli_epi32(scale, 16));
            odd[n] = _mm512_slli_epi32(even[n], 8);
        }
        AXIAL_UNROLL
        for (int quad = 0; quad < F::quads; ++quad) {
            __m512i codes[2];
            F::codes(w, part, quad, codes);
            AXIAL_UNROLL
            for (int n = 0; n < 2; ++n) {
                const __m512i first = _mm512_maddubs_epi16(codes[n], even[n]),
                              second = _mm512_maddubs_epi16(codes[n], odd[n]);
                // (even & first) | (~even & second): 0xca
                const __m512i high = _mm512_ternarylogic_epi32(evenBytes, _mm512_srai_epi16(first, 7),
                                                               _mm512_add_epi16(second, second), 0xca);
                const __m512i low = _mm512_and_si512(
                    seven, _mm512_ternarylogic_epi32(evenBytes, first, _mm512_slli_epi16(second, 8), 0xca));
                const int at = 16 * (F::at(part, n) + 4 * quad);
                _mm512_store_si512(s.high + at, high);
                _mm512_store_si512(s.low + at, low);
            }
        }
    }
}

// The sums of a block with the activations at x, `stride` bytes apart, whose low bytes stand `low` further.
template <int planes>
inline void multiply(const std::byte* x, std::size_t stride, std::size_t low, Scratch& s) {
    _tile_zero(0);
    _tile_zero(1);
    if constexpr (planes == 2) {
        _tile_zero(2);
        _tile_zero(3);
    }
    for (int i = 0; i < 256; i += 64) {
        _tile_loadd(4, x + i, stride);
        _tile_loadd(6, s.high + 16 * i, 64);
        _tile_dpbssd(0, 4, 6);
        _tile_loadd(7, s.low + 16 * i, 64);
        _tile_dpbssd(1, 4, 7);
        if constexpr (planes == 2) {
            _tile_loadd(5, x + low + i, stride);
            _tile_dpbssd(2, 5, 6);
            _tile_dpbssd(3, 5, 7);
        }
    }
    _tile_stored(0, s.sums[0], 64);
    _tile_stored(1, s.sums[1], 64);
    if constexpr (planes == 2) {
        _tile_stored(2, s.sums[2], 64);
        _tile_stored(3, s.sums[3], 64);
    }
}

// While the tiles of one block are multiplied, the weights of the next are unpacked and the sums of the one before go
// through the float rule: each waits long for the one before it.
template <class F, int planes>
void tiles(const SuperProduct& p) {
    constexpr std::size_t blockBytes = 64 * cutOf(F::format).dwords;
    const SuperRow& layout = *p.layout;
    const std::size_t blocks = layout.k / 256, steps = p.rows / 16 * blocks;
    auto* sums = reinterpret_cast<std::int16_t*>(p.scratch);
    pairSums<F, planes>(p, sums);
    const FewShapes shapes(p.m);
    _tile_loadconfig(&shapes);
    Scratch scratch[2];
    __m512 c[16];
    const auto groupOf = [&](std::size_t step) {
        return p.w + static_cast<std::ptrdiff_t>(step / blocks * 16) * p.rowBytes;
    };
    const auto blockOf = [&](std::size_t step) { return groupOf(step) + step % blocks * blockBytes; };
    const auto finish = [&](std::size_t step, const Scratch& s) {
        const std::size_t b = step % blocks;
        const std::byte *w = blockOf(step), *halves = groupOf(step) + blocks * blockBytes + 32 * b;
        const typename F::Numbers numbers = F::numbers(w);
        for (std::size_t t = 0; t < p.m; ++t) {
            const auto joined = [&](int i) {
                return _mm512_add_epi32(_mm512_slli_epi32(_mm512_load_si512(s.sums[i][t]), 7),
                                        _mm512_load_si512(s.sums[i + 1][t]));
            };
            const __m512i high = joined(0), low = planes == 2 ? joined(2) : zero();
            const auto* xScale = reinterpret_cast<const float*>(p.x + t * layout.bytes + layout.scale);
            const __m512 before = b == 0 ? _mm512_setzero_ps() : c[t];
            c[t] = addBlock<F, planes>(before, high, low, numbers, w, halves,
                                       sums + (t * blocks + b) * 2 * F::pairs * planes, xScale[b]);
            if (b + 1 == blocks) storeSixteen(p, t, step / blocks * 16, c[t]);
        }
    };
    const auto prepare = [&](std::size_t step, Scratch& s) {
        const std::byte* w = blockOf(step);
        fetchAhead<blockBytes>(w);
        unpack<F>(w, F::numbers(w), s);
    };
    prepare(0, scratch[0]);
    for (std::size_t step = 0; step < steps; ++step) {
        Scratch &now = scratch[step % 2], &other = scratch[(step + 1) % 2];
        multiply<planes>(p.x + step % blocks * 256, layout.bytes, layout.low, now);
        if (step != 0) finish(step - 1, other);
        if (step + 1 < steps) prepare(step + 1, other);
    }
    finish(steps - 1, scratch[(steps - 1) % 2]);
    _tile_release();
}

template <class F>
void tilesOf(const SuperProduct& p) {
    p.layout->planes == 2 ? tiles<F, 2>(p) : tiles<F, 1>(p);
}

}  // namespace

void dotSuperInterleavedTiles(const SuperProduct& p) noexcept {
    if (p.format == Format::q4_k)
        tilesOf<SideQ45_K<false>>(p);
    else if (p.format == Format::q5_k)
        tilesOf<SideQ45_K<true>>(p);
    else
        tilesOf<SideQ6_K>(p);
}

}  // namespace axial::kernels

#else

namespace axial::kernels {
void dotSuperInterleavedTiles(const SuperProduct&) noexcept {}
}  // namespace axial::kernels

#endif
