#include "axial/llm/logprobs.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include "axial/llm/sampler_stages.h"
#include "axial/tensor/error.h"

namespace axial::llm {
namespace {

constexpr double none = -std::numeric_limits<double>::infinity();

}  // namespace

Logprobs::Logprobs(std::span<const float> logits) : logits_(logits), largest_(none), logSum_(0) {
    for (const float logit : logits)
        if (logit > largest_) largest_ = logit;
    if (largest_ == none)
        throw ValueError("logprobs: all " + std::to_string(logits.size()) +
                         " logits are NaN or minus infinity, and so have no probabilities. The model's weights are "
                         "broken: fetch or convert the file again");
    double sum = 0;
    if (std::isinf(largest_))
        sum = static_cast<double>(std::count(logits.begin(), logits.end(), largest_));
    else
        for (const float logit : logits)
            if (!std::isnan(logit)) sum += std::exp(logit - largest_);
    logSum_ = std::log(sum);
}

double Logprobs::of(TokenId token) const {
    if (token < 0 || static_cast<std::size_t>(token) >= logits_.size())
        throw ValueError("logprobs: token " + std::to_string(token) + " is asked for, but the vocabulary has " +
                         std::to_string(logits_.size()) + " tokens");
    const float logit = logits_[static_cast<std::size_t>(token)];
    if (std::isnan(logit)) return none;
    return logit == largest_ ? -logSum_ : logit - largest_ - logSum_;
}

std::vector<Logprob> Logprobs::top(std::size_t count) const {
    std::vector<Logprob> list;
    if (count == 0) return list;
    std::vector<Candidate> candidates;
    topK(logits_, static_cast<std::int64_t>(std::min(count, logits_.size())), candidates);
    if (count >= logits_.size())  // in the order of the vocabulary
        std::stable_sort(candidates.begin(), candidates.end(),
                         [](const Candidate& a, const Candidate& b) { return a.logit > b.logit; });
    for (const Candidate& c : candidates)
        if (const double logprob = of(c.token); logprob > none) list.push_back({c.token, logprob});
    return list;
}

}  // namespace axial::llm
