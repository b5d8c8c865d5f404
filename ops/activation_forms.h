// The rows of activations of one call of multiply, in every form in which its weights are met.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "axial/ops/linear.h"
#include "axial/ops/quantise_kernels.h"
#include "axial/ops/superblock_kernels.h"
#include "axial/tensor/buffer.h"

namespace axial::erased {

// Whether weights of a format that meetsCodes() are multiplied as superblocks on this thread, and whether others are
// multiplied as split floats.
bool superblocks(Format) noexcept;
bool split(Format) noexcept;

// The quantised activations, and the same in tiles if the kernels want that; empty if no product wants them.
struct Quantised {
    kernels::QuantisedRow layout{0, 1};
    Buffer rows, tiles;
    const std::byte* row(std::size_t t) const { return static_cast<const std::byte*>(rows.data()) + t * layout.bytes; }
};

// The same for superblocks: for few rows as rows, for many as tiles.
struct SuperQuantised {
    kernels::SuperRow layout{0, 1};
    Buffer rows, tiles;
    const std::byte* at(std::size_t t, bool inTiles) const {
        const auto* data = static_cast<const std::byte*>(inTiles ? tiles.data() : rows.data());
        return inTiles ? data + t / 16 * kernels::superTileBytes(layout) : data + t * layout.bytes;
    }
};

// Split activations: a piece for each stretch of rows that some product wants.
struct SplitActivations {
    struct Piece {
        std::size_t firstRow, m;
        int parts;
        Buffer rows;
        std::vector<std::uint8_t> marked;
    };
    std::vector<Piece> pieces;
    const Piece& of(Format weights, std::size_t firstRow, std::size_t m) const;
};

struct Forms {
    // What the products, whose weights are known by then to be interleaved or not, want of x.
    Forms(const ActivationRows& x, const RowsProduct* products, std::size_t count);
    Quantised integer;
    SuperQuantised super;
    SplitActivations split;
    ActivationRows floats;  // x, one row behind the other if some weights meet floats
    Buffer memory;          // of those
};

}  // namespace axial::erased
