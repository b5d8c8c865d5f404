#include "axial/llm/expert_layout.h"

#include <algorithm>
#include <string>

#include "axial/llm/piece_file.h"
#include "axial/tensor/error.h"

namespace axial::llm {
namespace {

// Pools without slots.
ExpertLayout poolsOf(std::span<const ExpertPieces> layers) {
    ExpertLayout layout;
    std::vector<std::size_t> sizes;
    for (const ExpertPieces& layer : layers) {
        std::size_t bytes = 0;
        for (std::size_t i = 0; i < layer.each && i < layer.pieces.size(); ++i)
            bytes += placeBytes(layer.pieces[i].bytes);
        sizes.push_back(bytes);
        if (std::ranges::find(layout.pools, bytes, &ExpertLayout::Pool::slotBytes) == layout.pools.end())
            layout.pools.push_back({bytes, 0, 0});
    }
    std::ranges::sort(layout.pools, {}, &ExpertLayout::Pool::slotBytes);
    for (std::size_t i = 0; i < layers.size(); ++i) {
        const auto pool = std::ranges::find(layout.pools, sizes[i], &ExpertLayout::Pool::slotBytes);
        pool->experts += layers[i].experts();
        layout.poolOfLayer.push_back(static_cast<std::size_t>(pool - layout.pools.begin()));
    }
    return layout;
}

// At least `used` places each, and beyond that the share of its experts.
void giveShare(ExpertLayout& layout, std::size_t used, double share) {
    for (ExpertLayout::Pool& pool : layout.pools) {
        const auto wanted = static_cast<std::size_t>(static_cast<double>(pool.experts) * share);
        pool.slots = std::min(pool.experts, std::max(used, wanted));
    }
}

}  // namespace

std::size_t placeBytes(std::size_t pieceBytes) {
    // One block more, since a piece begins anywhere in its first.
    return (pieceBytes + PieceFile::block - 1) / PieceFile::block * PieceFile::block + PieceFile::block;
}

std::uint64_t ExpertLayout::bytes() const {
    std::uint64_t sum = 0;
    for (const Pool& pool : pools) sum += std::uint64_t{pool.slots} * pool.slotBytes;
    return sum;
}

std::uint64_t wholeExpertBytes(std::span<const ExpertPieces> layers) {
    ExpertLayout layout = poolsOf(layers);
    giveShare(layout, 0, 1);
    return layout.bytes();
}

std::uint64_t leastExpertBytes(std::span<const ExpertPieces> layers, std::size_t used) {
    ExpertLayout layout = poolsOf(layers);
    giveShare(layout, used, 0);
    return layout.bytes();
}

ExpertLayout layOutExperts(std::span<const ExpertPieces> layers, std::size_t used, std::uint64_t budget) {
    ExpertLayout layout = poolsOf(layers);
    giveShare(layout, used, 0);
    if (layout.bytes() > budget)
        throw ValueError("expert memory: " + std::to_string(budget) +
                         " bytes are too few; the smallest that works is " + std::to_string(layout.bytes()) +
                         ", for the " + std::to_string(used) + " experts that a layer uses for one token");
    double below = 0, above = 1;  // the largest share that fits, by halving
    giveShare(layout, used, above);
    if (layout.bytes() <= budget) return layout;
    for (int step = 0; step < 60; ++step) {
        const double middle = (below + above) / 2;
        giveShare(layout, used, middle);
        (layout.bytes() <= budget ? below : above) = middle;
    }
    giveShare(layout, used, below);
    return layout;
}

}  // namespace axial::llm
