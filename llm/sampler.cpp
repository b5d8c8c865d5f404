#include "axial/llm/sampler.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "axial/llm/sampler_random.h"
#include "axial/tensor/error.h"

namespace axial::llm {
namespace {

void requireFinite(const char* name, double value) {
    if (!std::isfinite(value))
        throw ValueError(std::string("sampler: ") + name + " is " + std::to_string(value) + ", but must be a number");
}

}  // namespace

Sampler::Sampler(SamplerSettings settings)
    : settings_(std::move(settings)), seed_(settings_.seed ? *settings_.seed : freshSeed()) {
    requireFinite("temperature", settings_.temperature);
    requireFinite("top-p", settings_.topP);
    requireFinite("min-p", settings_.minP);
    requireFinite("repeat penalty", settings_.penalties.repeat);
    requireFinite("frequency penalty", settings_.penalties.frequency);
    requireFinite("presence penalty", settings_.penalties.presence);
    if (settings_.penalties.repeat <= 0)
        throw ValueError("sampler: repeat penalty is " + std::to_string(settings_.penalties.repeat) +
                         ", but must be above 0 (1: off)");
    for (const LogitBias& b : settings_.bias)
        if (std::isnan(b.bias))
            throw ValueError("sampler: the logit bias of token " + std::to_string(b.token) + " is not a number");
}

TokenId Sampler::next(std::span<const float> logits, std::span<const TokenId> history) {
    const double uniform = uniformAt(seed_, choices_);
    logits = adjusted(logits, history);
    TokenId token = 0;
    if (settings_.temperature <= 0) {
        token = best(logits);
    } else {
        filter(logits);
        token = draw(candidates_, uniform);
    }
    ++choices_;
    return token;
}

std::span<const Candidate> Sampler::candidates(std::span<const float> logits, std::span<const TokenId> history) {
    logits = adjusted(logits, history);
    if (settings_.temperature <= 0) {
        const TokenId token = best(logits);
        candidates_.assign(1, {token, logits[static_cast<std::size_t>(token)], 1.0});
    } else {
        filter(logits);
        std::stable_sort(candidates_.begin(), candidates_.end(),
                         [](const Candidate& a, const Candidate& b) { return a.logit > b.logit; });
    }
    return candidates_;
}

std::span<const float> Sampler::adjusted(std::span<const float> logits, std::span<const TokenId> history) {
    if (settings_.bias.empty() && !settings_.penalties.active()) return logits;
    logits_.assign(logits.begin(), logits.end());
    addBias(logits_, settings_.bias);
    penalise(logits_, history, settings_.penalties);
    return logits_;
}

void Sampler::filter(std::span<const float> logits) {
    const bool first = settings_.order == TemperatureOrder::first;
    topK(logits, settings_.topK, candidates_);
    temper(candidates_, first ? settings_.temperature : 1.0);
    topP(candidates_, settings_.topP);
    minP(candidates_, settings_.minP);
    if (!first) temper(candidates_, settings_.temperature);
}

}  // namespace axial::llm
