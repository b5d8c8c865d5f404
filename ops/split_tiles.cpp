#include "axial/ops/split_floats.h"

#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__) && \
    defined(__AVX512VNNI__) && defined(__AMX_TILE__) && defined(__AMX_BF16__)

#include "axial/ops/split_floats-inl.h"

namespace axial::kernels {
namespace {

// The shapes of the tile registers: 0 to 3 sums, 4 and 5 weights, 6 and 7 activations, of which there are m rows.
struct alignas(64) Shapes {
    std::uint8_t palette = 1, start = 0, reserved[14] = {};
    std::uint16_t bytes[16] = {};
    std::uint8_t rows[16] = {};
    explicit Shapes(std::size_t m) {
        for (int i = 0; i < 8; ++i)
            bytes[i] = 64, rows[i] = i == 4 || i == 5 ? std::uint8_t{16} : static_cast<std::uint8_t>(m);
    }
};
// Loads the shapes; they must be in memory by then, of which the compiler's intrinsic says nothing.
inline void configure(const Shapes& shapes) {
    __asm__ volatile("" ::"r"(&shapes) : "memory");
    _tile_loadconfig(&shapes);
}

struct alignas(64) Sums {
    float of[4][16][16];
};
inline void loadSums(const Sums& sums) {
    _tile_loadd(0, sums.of[0], 64);
    _tile_loadd(1, sums.of[1], 64);
    _tile_loadd(2, sums.of[2], 64);
    _tile_loadd(3, sums.of[3], 64);
}
inline void storeSums(Sums& sums) {
    _tile_stored(0, sums.of[0], 64);
    _tile_stored(1, sums.of[1], 64);
    _tile_stored(2, sums.of[2], 64);
    _tile_stored(3, sums.of[3], 64);
}
inline void zeroSums() {
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
}

// One step of a tile of activations, on top of its sums.
template <class W, int tile>
inline void addTile(const std::byte* x) {
    _tile_loadd(6, x, 64);
    _tile_loadd(7, x + partBytes, 64);
    if constexpr (tile == 0) {
        _tile_dpbf16ps(0, 6, 4);
        _tile_dpbf16ps(0, 7, 4);
        if constexpr (W::hasLow) {
            _tile_dpbf16ps(0, 7, 5);
        } else {
            _tile_loadd(6, x + 2 * partBytes, 64);
            _tile_dpbf16ps(0, 6, 4);
        }
    } else if constexpr (tile == 1) {
        _tile_dpbf16ps(1, 6, 4);
        _tile_dpbf16ps(1, 7, 4);
        if constexpr (W::hasLow) {
            _tile_dpbf16ps(1, 7, 5);
        } else {
            _tile_loadd(6, x + 2 * partBytes, 64);
            _tile_dpbf16ps(1, 6, 4);
        }
    } else if constexpr (tile == 2) {
        _tile_dpbf16ps(2, 6, 4);
        _tile_dpbf16ps(2, 7, 4);
        if constexpr (W::hasLow) {
            _tile_dpbf16ps(2, 7, 5);
        } else {
            _tile_loadd(6, x + 2 * partBytes, 64);
            _tile_dpbf16ps(2, 6, 4);
        }
    } else {
        _tile_dpbf16ps(3, 6, 4);
        _tile_dpbf16ps(3, 7, 4);
        if constexpr (W::hasLow) {
            _tile_dpbf16ps(3, 7, 5);
        } else {
            _tile_loadd(6, x + 2 * partBytes, 64);
            _tile_dpbf16ps(3, 6, 4);
        }
    }
}

// Up to 64 rows of activations: while the tiles of one step are multiplied, the weights of the next are unpacked.
template <class W, int tiles>
void few(const SplitProduct& p) {
    alignas(64) std::byte unpacked[4][W::bytes], memory[step * 32];
    Sums sums;
    const std::size_t steps = stepsOf(p.k), total = (p.rows + 15) / 16 * steps, xTile = steps * W::xBytes;
    const Shapes shapes(tiles == 1 ? p.m : 16);
    configure(shapes);
    std::size_t nextRow = 0, nextStep = 0, next = 0;
    const auto unpackNext = [&] {
        if (next == total) return;
        const std::byte* w = numbersOf(p, nextRow, nextStep, memory);
        if (p.interleaved) fetchStepAhead<(tiles > 1)>(w);
        W::pack(w, unpacked[next++ % 4]);
        if (++nextStep == steps) nextStep = 0, nextRow += 16;
    };
    unpackNext();
    for (std::size_t i = 0, s = 0, j = 0; i < total; ++i) {
        if (s == 0) zeroSums();
        const std::byte *w = unpacked[i % 4], *x = p.x + s * W::xBytes;
        _tile_loadd(4, w, 64);
        if constexpr (W::hasLow) _tile_loadd(5, w + partBytes, 64);
        addTile<W, 0>(x);
        if constexpr (tiles > 1) addTile<W, 1>(x + xTile);
        if constexpr (tiles > 2) addTile<W, 2>(x + 2 * xTile);
        if constexpr (tiles > 3) addTile<W, 3>(x + 3 * xTile);
        unpackNext();
        if (++s != steps) continue;
        storeSums(sums);
        for (std::size_t t = 0; t < p.m; ++t) finish(p, t, j, _mm512_load_ps(sums.of[t / 16][t % 16]));
        s = 0, j += 16;
    }
    _tile_release();
}

// 32 rows of weights by 32 of activations (by 16 if `both` is false) for some steps, on top of the sums in the tiles.
template <class W, bool both>
inline void multiply(const std::byte* w, std::size_t wGroup, const std::byte* x, std::size_t xTile, std::size_t steps,
                     const float* out, std::ptrdiff_t outStride) {
    const std::byte *w1 = w + wGroup, *x1 = x + xTile;
    for (std::size_t s = 0; s < steps; ++s, w += W::bytes, w1 += W::bytes, x += W::xBytes, x1 += W::xBytes) {
        if (out) {  // where the results go is often not in a cache
            _mm_prefetch(out, _MM_HINT_T0);
            _mm_prefetch(out + 16, _MM_HINT_T0);
            out += outStride;
        }
        _tile_loadd(4, w, 64);
        _tile_loadd(5, w1, 64);
        AXIAL_UNROLL
        for (int part = 0; part < W::xParts; ++part) {
            _tile_loadd(6, x + part * partBytes, 64);
            _tile_dpbf16ps(0, 6, 4);
            if constexpr (both) {
                _tile_loadd(7, x1 + part * partBytes, 64);
                _tile_dpbf16ps(1, 7, 4);
            }
            _tile_dpbf16ps(2, 6, 5);
            if constexpr (both) _tile_dpbf16ps(3, 7, 5);
        }
        if constexpr (W::hasLow) {
            _tile_loadd(4, w + partBytes, 64);
            _tile_dpbf16ps(0, 6, 4);
            if constexpr (both) _tile_dpbf16ps(1, 7, 4);
            _tile_loadd(5, w1 + partBytes, 64);
            _tile_dpbf16ps(2, 6, 5);
            if constexpr (both) _tile_dpbf16ps(3, 7, 5);
        }
    }
}

constexpr std::size_t unpackedBytes(std::size_t rows, std::size_t k) {
    const std::size_t steps = stepsOf(k);
    return (rows + 31) / 32 * 2 * (steps < mostSteps ? steps : mostSteps) * F16::bytes;
}

// More rows of activations: a part of all weights is unpacked, then met by all activations, 32 by 32.
template <class W>
void many(const SplitProduct& p) {
    const std::size_t steps = stepsOf(p.k), xTile = steps * W::xBytes, tiles = tilesOf(p.m);
    auto* kept = reinterpret_cast<Sums*>(p.scratch + unpackedBytes(p.rows, p.k));
    alignas(64) std::byte memory[step * 32];
    const Shapes shapes(16);
    configure(shapes);
    for (std::size_t first = 0; first < steps; first += mostSteps) {
        const std::size_t count = steps - first < mostSteps ? steps - first : mostSteps, group = count * W::bytes;
        for (std::size_t j = 0; j < p.rows; j += 16)
            for (std::size_t s = 0; s < count; ++s) {
                const std::byte* w = numbersOf(p, j, first + s, memory);
                if (p.interleaved) fetchStepAhead<true>(w);
                W::pack(w, p.scratch + j / 16 * group + s * W::bytes);
            }
        const bool last = first + count == steps;
        Sums* sums = kept;
        for (std::size_t t = 0; t < p.m; t += 32)
            for (std::size_t j = 0; j < p.rows; j += 32, ++sums) {
                first == 0 ? zeroSums() : loadSums(*sums);
                const std::byte *w = p.scratch + j / 16 * group, *x = p.x + t / 16 * xTile + first * W::xBytes;
                const bool whole = last && p.m - t >= 32 && p.rows - j >= 32;
                const float* out = whole ? p.out + static_cast<std::ptrdiff_t>(t) * p.outStride + j : nullptr;
                t / 16 + 1 < tiles ? multiply<W, true>(w, group, x, xTile, count, out, p.outStride)
                                   : multiply<W, false>(w, group, x, xTile, count, out, p.outStride);
                if (!last) {
                    storeSums(*sums);
                    continue;
                }
                Sums all;
                storeSums(all);
                for (std::size_t i = 0; i < 32; ++i)
                    for (std::size_t half = 0; half < 2; ++half)
                        finish(p, t + i, j + 16 * half, _mm512_load_ps(all.of[2 * half + i / 16][i % 16]));
            }
    }
    _tile_release();
}

template <class W>
void dot(const SplitProduct& p) {
    if (p.m > mostSplitAtReading) return many<W>(p);
    switch (tilesOf(p.m)) {
        case 1:
            return few<W, 1>(p);
        case 2:
            return few<W, 2>(p);
        case 3:
            return few<W, 3>(p);
        default:
            return few<W, 4>(p);
    }
}

}  // namespace

std::size_t splitScratchBytes(std::size_t rows, std::size_t k, std::size_t m) noexcept {
    if (m <= mostSplitAtReading) return 0;
    const std::size_t kept = stepsOf(k) > mostSteps ? (rows + 31) / 32 * ((m + 31) / 32) * sizeof(Sums) : 0;
    return unpackedBytes(rows, k) + kept;
}

void dotSplitTiles(const SplitProduct& p) noexcept { p.format == Format::f16 ? dot<F16>(p) : dot<BF16>(p); }

}  // namespace axial::kernels

#else

namespace axial::kernels {
std::size_t splitScratchBytes(std::size_t, std::size_t, std::size_t) noexcept { return 0; }
void dotSplitTiles(const SplitProduct&) noexcept {}
}  // namespace axial::kernels

#endif
