#include "axial/llm/sampler_stages.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "axial/tensor/error.h"

namespace axial::llm {
namespace {

constexpr float none = -std::numeric_limits<float>::infinity();

// False for minus infinity and, as every comparison with it is, for NaN.
bool takesPart(float logit) { return logit > none; }

bool better(const Candidate& a, const Candidate& b) {
    return a.logit != b.logit ? a.logit > b.logit : a.token < b.token;
}

float& logitOf(std::span<float> logits, TokenId token, const char* stage) {
    if (token < 0 || static_cast<std::size_t>(token) >= logits.size())
        throw ValueError(std::string("sampler: ") + stage + " names token " + std::to_string(token) +
                         ", but the vocabulary has " + std::to_string(logits.size()) + " tokens");
    return logits[static_cast<std::size_t>(token)];
}

[[noreturn]] void failNothingLeft(std::span<const float> logits) {
    const auto isNan = [](float logit) { return std::isnan(logit); };
    std::string text = "sampler: no token can be chosen: ";
    if (logits.empty()) throw ValueError(text + "there are no logits; give one for each token of the vocabulary");
    const auto broken = std::count_if(logits.begin(), logits.end(), isNan);
    const std::string all = std::to_string(logits.size());
    if (broken == 0)
        throw ValueError(text + "all " + all +
                         " logits are minus infinity. Every token is forbidden: loosen the grammar or other logit "
                         "processor, or the logit bias");
    const auto first = std::find_if(logits.begin(), logits.end(), isNan) - logits.begin();
    throw ValueError(text + std::to_string(broken) + " of " + all + " logits are NaN, that of token " +
                     std::to_string(first) +
                     " first, and the others minus infinity. The model's weights are broken: "
                     "fetch or convert the file again");
}

// Sorts a growing front part of the list until its weights add up to `enough`. How many that takes; all of them where
// rounding keeps the sum below it.
template <class Weighed, class Before>
std::size_t sortUntil(std::vector<Weighed>& list, double enough, Before before) {
    double reached = 0;
    for (std::size_t sorted = 0; sorted < list.size();) {
        const auto from = list.begin() + static_cast<std::ptrdiff_t>(sorted);
        const std::size_t end = std::min(list.size(), std::max<std::size_t>(64, 4 * sorted));
        const auto to = list.begin() + static_cast<std::ptrdiff_t>(end);
        if (to != list.end()) std::nth_element(from, to, list.end(), before);
        std::sort(from, to, before);
        for (; sorted < end; ++sorted) {
            reached += list[sorted].weight;
            if (reached >= enough) return sorted + 1;
        }
    }
    return list.size();
}

double sumOfWeights(std::span<const Candidate> candidates) {
    double total = 0;
    for (const Candidate& c : candidates) total += c.weight;
    return total;
}

}  // namespace

void addBias(std::span<float> logits, std::span<const LogitBias> bias) {
    for (const LogitBias& b : bias) logitOf(logits, b.token, "the logit bias") += b.bias;
}

void penalise(std::span<float> logits, std::span<const TokenId> history, const Penalties& penalties) {
    if (!penalties.active()) return;
    if (penalties.window > 0 && history.size() > static_cast<std::size_t>(penalties.window))
        history = history.last(static_cast<std::size_t>(penalties.window));
    std::unordered_map<TokenId, int> seen;
    for (TokenId token : history) {
        logitOf(logits, token, "the history");
        ++seen[token];
    }
    for (const auto& [token, count] : seen) {
        float& logit = logits[static_cast<std::size_t>(token)];
        const double scaled = logit > 0 ? logit / penalties.repeat : logit * penalties.repeat;
        logit = static_cast<float>(scaled - count * penalties.frequency - penalties.presence);
    }
}

TokenId best(std::span<const float> logits) {
    float largest = none;
    std::size_t at = logits.size();
    for (std::size_t i = 0; i < logits.size(); ++i)
        if (logits[i] > largest) {
            largest = logits[i];
            at = i;
        }
    if (at == logits.size()) failNothingLeft(logits);
    return static_cast<TokenId>(at);
}

void topK(std::span<const float> logits, std::int64_t k, std::vector<Candidate>& candidates) {
    candidates.clear();
    if (k <= 0 || static_cast<std::size_t>(k) >= logits.size()) {
        candidates.reserve(logits.size());
        for (std::size_t i = 0; i < logits.size(); ++i)
            if (takesPart(logits[i])) candidates.push_back({static_cast<TokenId>(i), logits[i], 0});
    } else {
        // A heap whose top is the worst of the best k so far. A later equal never displaces an earlier one.
        float bar = none;
        for (std::size_t i = 0; i < logits.size(); ++i) {
            if (!(logits[i] > bar)) continue;
            if (candidates.size() == static_cast<std::size_t>(k)) {
                std::pop_heap(candidates.begin(), candidates.end(), better);
                candidates.pop_back();
            }
            candidates.push_back({static_cast<TokenId>(i), logits[i], 0});
            std::push_heap(candidates.begin(), candidates.end(), better);
            if (candidates.size() == static_cast<std::size_t>(k)) bar = candidates.front().logit;
        }
        std::sort_heap(candidates.begin(), candidates.end(), better);
    }
    if (candidates.empty()) failNothingLeft(logits);
}

void temper(std::vector<Candidate>& candidates, double temperature) {
    double largest = none;
    for (const Candidate& c : candidates) largest = std::max<double>(largest, c.logit);
    for (Candidate& c : candidates)
        c.weight = c.logit == largest ? 1.0 : std::isinf(largest) ? 0.0 : std::exp((c.logit - largest) / temperature);
}

void topP(std::vector<Candidate>& candidates, double p) {
    if (p >= 1) return;
    const double total = sumOfWeights(candidates);
    // All tokens below (1 - p) of an equal share add up to less than 1 - p, so the list never needs one of them. (A
    // little less than that, for rounding.) It spares the selection below nearly all of a large vocabulary.
    const double share = 0.999 * (1 - p) * total / static_cast<double>(candidates.size());
    if (p > 0) std::erase_if(candidates, [share](const Candidate& c) { return c.weight < share; });
    candidates.resize(sortUntil(candidates, p * total, better));
}

void minP(std::vector<Candidate>& candidates, double p) {
    if (p <= 0) return;
    double largest = 0;
    for (const Candidate& c : candidates) largest = std::max(largest, c.weight);
    const double bar = std::min(p, 1.0) * largest;
    std::erase_if(candidates, [bar](const Candidate& c) { return c.weight < bar; });
}

void typicalP(std::vector<Candidate>& candidates, double p) {
    if (p >= 1) return;
    struct Surprise {
        double value;
        double weight;
        std::size_t at;  // in candidates
    };
    const double total = sumOfWeights(candidates), logTotal = std::log(total);
    std::vector<Surprise> order;
    order.reserve(candidates.size());
    double entropy = 0;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        const double weight = candidates[i].weight;
        if (weight <= 0) continue;  // infinitely surprising
        order.push_back({logTotal - std::log(weight), weight, i});
        entropy += weight / total * order.back().value;
    }
    for (Surprise& s : order) s.value = std::abs(s.value - entropy);
    order.resize(sortUntil(order, p * total, [&](const Surprise& a, const Surprise& b) {
        return a.value != b.value ? a.value < b.value : better(candidates[a.at], candidates[b.at]);
    }));
    std::sort(order.begin(), order.end(), [](const Surprise& a, const Surprise& b) { return a.at < b.at; });
    for (std::size_t i = 0; i < order.size(); ++i) candidates[i] = candidates[order[i].at];
    candidates.resize(order.size());
}

TokenId draw(std::span<const Candidate> candidates, double uniform) {
    double left = uniform * sumOfWeights(candidates);
    TokenId last = candidates.front().token;
    for (const Candidate& c : candidates) {
        if (c.weight <= 0) continue;
        last = c.token;
        left -= c.weight;
        if (left < 0) break;
    }
    return last;  // of rounding, if the sum is not reached
}

}  // namespace axial::llm
