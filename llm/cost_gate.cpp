#include "axial/llm/cost_gate.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace axial::llm {
namespace {

struct Knot {
    double rows, cost;
};

// Qwen3-0.6B in Q4_K: reading the weights takes most of a step's time until there are some 16 rows.
constexpr Knot expectedCosts[] = {{1, 1}, {2, 1.12}, {4, 1.4}, {8, 1.6}, {16, 2.2}, {32, 3.6}, {64, 6.4}};

double expectedCost(std::size_t rows) {
    std::size_t i = 1;
    while (i + 1 < std::size(expectedCosts) && expectedCosts[i].rows < static_cast<double>(rows)) ++i;
    const Knot &low = expectedCosts[i - 1], &high = expectedCosts[i];
    return low.cost + (static_cast<double>(rows) - low.rows) * (high.cost - low.cost) / (high.rows - low.rows);
}

// Times have outliers (another program had the processor), so one observation moves an estimate only so far.
double within(double observed, double expected, double factor) {
    return std::clamp(observed, expected / factor, expected * factor);
}

bool isTime(double seconds) { return seconds > 0 && std::isfinite(seconds); }

constexpr double incomePerToken = 0.01;
constexpr double purseSize = 32;
constexpr std::size_t mostDraftsInARow = 32;
constexpr std::size_t leastPatience = 32, mostPatience = 1024;
constexpr double leastGain = 1.02;

}  // namespace

double StepCosts::of(std::size_t rows) const {
    if (rows <= 1) return 1;
    std::size_t low = std::min(rows, most), high = low;
    while (low > 1 && corrections_[low].observed == 0) --low;
    while (high < most && corrections_[high].observed == 0) ++high;
    double factor = corrections_[low].factor;  // that of one row is 1 and never observed
    if (high > low && corrections_[high].observed > 0) {
        const double share = static_cast<double>(rows - low) / static_cast<double>(high - low);
        factor += share * (corrections_[high].factor - factor);
    }
    return std::max(1.0, factor * expectedCost(rows));
}

void StepCosts::observe(std::size_t rows, double cost) {
    if (rows <= 1 || rows > most) return;
    Correction& correction = corrections_[rows];
    if (correction.observed == 0) correction.factor = of(rows) / expectedCost(rows);
    const double seen = within(cost / expectedCost(rows), correction.factor, correction.observed < 2 ? 4 : 2);
    const double weight = std::max(0.2, 1 / (static_cast<double>(correction.observed) + 2));
    correction.factor += weight * (seen - correction.factor);
    ++correction.observed;
}

// Plain steps that a draft of which nothing is accepted costs, all conversations of the step together.
double CostGate::loss(std::size_t drafted, std::size_t others) const {
    const auto conversations = static_cast<double>(others + 1);
    return conversations * (costs_.of(others + 1 + drafted) / costs_.of(others + 1) - 1);
}

std::size_t CostGate::choose(const Acceptance& acceptance, std::size_t longest, std::size_t others) {
    trying_ = false;
    if (plainSteps_ < 2 || draftsInARow_ >= mostDraftsInARow) return 0;
    const auto conversations = static_cast<double>(others + 1);
    double most = 0;
    std::size_t best = 0;
    for (std::size_t drafted = 1; drafted <= longest; ++drafted) {
        const double lost = loss(drafted, others);
        if (lost > purse_) break;
        const double gain = (conversations + acceptance.expected(drafted)) / (conversations + lost);
        if (gain > most) {
            most = gain;
            best = drafted;
        }
    }
    if (most >= leastGain) return best;
    trying_ = best > 0 && plainInARow_ >= patience_;
    return trying_ ? best : 0;
}

void CostGate::learn(std::size_t rows, double seconds) {
    if (!isTime(seconds)) return;
    if (plainSeconds_ == 0) {
        plainSeconds_ = seconds / costs_.of(rows);
    } else if (rows == 1) {
        const double weight = std::max(0.2, 1 / (static_cast<double>(plainSteps_) + 1));
        plainSeconds_ += weight * (within(seconds, plainSeconds_, 2) - plainSeconds_);
    } else {
        costs_.observe(rows, seconds / plainSeconds_);
    }
}

double CostGate::observe(std::size_t drafted, std::size_t accepted, double seconds, std::size_t others) {
    const std::size_t rows = others + 1 + drafted;
    learn(rows, seconds);
    double gain = 0;
    if (drafted == 0) {
        ++plainSteps_;
        ++plainInARow_;
        draftsInARow_ = 0;
    } else {
        // A time far below what is expected says that all steps have become faster rather than that drafts gain.
        const double expected = costs_.of(rows);
        const double cost =
            isTime(seconds) ? std::clamp(seconds / plainSeconds_, 0.8 * expected, 2 * expected) : expected;
        gain = static_cast<double>(accepted) - static_cast<double>(others + 1) * (cost / costs_.of(others + 1) - 1);
        patience_ = trying_ ? std::min(2 * patience_, mostPatience) : leastPatience;
        plainInARow_ = 0;
        ++draftsInARow_;
    }
    purse_ = std::min(purse_ + gain + incomePerToken * static_cast<double>(1 + accepted), purseSize);
    return gain;
}

}  // namespace axial::llm
