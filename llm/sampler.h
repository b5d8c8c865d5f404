// Chooses the next token from a model's logits.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "axial/llm/sampler_stages.h"
#include "axial/llm/token.h"

namespace axial::llm {

// Where the temperature stands. Most engines put it first; llama.cpp puts it last, so that top-p and min-p measure
// the model's own distribution.
enum class TemperatureOrder { first, last };

struct SamplerSettings {
    double temperature = 1.0;  // 0 or below: greedy, the best token always
    std::int64_t topK = 0;     // 0 or below: off
    double topP = 1.0;         // 1: off
    double minP = 0.0;         // 0: off
    Penalties penalties;
    std::vector<LogitBias> bias = {};
    TemperatureOrder order = TemperatureOrder::first;
    std::optional<std::uint64_t> seed;  // none: a fresh one
};

// The chain, in this order:
//
//     logit bias, penalties;                                    (change logits)
//     greedy if temperature <= 0, and then none of the rest;
//     top-k, temperature, top-p, min-p                          (TemperatureOrder::first)
//     top-k, top-p, min-p, temperature                          (TemperatureOrder::last)
//     one draw
//
// Each filter works on the renormalised survivors of the one before, and at least one token always survives. Each
// choice takes one number of the seed's stream, used or not: choice n depends on the seed, n, the logits and the
// history only.
class Sampler {
  public:
    // Throws ValueError for a setting that is not a number, or a repeat penalty of 0 or below.
    explicit Sampler(SamplerSettings settings = {});

    const SamplerSettings& settings() const { return settings_; }
    // The seed in use.
    std::uint64_t seed() const { return seed_; }

    // The next token after `history`, whose last tokens the penalties look at. logits: one for each token of the
    // vocabulary. Throws ValueError if none is a number above minus infinity; NaN counts as minus infinity.
    TokenId next(std::span<const float> logits, std::span<const TokenId> history);

    // What next() would draw from, most probable first; greedy: the best token alone. Valid until the next call.
    std::span<const Candidate> candidates(std::span<const float> logits, std::span<const TokenId> history);

  private:
    std::span<const float> adjusted(std::span<const float> logits, std::span<const TokenId> history);
    void filter(std::span<const float> logits);

    SamplerSettings settings_;
    std::uint64_t seed_;
    std::uint64_t choices_ = 0;
    std::vector<float> logits_;          // with bias and penalties
    std::vector<Candidate> candidates_;  // kept between calls: a vocabulary is large
};

}  // namespace axial::llm
