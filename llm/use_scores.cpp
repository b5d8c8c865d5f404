#include "axial/llm/use_scores.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "axial/tensor/error.h"

namespace axial::llm {

UseScores::UseScores(const std::vector<std::size_t>& groups, double halfLife)
    : perRound_(1 / halfLife), groups_(groups.size()) {
    if (!(halfLife > 0)) throw ValueError("UseScores: a half-life of " + std::to_string(halfLife) + " rounds");
    for (std::size_t group = 0; group < groups.size(); ++group)
        items_.insert(items_.end(), groups[group],
                      Item{static_cast<std::uint32_t>(group), 0, -std::numeric_limits<double>::infinity()});
}

void UseScores::beginRound(std::size_t group) {
    ++groups_[group].round;
    groups_[group].visited = ++visits_;
}

void UseScores::use(std::size_t item) { use(item, 1); }

void UseScores::use(std::size_t item, double count) {
    if (count == 0) return;
    const double before = logScore(item), more = std::log2(count);
    // log2(2^before + 2^more), from the larger one, so that nothing overflows
    const double larger = std::max(before, more), smaller = std::min(before, more);
    items_[item].logScore = larger + std::log2(1 + std::exp2(smaller - larger));
    items_[item].round = groups_[items_[item].group].round;
}

double UseScores::logScore(std::size_t item) const {
    const Item& i = items_[item];
    return i.logScore - static_cast<double>(groups_[i.group].round - i.round) * perRound_;
}

bool UseScores::lessWorth(std::size_t a, std::size_t b) const {
    const double worthA = logScore(a), worthB = logScore(b);
    if (worthA != worthB) return worthA < worthB;
    const std::uint64_t visitA = groups_[items_[a].group].visited, visitB = groups_[items_[b].group].visited;
    return visitA != visitB ? visitA > visitB : a < b;
}

}  // namespace axial::llm
