#include "axial/ops/superblock_kernels.h"

#include "axial/ops/linear_kernels.h"

namespace axial::kernels {

SuperRow::SuperRow(std::size_t length, std::size_t count) : k(length), planes(count) {
    const auto whole = [](std::size_t n) { return (n + 63) / 64 * 64; };
    low = whole(k);
    std::size_t at = planes * whole(k);
    const auto take = [&](std::size_t size) {
        const std::size_t before = at;
        at += whole(size);
        return before;
    };
    scale = take(k / 256 * 4);
    for (std::size_t plane = 0; plane < 2; ++plane) {
        sum16[plane] = plane < planes ? take(k / 16 * 2) : sum16[0];
        sum32[plane] = plane < planes ? take(k / 32 * 2 + 48) : sum32[0];  // a vector can be read at any block's sums
    }
    bytes = at;
}

bool superblocksWanted(Format format) noexcept {
    return (format == Format::q4_k || format == Format::q5_k || format == Format::q6_k) &&
           integerUnit() == IntegerUnit::amx;
}

std::size_t superScratchBytes(std::size_t k, std::size_t m) noexcept {
    const std::size_t blocks = k / 256;
    // dotSuperRows: of each of 16 rows two vectors for each of up to 4 rows of activations, 16 bytes and two halves;
    // those activations. dotSuperTiles: two panels, and 32 sums for each row of activations.
    const std::size_t together = m < 4 ? m : 4;
    const std::size_t rows = blocks * 16 * (2 * 64 * together + 16 + 4) + 2 * k * together;
    const std::size_t tiles = 2 * (32 * k + blocks * 384) + (m + 15) / 16 * 2048;
    return (rows > tiles ? rows : tiles) + 64;
}

}  // namespace axial::kernels
