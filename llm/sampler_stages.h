// The stages of sampling, each a small function; Sampler (sampler.h) strings them together.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "axial/llm/token.h"

namespace axial::llm {

// A token that may still be chosen. Its probability is weight / (sum of all candidates' weights).
struct Candidate {
    TokenId token = 0;
    float logit = 0;
    double weight = 0;
};

// Added to one token's logit; minus infinity forbids the token.
struct LogitBias {
    TokenId token = 0;
    float bias = 0;
};

// What makes tokens of the recent past less likely.
struct Penalties {
    double repeat = 1.0;  // a seen token's logit is divided by this if positive, else multiplied (Keskar et al. 2019)
    double frequency = 0.0;    // taken off once for every time the token was seen
    double presence = 0.0;     // taken off once if the token was seen
    std::int64_t window = 64;  // how many of the last tokens count; below 0: all of them
    bool active() const { return window != 0 && (repeat != 1.0 || frequency != 0.0 || presence != 0.0); }
};

// A logit takes part if it is a number above minus infinity; NaN counts as minus infinity, so a token whose logit is
// broken is never chosen. Where no logit takes part, best() and topK() throw ValueError, which says how many are NaN,
// which token is the first of them, and what may be the matter.

// logits[b.token] += b.bias. ValueError for a token outside the vocabulary.
void addBias(std::span<float> logits, std::span<const LogitBias> bias);
// Penalises each token of history's last penalties.window. ValueError for a token outside the vocabulary.
void penalise(std::span<float> logits, std::span<const TokenId> history, const Penalties& penalties);
// The token with the largest logit; of equal ones the lowest.
TokenId best(std::span<const float> logits);
// The k tokens with the largest logits, best first, of equal ones the lower token first. k <= 0, or at least the
// vocabulary: all of them, in the order of the vocabulary. Weights are not set yet.
void topK(std::span<const float> logits, std::int64_t k, std::vector<Candidate>& candidates);
// weight = exp((logit - largest logit) / temperature); the temperature is above 0. A logit of plus infinity leaves
// weight to itself and its equals only.
void temper(std::vector<Candidate>& candidates, double temperature);
// The shortest list of the most probable tokens whose probabilities reach p, best first (Holtzman et al. 2019).
// p >= 1: no change; p <= 0: the best token. Exact for any number of candidates; sorts only what it keeps.
void topP(std::vector<Candidate>& candidates, double p);
// Those at least p times as probable as the best (Nguyen et al. 2024). p <= 0: no change; p >= 1: the best and its
// equals.
void minP(std::vector<Candidate>& candidates, double p);
// Locally typical sampling (Meister, Pimentel, Wiher and Cotterell, "Locally typical sampling", TACL 2023,
// arXiv:2202.00666): those whose surprise is nearest to what the distribution makes one expect. With q(y) a candidate's
// probability and H = -sum over y of q(y) ln q(y), the candidates are taken in ascending order of |-ln q(y) - H|, of
// equal ones the more probable first and then the lower token, until their probabilities reach p. So the most probable
// token may be left out. The survivors keep the list's order. p >= 1: no change; p <= 0: the first alone.
void typicalP(std::vector<Candidate>& candidates, double p);
// The token at the point `uniform` (in [0, 1)) of the candidates' cumulated probabilities, in the list's order.
TokenId draw(std::span<const Candidate> candidates, double uniform);

}  // namespace axial::llm
