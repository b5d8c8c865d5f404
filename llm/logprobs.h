// The logarithms of a model's own probabilities.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "axial/llm/token.h"

namespace axial::llm {

struct Logprob {
    TokenId token = 0;
    double logprob = 0;  // natural logarithm of the token's probability
};

// ln softmax of one row of logits, one for each token of the vocabulary, in float64:
//
//     of(t) = logits[t] - largest - ln(sum over u of exp(logits[u] - largest))
//
// This is the model's own distribution, untouched by what the sampler does to it (processors, bias, penalties,
// temperature, filters). NaN counts as minus infinity, as for the sampler (sampler_stages.h), and its logprob is minus
// infinity; logits of plus infinity share all probability. Borrows the logits.
class Logprobs {
  public:
    // Throws ValueError if no logit is a number above minus infinity.
    explicit Logprobs(std::span<const float> logits);

    // Throws ValueError for a token outside the vocabulary.
    double of(TokenId token) const;
    // The `count` most probable tokens, or all if there are fewer, best first, of equal ones the lower token first.
    // Tokens without any probability are not among them.
    std::vector<Logprob> top(std::size_t count) const;

  private:
    std::span<const float> logits_;
    double largest_;
    double logSum_;
};

}  // namespace axial::llm
