// Checks whole chains of sampling, in both orders: against llama.cpp's own samplers, and against a slow definition that
// sorts nothing.
#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "axial/llm/sampler.h"
#include "axial/llm/sampler_random.h"

namespace axial::llm {
namespace {

TEST_CASE("sampler: candidates and probabilities of llama.cpp's samplers, typical among them, both orders") {
    std::ifstream file(AXIAL_TEST_DATA "/typical.json");
    const nlohmann::json cases = nlohmann::json::parse(file).at("cases");
    CHECK(cases.size() == 39);
    int withoutTheBest = 0;
    for (const nlohmann::json& c : cases)
        for (const auto& [name, order] :
             {std::pair{"first", TemperatureOrder::first}, std::pair{"last", TemperatureOrder::last}}) {
            const nlohmann::json &settings = c.at("settings"), &want = c.at(name);
            CAPTURE(settings.dump());
            CAPTURE(name);
            SamplerSettings s;
            s.temperature = settings.at("temp");
            s.topK = settings.at("top_k");
            s.topP = settings.at("top_p");
            s.minP = settings.at("min_p");
            s.typicalP = settings.at("typical");
            s.order = order;
            const auto logits = c.at("logits").get<std::vector<float>>();
            Sampler sampler(s);
            const std::span<const Candidate> got = sampler.candidates(logits, {});
            std::vector<TokenId> tokens;
            double total = 0;
            for (const Candidate& candidate : got) {
                tokens.push_back(candidate.token);
                total += candidate.weight;
            }
            REQUIRE(tokens == want.at("candidates").get<std::vector<TokenId>>());
            const auto probabilities = want.at("probabilities").get<std::vector<double>>();
            for (std::size_t i = 0; i < got.size(); ++i)
                CHECK(std::abs(got[i].weight / total - probabilities[i]) < 1e-5);
            withoutTheBest += tokens.front() != best(logits);
        }
    CHECK(withoutTheBest > 10);
}

// What a filter keeps, said without any sorting: a token stays if the tokens that go before it have less than p
// together. `clear` turns false where a border is so near that rounding may decide.
struct Definition {
    struct Token {
        TokenId id;
        double logit;
    };
    std::vector<Token> kept;
    bool clear = true;

    static bool isBetter(const Token& a, const Token& b) {
        return a.logit != b.logit ? a.logit > b.logit : a.id < b.id;
    }

    std::vector<double> probabilities(double temperature) const {
        long double largest = -HUGE_VAL, total = 0;
        for (const Token& t : kept) largest = std::max<long double>(largest, t.logit);
        std::vector<double> p;
        for (const Token& t : kept) total += std::exp((t.logit - largest) / temperature);
        for (const Token& t : kept) p.push_back(double(std::exp((t.logit - largest) / temperature) / total));
        return p;
    }

    template <class Keeps>
    void filter(Keeps keeps) {
        std::vector<Token> rest;
        for (std::size_t i = 0; i < kept.size(); ++i)
            if (keeps(i)) rest.push_back(kept[i]);
        kept = std::move(rest);
    }

    void topK(std::int64_t k) {
        if (k <= 0) return;
        filter([&](std::size_t i) {
            std::int64_t before = 0;
            for (const Token& t : kept) before += isBetter(t, kept[i]);
            return before < k;
        });
    }

    template <class GoesBefore>
    void untilReaching(double p, const std::vector<double>& probability, GoesBefore goesBefore) {
        if (p >= 1) return;
        filter([&](std::size_t i) {
            double before = 0;
            bool first = true;
            for (std::size_t j = 0; j < kept.size(); ++j)
                if (goesBefore(j, i)) {
                    before += probability[j];
                    first = false;
                }
            if (!first && std::abs(before - p) < 1e-9) clear = false;
            return first || before < p;
        });
    }

    void topP(double p, double temperature) {
        untilReaching(p, probabilities(temperature),
                      [&](std::size_t a, std::size_t b) { return isBetter(kept[a], kept[b]); });
    }

    void minP(double p, double temperature) {
        const std::vector<double> probability = probabilities(temperature);
        double largest = 0;
        for (const double q : probability) largest = std::max(largest, q);
        filter([&](std::size_t i) {
            if (probability[i] != largest && std::abs(probability[i] - p * largest) < 1e-9 * largest) clear = false;
            return probability[i] >= p * largest;
        });
    }

    void typical(double p, double temperature) {
        const std::vector<double> probability = probabilities(temperature);
        double entropy = 0;
        for (const double q : probability) entropy -= q * std::log(q);
        std::vector<double> away;
        for (const double q : probability) away.push_back(std::abs(-std::log(q) - entropy));
        untilReaching(p, probability, [&](std::size_t a, std::size_t b) {
            if (kept[a].logit != kept[b].logit && std::abs(away[a] - away[b]) < 1e-9) clear = false;
            return kept[a].logit != kept[b].logit ? away[a] < away[b] : kept[a].id < kept[b].id;
        });
    }
};

Definition defined(std::span<const float> logits, std::span<const TokenId> history, const SamplerSettings& s) {
    Definition d;
    const std::size_t window =
        s.penalties.window < 0 ? history.size() : std::min<std::size_t>(history.size(), s.penalties.window);
    for (std::size_t i = 0; i < logits.size(); ++i) {
        float logit = logits[i];
        for (const LogitBias& b : s.bias)
            if (b.token == TokenId(i)) logit += b.bias;
        double changed = logit;
        bool seen = false;
        for (const TokenId t : history.last(window)) {
            if (t != TokenId(i)) continue;
            if (!seen) changed = (changed > 0 ? changed / s.penalties.repeat : changed * s.penalties.repeat);
            if (!seen) changed -= s.penalties.presence;
            changed -= s.penalties.frequency;
            seen = true;
        }
        d.kept.push_back({TokenId(i), double(float(changed))});
    }
    d.topK(s.topK);
    if (s.order == TemperatureOrder::first) {
        d.topP(s.topP, s.temperature);
        d.minP(s.minP, s.temperature);
        d.typical(s.typicalP, s.temperature);
    } else {
        d.typical(s.typicalP, 1);
        d.topP(s.topP, 1);
        d.minP(s.minP, 1);
    }
    return d;
}

TEST_CASE("sampler: every chain keeps what its definition keeps, with the same probabilities") {
    int compared = 0, unclear = 0;
    const bool good = rc::check([&] {
        const auto below = [](int n) { return *rc::gen::inRange(0, n); };
        const auto seed = *rc::gen::arbitrary<std::uint64_t>();
        std::uint64_t drawn = 0;
        const auto uniform = [&] { return uniformAt(seed, drawn++); };
        const auto someOf = [&](double off, double least, double most) {
            return below(2) == 0 ? off : least + uniform() * (most - least);
        };
        std::vector<float> logits(static_cast<std::size_t>(1 + below(80)));
        const double spread = 0.1 + 12 * uniform();
        const bool ties = below(3) == 0;
        for (float& logit : logits) {
            logit = static_cast<float>((uniform() + uniform() - 1) * spread);
            if (ties) logit = std::round(logit);
        }
        std::vector<TokenId> history(static_cast<std::size_t>(below(100)));
        for (TokenId& t : history) t = static_cast<TokenId>(uniform() * double(logits.size()));

        SamplerSettings s;
        s.seed = seed;
        s.temperature = someOf(1, 0.2, 3);
        s.topK = below(2) == 0 ? 0 : 1 + below(90);
        s.topP = someOf(1, 0, 1);
        s.minP = someOf(0, 0, 1);
        s.typicalP = someOf(1, 0, 1);
        s.penalties = {someOf(1, 0.5, 2), someOf(0, -1, 1), someOf(0, -1, 1), below(70) - 1};
        if (below(2)) s.bias.push_back({static_cast<TokenId>(logits.size() - 1), static_cast<float>(3 * uniform())});
        s.order = below(2) ? TemperatureOrder::first : TemperatureOrder::last;

        const Definition want = defined(logits, history, s);
        if (!want.clear) return void(++unclear);
        ++compared;
        Sampler sampler(s);
        const std::span<const Candidate> got = sampler.candidates(logits, history);
        std::vector<double> found(logits.size(), -1);
        double total = 0;
        for (std::size_t i = 0; i < got.size(); ++i) {
            total += got[i].weight;
            if (i > 0) RC_ASSERT(got[i - 1].logit >= got[i].logit);
        }
        for (const Candidate& c : got) found[static_cast<std::size_t>(c.token)] = c.weight / total;
        RC_ASSERT(got.size() == want.kept.size());
        const std::vector<double> p = want.probabilities(s.temperature);
        for (std::size_t i = 0; i < p.size(); ++i)
            RC_ASSERT(std::abs(found[static_cast<std::size_t>(want.kept[i].id)] - p[i]) < 1e-12);
        // One draw, from these.
        RC_ASSERT(found[static_cast<std::size_t>(sampler.next(logits, history))] > 0);
        RC_ASSERT(sampler.choices() == 1u);
    });
    CHECK(good);
    CHECK(compared > 5 * unclear);
}

}  // namespace
}  // namespace axial::llm
