#include "axial/bench/limits_units.h"

#if defined(__AVX512F__) && defined(__AVX512VNNI__) && defined(__AMX_TILE__) && defined(__AMX_INT8__)

#include <immintrin.h>

namespace axial::bench {

bool unitsBuilt() noexcept { return true; }

std::size_t vnniProducts(const std::byte* a, const std::byte* b, std::size_t passes, std::int32_t* sums) noexcept {
    __m512i c00{}, c01{}, c02{}, c10{}, c11{}, c12{}, c20{}, c21{}, c22{}, c30{}, c31{}, c32{};
    for (std::size_t pass = 0; pass < passes; ++pass)
        for (std::size_t i = 0; i < bytesOfA / 256; ++i) {
            const std::byte *x = a + 256 * i, *y = b + 192 * i;
            const __m512i b0 = _mm512_load_si512(y), b1 = _mm512_load_si512(y + 64), b2 = _mm512_load_si512(y + 128);
            const __m512i a0 = _mm512_load_si512(x), a1 = _mm512_load_si512(x + 64);
            const __m512i a2 = _mm512_load_si512(x + 128), a3 = _mm512_load_si512(x + 192);
            c00 = _mm512_dpbusd_epi32(c00, a0, b0), c01 = _mm512_dpbusd_epi32(c01, a0, b1);
            c02 = _mm512_dpbusd_epi32(c02, a0, b2), c10 = _mm512_dpbusd_epi32(c10, a1, b0);
            c11 = _mm512_dpbusd_epi32(c11, a1, b1), c12 = _mm512_dpbusd_epi32(c12, a1, b2);
            c20 = _mm512_dpbusd_epi32(c20, a2, b0), c21 = _mm512_dpbusd_epi32(c21, a2, b1);
            c22 = _mm512_dpbusd_epi32(c22, a2, b2), c30 = _mm512_dpbusd_epi32(c30, a3, b0);
            c31 = _mm512_dpbusd_epi32(c31, a3, b1), c32 = _mm512_dpbusd_epi32(c32, a3, b2);
        }
    const __m512i all[] = {c00, c01, c02, c10, c11, c12, c20, c21, c22, c30, c31, c32};
    __m512i sum{};
    for (const __m512i c : all) sum = _mm512_add_epi32(sum, c);
    _mm512_storeu_si512(sums, sum);
    return bytesOfA / 256 * 12 * 64;
}

std::size_t amxProducts(const std::byte* a, const std::byte* b, std::size_t passes, std::int32_t* sums) noexcept {
    struct alignas(64) TileShapes {
        std::uint8_t palette = 1, start = 0, reserved[14] = {};
        std::uint16_t bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
        std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
    } const shapes;
    _tile_loadconfig(&shapes);
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    constexpr std::size_t steps = bytesOfB / 2048;
    for (std::size_t pass = 0; pass < passes; ++pass)
        for (std::size_t i = 0; i < steps; ++i) {
            const std::byte *x = a + 2048 * i, *y = b + 2048 * i;
            _tile_loadd(4, x, 64);
            _tile_loadd(5, x + 1024, 64);
            _tile_loadd(6, y, 64);
            _tile_loadd(7, y + 1024, 64);
            _tile_dpbssd(0, 4, 6);
            _tile_dpbssd(1, 4, 7);
            _tile_dpbssd(2, 5, 6);
            _tile_dpbssd(3, 5, 7);
        }
    alignas(64) std::int32_t result[256];
    _tile_stored(0, result, 64);
    _tile_release();
    for (int i = 0; i < 16; ++i) sums[i] = result[i];
    return steps * 4 * 16 * 16 * 64;
}

}  // namespace axial::bench

#else

namespace axial::bench {
bool unitsBuilt() noexcept { return false; }
std::size_t vnniProducts(const std::byte*, const std::byte*, std::size_t, std::int32_t*) noexcept { return 0; }
std::size_t amxProducts(const std::byte*, const std::byte*, std::size_t, std::int32_t*) noexcept { return 0; }
}  // namespace axial::bench

#endif
