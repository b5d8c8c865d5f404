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

[[noreturn]] void failNothingLeft(std::size_t vocabulary) {
    throw ValueError("sampler: no token can be chosen: all " + std::to_string(vocabulary) +
                     " logits are NaN or minus infinity. The model's weights are broken, or every token is forbidden "
                     "by a bias");
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
    if (at == logits.size()) failNothingLeft(logits.size());
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
    if (candidates.empty()) failNothingLeft(logits.size());
}

void temper(std::vector<Candidate>& candidates, double temperature) {
    double largest = none;
    for (const Candidate& c : candidates) largest = std::max<double>(largest, c.logit);
    for (Candidate& c : candidates)
        c.weight = c.logit == largest ? 1.0 : std::isinf(largest) ? 0.0 : std::exp((c.logit - largest) / temperature);
}

void topP(std::vector<Candidate>& candidates, double p) {
    if (p >= 1) return;
    double total = 0;
    for (const Candidate& c : candidates) total += c.weight;
    // All tokens below (1 - p) of an equal share add up to less than 1 - p, so the list never needs one of them. (A
    // little less than that, for rounding.) It spares the selection below nearly all of a large vocabulary.
    const double share = 0.999 * (1 - p) * total / static_cast<double>(candidates.size());
    if (p > 0) std::erase_if(candidates, [share](const Candidate& c) { return c.weight < share; });

    // Sorts a growing front part until it reaches p.
    double reached = 0;
    for (std::size_t sorted = 0; sorted < candidates.size();) {
        const auto from = candidates.begin() + static_cast<std::ptrdiff_t>(sorted);
        const std::size_t end = std::min(candidates.size(), std::max<std::size_t>(64, 4 * sorted));
        const auto to = candidates.begin() + static_cast<std::ptrdiff_t>(end);
        if (to != candidates.end()) std::nth_element(from, to, candidates.end(), better);
        std::sort(from, to, better);
        for (; sorted < end; ++sorted) {
            reached += candidates[sorted].weight;
            if (reached >= p * total) return candidates.resize(sorted + 1);
        }
    }
}

void minP(std::vector<Candidate>& candidates, double p) {
    if (p <= 0) return;
    double largest = 0;
    for (const Candidate& c : candidates) largest = std::max(largest, c.weight);
    const double bar = std::min(p, 1.0) * largest;
    std::erase_if(candidates, [bar](const Candidate& c) { return c.weight < bar; });
}

TokenId draw(std::span<const Candidate> candidates, double uniform) {
    double total = 0;
    for (const Candidate& c : candidates) total += c.weight;
    double left = uniform * total;
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
