// Checks logprobs against a float64 softmax of the reference data, and their rules for NaN and infinities.
#include "axial/llm/logprobs.h"

#include <algorithm>
#include <limits>

#include "../oracle.h"
#include "axial/llm/sampler_random.h"
#include "axial/tensor/error.h"

namespace axial::llm {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN(), forbidden = -std::numeric_limits<float>::infinity();

std::vector<TokenId> tokensOf(const std::vector<Logprob>& list) {
    std::vector<TokenId> tokens;
    for (const Logprob& l : list) tokens.push_back(l.token);
    return tokens;
}

TEST_CASE("logprobs: the logarithms of the reference's softmax") {
    if (!oracle::present()) return;
    const nlohmann::json file = oracle::json("ops/softmax.json");
    int compared = 0;
    for (const nlohmann::json& c : file.at("cases")) {
        CAPTURE(c.at("name").get<std::string>());
        std::vector<float> logits;
        for (const nlohmann::json& x : c.at("x")) logits.push_back(x.is_null() ? forbidden : x.get<float>());
        const Logprobs logprobs(logits);
        for (std::size_t i = 0; i < logits.size(); ++i) {
            const double p = c.at("out")[i];
            if (p > 1e-300) CHECK(logprobs.of(static_cast<TokenId>(i)) == doctest::Approx(std::log(p)).epsilon(1e-13));
            if (logits[i] == forbidden) CHECK(logprobs.of(static_cast<TokenId>(i)) == -infinity);
            compared += p > 1e-300;
        }
    }
    CHECK(compared > 300);
}

TEST_CASE("logprobs: the most probable, best first, lower tokens first among equals") {
    const std::vector<float> logits = {1, 5, forbidden, 3, 5, nan, -2};
    const Logprobs logprobs(logits);
    CHECK(logprobs.top(0).empty());
    CHECK(tokensOf(logprobs.top(1)) == std::vector<TokenId>{1});
    CHECK(tokensOf(logprobs.top(3)) == std::vector<TokenId>{1, 4, 3});
    for (const std::size_t many : {std::size_t{6}, std::size_t{7}, std::numeric_limits<std::size_t>::max()})
        CHECK(tokensOf(logprobs.top(many)) == std::vector<TokenId>{1, 4, 3, 0, 6});
    double sum = 0;
    for (const Logprob& l : logprobs.top(7)) {
        CHECK(l.logprob == logprobs.of(l.token));
        sum += std::exp(l.logprob);
    }
    CHECK(sum == doctest::Approx(1).epsilon(1e-14));
}

TEST_CASE("logprobs: of a large vocabulary, and far from zero") {
    std::vector<float> logits(151936);
    for (std::size_t i = 0; i < logits.size(); ++i) logits[i] = 9 * static_cast<float>(uniformAt(3, i));
    // Equal ones first: ln(1/n), to float64's precision.
    CHECK(Logprobs(std::vector<float>(151936, -1e30f)).of(7) == doctest::Approx(-std::log(151936.0)).epsilon(1e-14));
    const Logprobs logprobs(logits);
    const std::vector<Logprob> top = logprobs.top(20);
    std::vector<float> sorted = logits;
    std::sort(sorted.rbegin(), sorted.rend());
    long double sum = 0;
    for (const float logit : sorted) sum += std::exp(static_cast<long double>(logit));
    for (std::size_t i = 0; i < 20; ++i) {
        CHECK(logits[static_cast<std::size_t>(top[i].token)] == sorted[i]);
        CHECK(top[i].logprob == doctest::Approx(double(sorted[i] - std::log(sum))).epsilon(1e-12));
    }
}

TEST_CASE("SAMP-04: logprobs where logits are NaN or infinite") {
    const std::vector<float> broken = {nan, 1, 2};
    CHECK(Logprobs(broken).of(0) == -infinity);
    CHECK(Logprobs(broken).of(2) == doctest::Approx(-std::log1p(std::exp(-1.0))).epsilon(1e-14));
    const std::vector<float> infinite = {0, HUGE_VALF, 5, HUGE_VALF};
    CHECK(Logprobs(infinite).of(1) == doctest::Approx(-std::log(2.0)).epsilon(1e-14));
    CHECK(Logprobs(infinite).of(2) == -infinity);
    CHECK(tokensOf(Logprobs(infinite).top(4)) == std::vector<TokenId>{1, 3});
    for (const std::vector<float>& nothing :
         {std::vector<float>{}, std::vector<float>{nan, nan}, std::vector<float>{forbidden, nan}})
        CHECK_THROWS_AS(Logprobs{nothing}, ValueError);
    CHECK_THROWS_WITH_AS(Logprobs(broken).of(3), "logprobs: token 3 is asked for, but the vocabulary has 3 tokens",
                         ValueError);
    CHECK_THROWS_AS(Logprobs(broken).of(-1), ValueError);
}

}  // namespace
}  // namespace axial::llm
