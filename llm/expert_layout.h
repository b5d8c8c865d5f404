// How a budget of memory is cut into places for experts.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace axial::llm {

// Where one piece of an expert, a matrix, lies in a file.
struct ExpertPiece {
    std::size_t file = 0;
    std::uint64_t offset = 0;
    std::size_t bytes = 0;
};
// A layer's experts: each has the same number of pieces, of the same sizes. Expert e's are pieces[e * each] and on.
struct ExpertPieces {
    std::size_t each = 0;
    std::vector<ExpertPiece> pieces;
    std::size_t experts() const { return each == 0 ? 0 : pieces.size() / each; }
};

// Bytes of memory that a piece of so many takes, wherever it begins in the file: it is read in whole blocks.
std::size_t placeBytes(std::size_t pieceBytes);

// Experts of one size have places of that size in common, whatever their layer.
struct ExpertLayout {
    struct Pool {
        std::size_t slotBytes = 0;  // of one place
        std::size_t experts = 0;    // that share the pool
        std::size_t slots = 0;      // places for them
    };
    std::vector<Pool> pools;               // by slotBytes
    std::vector<std::size_t> poolOfLayer;  // for each layer

    // Of all places.
    std::uint64_t bytes() const;
};

// The memory that holds all experts at once, which is what 100 % means.
std::uint64_t wholeExpertBytes(std::span<const ExpertPieces> layers);
// The smallest budget that works: in every pool, places for the `used` experts that a layer uses for one token.
std::uint64_t leastExpertBytes(std::span<const ExpertPieces> layers, std::size_t used);
// Places of `budget` bytes at most; each pool gets about the same share of its experts. ValueError,
// with the smallest that works, for a budget below leastExpertBytes.
ExpertLayout layOutExperts(std::span<const ExpertPieces> layers, std::size_t used, std::uint64_t budget);

}  // namespace axial::llm
