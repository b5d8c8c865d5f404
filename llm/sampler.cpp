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

Sampler::Sampler(SamplerSettings settings, std::vector<std::unique_ptr<LogitProcessor>> processors)
    : settings_(std::move(settings)),
      seed_(settings_.seed ? *settings_.seed : freshSeed()),
      processors_(std::move(processors)) {
    requireFinite("temperature", settings_.temperature);
    requireFinite("top-p", settings_.topP);
    requireFinite("min-p", settings_.minP);
    requireFinite("typical", settings_.typicalP);
    requireFinite("repeat penalty", settings_.penalties.repeat);
    requireFinite("frequency penalty", settings_.penalties.frequency);
    requireFinite("presence penalty", settings_.penalties.presence);
    if (settings_.penalties.repeat <= 0)
        throw ValueError("sampler: repeat penalty is " + std::to_string(settings_.penalties.repeat) +
                         ", but must be above 0 (1: off)");
    for (const LogitBias& b : settings_.bias)
        if (std::isnan(b.bias))
            throw ValueError("sampler: the logit bias of token " + std::to_string(b.token) + " is not a number");
    for (std::size_t i = 0; i < processors_.size(); ++i)
        if (!processors_[i])
            throw ValueError("sampler: logit processor " + std::to_string(i) + " of " +
                             std::to_string(processors_.size()) + " is null; leave it out");
}

Sampler Sampler::forReply(std::uint64_t number) const {
    SamplerSettings settings = settings_;
    settings.seed = seedOf(seed_, number);
    std::vector<std::unique_ptr<LogitProcessor>> processors;
    for (const auto& processor : processors_) processors.push_back(processor->clone());
    return Sampler(std::move(settings), std::move(processors));
}

void Sampler::begin() {
    begun_ = choices_;
    committed_.clear();
    settled_ = false;
    settle();
}

void Sampler::rewindTo(std::uint64_t mark) {
    if (mark > choices_)
        throw ValueError("sampler: cannot go to choice " + std::to_string(mark) + ": only " + std::to_string(choices_) +
                         " were made; give what choices() was");
    if (mark == choices_) return;
    choices_ = mark;
    begun_ = std::min(begun_, mark);
    committed_.resize(std::min<std::size_t>(committed_.size(), mark - begun_));
    settled_ = false;
}

// Also after a processor threw in the midst of commit() or of this.
void Sampler::settle() {
    if (settled_) return;
    for (const auto& processor : processors_) {
        processor->reset();
        for (TokenId token : committed_) processor->commit(token);
    }
    settled_ = true;
}

void Sampler::commit(TokenId token) {
    if (!processors_.empty()) {
        committed_.push_back(token);
        try {
            for (const auto& processor : processors_) processor->commit(token);
        } catch (...) {
            committed_.pop_back();
            settled_ = false;
            throw;
        }
    }
    ++choices_;
}

std::vector<TokenId> Sampler::forced() {
    settle();
    std::vector<TokenId> longest;
    for (const auto& processor : processors_)
        if (std::vector<TokenId> tokens = processor->forced(); tokens.size() > longest.size())
            longest = std::move(tokens);
    longest.resize(validPrefix(longest));
    return longest;
}

std::size_t Sampler::validPrefix(std::span<const TokenId> draft) {
    settle();
    for (const auto& processor : processors_)
        draft = draft.first(std::min(draft.size(), processor->validPrefix(draft)));
    return draft.size();
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
    commit(token);
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
    if (processors_.empty() && settings_.bias.empty() && !settings_.penalties.active()) return logits;
    settle();
    logits_.assign(logits.begin(), logits.end());
    for (const auto& processor : processors_) processor->process(logits_, history);
    addBias(logits_, settings_.bias);
    penalise(logits_, history, settings_.penalties);
    return logits_;
}

void Sampler::filter(std::span<const float> logits) {
    const SamplerSettings& s = settings_;
    topK(logits, s.topK, candidates_);
    if (s.order == TemperatureOrder::first) {
        temper(candidates_, s.temperature);
        topP(candidates_, s.topP);
        minP(candidates_, s.minP);
        typicalP(candidates_, s.typicalP);
    } else {
        temper(candidates_, 1.0);
        typicalP(candidates_, s.typicalP);
        topP(candidates_, s.topP);
        minP(candidates_, s.minP);
        temper(candidates_, s.temperature);
    }
}

}  // namespace axial::llm
