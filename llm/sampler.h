// Chooses the next token from a model's logits.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "axial/llm/logit_processor.h"
#include "axial/llm/sampler_stages.h"
#include "axial/llm/token.h"

namespace axial::llm {

// Where the temperature stands. Hugging Face and most engines put it first; llama.cpp puts it last, so that top-p,
// min-p and typical measure the model's own distribution.
enum class TemperatureOrder { first, last };

struct SamplerSettings {
    double temperature = 1.0;  // 0 or below: greedy, the best token always
    std::int64_t topK = 0;     // 0 or below: off
    double topP = 1.0;         // 1: off
    double minP = 0.0;         // 0: off
    double typicalP = 1.0;     // 1: off
    Penalties penalties;
    std::vector<LogitBias> bias = {};
    TemperatureOrder order = TemperatureOrder::first;
    std::optional<std::uint64_t> seed;  // none: a fresh one
};

// The chain, in this order:
//
//     logit processors, logit bias, penalties;                  (change logits)
//     greedy if temperature <= 0, and then none of the rest;
//     top-k, temperature, top-p, min-p, typical                 (TemperatureOrder::first)
//     top-k, typical, top-p, min-p, temperature                 (TemperatureOrder::last)
//     one draw
//
// Each filter works on the renormalised survivors of the one before, and at least one token always survives. Each
// choice takes one number of the seed's stream, used or not: choice n depends on the seed, n, the logits, the history
// and the processors only.
//
// Processors belong to one sampler, which therefore cannot be copied: each of several conversations has its own
// (forReply). Speculation lets next() choose after every row that it verifies, and takes no more rows after the first
// token that differs from its draft: so what next() returned is what was committed, and rejected drafts leave no trace.
class Sampler {
  public:
    // Throws ValueError for a setting that is not a number, a repeat penalty of 0 or below, or no processor in a place.
    explicit Sampler(SamplerSettings settings = {}, std::vector<std::unique_ptr<LogitProcessor>> processors = {});
    Sampler(Sampler&&) = default;
    Sampler& operator=(Sampler&&) = default;

    const SamplerSettings& settings() const { return settings_; }
    // The seed in use.
    std::uint64_t seed() const { return seed_; }

    // The same settings and processors with nothing chosen yet, for one of several conversations with one seed
    // (seedOf in sampler_random.h): number 0 chooses what this sampler chose from its own beginning.
    Sampler forReply(std::uint64_t number) const;

    // A new reply begins: resets the processors. The stream of random numbers goes on. Whoever makes the prompt calls
    // it before the reply's first next().
    void begin();

    // The next token after `history`, whose last tokens the penalties look at. logits: one for each token of the
    // vocabulary. Throws ValueError if none is a number above minus infinity (NaN counts as minus infinity), and what a
    // processor throws. On any error the sampler is as it was before the call. Each processor's commit() gets each
    // token that next() returns, once.
    TokenId next(std::span<const float> logits, std::span<const TokenId> history);

    // What next() would draw from, most probable first; greedy: the best token alone. Valid until the next call.
    std::span<const Candidate> candidates(std::span<const float> logits, std::span<const TokenId> history);

    // How many tokens were chosen so far, in all replies: the index of the next random number.
    std::uint64_t choices() const { return choices_; }
    // Goes back to where choices() was `mark`: what follows then is what followed, or would have followed, there. For a
    // mark since begin(), processors are reset and get the tokens up to it again, when they are next asked; for an
    // earlier one they stand where begin() puts them, and not in the midst of the older reply. Throws ValueError for a
    // mark that was not reached yet, and nothing else.
    void rewindTo(std::uint64_t mark);

    // For speculation: the tokens that the processors force next (none where there is a choice), and how many of the
    // draft's tokens, from its first on, they could let pass. Change nothing.
    std::vector<TokenId> forced();
    std::size_t validPrefix(std::span<const TokenId> draft);

  private:
    void settle();
    void commit(TokenId token);
    std::span<const float> adjusted(std::span<const float> logits, std::span<const TokenId> history);
    void filter(std::span<const float> logits);

    SamplerSettings settings_;
    std::uint64_t seed_;
    std::uint64_t choices_ = 0;
    std::vector<std::unique_ptr<LogitProcessor>> processors_;
    bool settled_ = false;               // the processors have seen committed_ and no more
    std::uint64_t begun_ = 0;            // choices_ at begin()
    std::vector<TokenId> committed_;     // since begin(); only where there are processors
    std::vector<float> logits_;          // with processors, bias and penalties
    std::vector<Candidate> candidates_;  // kept between calls: a vocabulary is large
};

}  // namespace axial::llm
