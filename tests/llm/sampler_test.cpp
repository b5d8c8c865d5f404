// Checks the sampler against candidate sets and probabilities of an independent float64 implementation, against public
// bug reports, and against its own stages where only speed or statistics are at stake.
#include "axial/llm/sampler.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>

#include "axial/llm/sampler_random.h"
#include "axial/tensor/error.h"

namespace axial::llm {
namespace {

using nlohmann::json;

std::vector<float> logitsIn(const json& list) {
    std::vector<float> logits;
    for (const json& v : list) logits.push_back(v.is_string() ? std::stof(v.get<std::string>()) : v.get<float>());
    return logits;
}

// Absent settings are off.
SamplerSettings settingsIn(const json& c) {
    SamplerSettings s;
    s.temperature = c.value("temperature", 1.0);
    s.topK = c.value("top_k", 0);
    s.topP = c.value("top_p", 1.0);
    s.minP = c.value("min_p", 0.0);
    s.penalties.repeat = c.value("repeat_penalty", 1.0);
    s.penalties.frequency = c.value("frequency_penalty", 0.0);
    s.penalties.presence = c.value("presence_penalty", 0.0);
    s.penalties.window = c.value("repeat_last_n", 64);
    s.seed = 1;
    return s;
}

std::vector<TokenId> tokensOf(std::span<const Candidate> candidates) {
    std::vector<TokenId> tokens;
    for (const Candidate& c : candidates) tokens.push_back(c.token);
    return tokens;
}

std::vector<double> probabilitiesOf(std::span<const Candidate> candidates) {
    double total = 0;
    for (const Candidate& c : candidates) total += c.weight;
    std::vector<double> p;
    for (const Candidate& c : candidates) p.push_back(c.weight / total);
    return p;
}

void checkClose(const std::vector<double>& got, const std::vector<double>& want, double tolerance) {
    REQUIRE(got.size() == want.size());
    for (std::size_t i = 0; i < got.size(); ++i) CHECK(std::abs(got[i] - want[i]) <= tolerance);
}

void checkCandidates(Sampler sampler, const std::vector<float>& logits, const std::vector<TokenId>& history,
                     const json& want) {
    const std::span<const Candidate> got = sampler.candidates(logits, history);
    CHECK(tokensOf(got) == want.at("candidates").get<std::vector<TokenId>>());
    checkClose(probabilitiesOf(got), want.at("probabilities").get<std::vector<double>>(), 1e-6);
}

// The row of reports.jsonl with this id; null where the reference data is absent.
json report(const std::string& id) {
    std::ifstream file(AXIAL_ORACLE "/reports.jsonl");
    for (std::string line; std::getline(file, line);) {
        json row = json::parse(line);
        if (row.at("id") == id) return row;
    }
    MESSAGE("no ", AXIAL_ORACLE, "/reports.jsonl: ", id, " is not checked");
    return nullptr;
}

std::vector<TokenId> sorted(std::vector<TokenId> tokens) {
    std::sort(tokens.begin(), tokens.end());
    return tokens;
}

std::vector<float> wildLogits(std::size_t count, std::uint64_t seed, double spread) {
    std::vector<float> logits(count);
    for (std::size_t i = 0; i < count; ++i) {
        double sum = 0;
        for (std::uint64_t j = 0; j < 4; ++j) sum += uniformAt(seed, 4 * i + j) - 0.5;
        logits[i] = static_cast<float>(sum * spread);
    }
    return logits;
}

TEST_CASE("sampler: candidates and probabilities of the reference, both orders") {
    std::ifstream file(AXIAL_ORACLE "/ops/sampling.json");
    if (!file) {
        MESSAGE("no ", AXIAL_ORACLE, "/ops/sampling.json");
        return;
    }
    const json cases = json::parse(file).at("cases");
    CHECK(cases.size() == 26);
    for (const json& c : cases) {
        CAPTURE(c.at("name").get<std::string>());
        const std::vector<float> logits = logitsIn(c.at("logits"));
        const auto history = c.at("history").get<std::vector<TokenId>>();
        SamplerSettings settings = settingsIn(c);

        std::vector<float> penalised = logits;
        penalise(penalised, history, settings.penalties);
        checkClose({penalised.begin(), penalised.end()}, c.at("penalised").get<std::vector<double>>(), 1e-6);
        CHECK(best(penalised) == c.at("greedy").get<TokenId>());

        if (settings.temperature <= 0) {
            CHECK(Sampler(settings).next(logits, history) == c.at("greedy").get<TokenId>());
            continue;
        }
        checkCandidates(Sampler(settings), logits, history, c);
        settings.order = TemperatureOrder::last;
        checkCandidates(Sampler(settings), logits, history, c.at("temperature_last"));
    }
}

TEST_CASE("SAMP-01: the usual off values turn a filter off and leave at least one candidate") {
    const json row = report("SAMP-01");
    if (row.is_null()) return;
    const std::vector<float> logits = logitsIn(row.at("input").at("logits"));
    const json& cases = row.at("input").at("cases");
    const json& results = row.at("expected").at("results");
    REQUIRE(cases.size() == results.size());
    for (std::size_t i = 0; i < cases.size(); ++i) {
        CAPTURE(cases[i].dump());
        Sampler sampler(settingsIn(cases[i]));
        if (results[i].contains("token"))
            CHECK(sampler.next(logits, {}) == results[i]["token"].get<TokenId>());
        else
            CHECK(sorted(tokensOf(sampler.candidates(logits, {}))) ==
                  results[i]["candidates"].get<std::vector<TokenId>>());
    }
    for (double off : {-1.0, 0.0}) {
        SamplerSettings s;
        s.temperature = off;
        CHECK(Sampler(s).next(logits, {}) == 1);
    }
}

TEST_CASE("SAMP-02: the order of temperature and truncation") {
    const json row = report("SAMP-02");
    if (row.is_null()) return;
    const json& cases = row.at("input").at("cases");
    for (const auto& [name, order] :
         {std::pair{"order_hf", TemperatureOrder::first}, std::pair{"order_llama_cpp", TemperatureOrder::last}}) {
        const json& results = row.at("expected").at(name);
        REQUIRE(cases.size() == results.size());
        for (std::size_t i = 0; i < cases.size(); ++i) {
            CAPTURE(name);
            CAPTURE(cases[i].dump());
            SamplerSettings settings = settingsIn(cases[i]);
            settings.order = order;
            Sampler sampler(settings);
            const auto got = sampler.candidates(logitsIn(cases[i].at("logits")), {});
            CHECK(sorted(tokensOf(got)) == results[i].at("candidates").get<std::vector<TokenId>>());
            if (results[i].contains("probs"))
                checkClose(probabilitiesOf(got), results[i]["probs"].get<std::vector<double>>(), 1e-6);
        }
    }
}

TEST_CASE("SAMP-04: NaN and infinite logits") {
    const json row = report("SAMP-04");
    if (row.is_null()) return;
    const json& cases = row.at("input").at("cases");
    const json& results = row.at("expected").at("results");
    REQUIRE(cases.size() == results.size());
    for (std::size_t i = 0; i < cases.size(); ++i) {
        CAPTURE(cases[i].dump());
        const std::vector<float> logits = logitsIn(cases[i].at("logits"));
        Sampler sampler(settingsIn(cases[i]));
        if (results[i].contains("error")) {
            CHECK_THROWS_AS(sampler.next(logits, {}), ValueError);
            continue;
        }
        CHECK(sampler.next(logits, {}) == results[i].at("token").get<TokenId>());
        if (results[i].contains("probs")) {
            std::vector<double> got(logits.size(), 0.0);
            const auto candidates = sampler.candidates(logits, {});
            const std::vector<double> p = probabilitiesOf(candidates);
            for (std::size_t j = 0; j < p.size(); ++j) got[static_cast<std::size_t>(candidates[j].token)] = p[j];
            checkClose(got, results[i]["probs"].get<std::vector<double>>(), 0);
        }
    }
}

TEST_CASE("SAMP-04: an error says how many logits are NaN, which first, and what may be the matter") {
    const float nan = std::numeric_limits<float>::quiet_NaN(), forbidden = -std::numeric_limits<float>::infinity();
    for (const double temperature : {0.0, 1.0})
        for (const std::int64_t k : {0, 2}) {
            SamplerSettings s;
            s.temperature = temperature;
            s.topK = k;
            Sampler sampler(s);
            CHECK_THROWS_WITH_AS(sampler.next(std::vector<float>{forbidden, nan, nan}, {}),
                                 "sampler: no token can be chosen: 2 of 3 logits are NaN, that of token 1 first, and "
                                 "the others minus infinity. The model's weights are broken: fetch or convert the file "
                                 "again",
                                 ValueError);
            CHECK_THROWS_WITH_AS(sampler.next(std::vector<float>{forbidden, forbidden}, {}),
                                 "sampler: no token can be chosen: all 2 logits are minus infinity. Every token is "
                                 "forbidden: loosen the grammar or other logit processor, or the logit bias",
                                 ValueError);
            CHECK_THROWS_AS(sampler.next({}, {}), ValueError);
            CHECK(sampler.choices() == 0);
            CHECK(sampler.next(std::vector<float>{nan, nan, -3}, {}) == 2);  // the server goes on
        }
}

TEST_CASE("sampler: plus infinity wins at any temperature, and two of them share") {
    const float inf = std::numeric_limits<float>::infinity();
    SamplerSettings s;
    s.temperature = 1.5;
    s.seed = 3;
    Sampler sampler(s);
    const auto got = sampler.candidates(std::vector<float>{0, inf, 5, inf}, {});
    CHECK(probabilitiesOf(got) == std::vector<double>{0.5, 0.5, 0, 0});
    for (int i = 0; i < 20; ++i) CHECK(sampler.next(std::vector<float>{0, inf, 5, inf}, {}) % 2 == 1);
}

TEST_CASE("SAMP-05: a seed repeats its text, another seed or none gives another") {
    const std::vector<float> logits = wildLogits(500, 5, 6);
    const auto text = [&](std::optional<std::uint64_t> seed) {
        SamplerSettings s;
        s.temperature = 1.5;
        s.seed = seed;
        Sampler sampler(s);
        std::vector<TokenId> history;
        for (int i = 0; i < 16; ++i) history.push_back(sampler.next(logits, history));
        return history;
    };
    CHECK(text(7) == text(7));
    CHECK(text(7) != text(8));
    CHECK(text(std::nullopt) != text(std::nullopt));
    // Several replies with one seed: the first is that of the seed alone, the others are others.
    CHECK(seedOf(7, 0) == 7);
    CHECK(text(seedOf(7, 1)) != text(7));
    CHECK(text(seedOf(7, 1)) != text(seedOf(7, 2)));
    CHECK(text(seedOf(7, 1)) != text(seedOf(8, 1)));
}

TEST_CASE("sampler: one number of the stream a token, whatever the settings") {
    const std::vector<float> logits = wildLogits(100, 9, 4);
    SamplerSettings s;
    s.seed = 42;
    Sampler plain(s);
    std::vector<Candidate> all;
    topK(logits, 0, all);
    temper(all, 1.0);
    for (std::uint64_t i = 0; i < 50; ++i) {
        CHECK(plain.next(logits, {}) == draw(all, uniformAt(42, i)));
        const auto looking = plain.candidates(logits, {});  // takes none
        CHECK(looking.size() == 100);
    }
}

TEST_CASE("sampler: the random stream is SplitMix64's") {
    // Java's SplittableRandom and the reference C code start at the state itself: seed 1234567 gives these five. Our
    // stream starts at mixed(seed + step), so the test walks the published one from that state.
    const std::uint64_t published[] = {6457827717110365317u, 3203168211198807973u, 9817491932198370423u,
                                       4593380528125082431u, 16408922859458223821u};
    // mixed(seed + step) is the published first number of a stream started at the seed.
    const auto next = [](std::uint64_t& state) {
        std::uint64_t z = state += 0x9e3779b97f4a7c15u;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        return z ^ (z >> 31);
    };
    std::uint64_t state = 1234567;
    for (std::uint64_t want : published) CHECK(next(state) == want);
    std::uint64_t ours = published[0];
    for (std::uint64_t i = 0; i < 100; ++i)
        CHECK(uniformAt(1234567, i) == static_cast<double>(next(ours) >> 11) * 0x1p-53);
}

TEST_CASE("sampler: draws follow the probabilities") {
    const std::vector<float> logits = {1.0f, 0.0f, 2.0f, -1.0f};
    SamplerSettings s;
    s.temperature = 0.8;
    s.seed = 11;
    Sampler sampler(s);
    std::map<TokenId, double> want;
    const auto candidates = sampler.candidates(logits, {});
    const std::vector<double> p = probabilitiesOf(candidates);
    for (std::size_t i = 0; i < p.size(); ++i) want[candidates[i].token] = p[i];
    const int draws = 40000;
    std::map<TokenId, int> count;
    for (int i = 0; i < draws; ++i) ++count[sampler.next(logits, {})];
    double chiSquare = 0;
    for (const auto& [token, probability] : want) {
        const double expected = probability * draws;
        chiSquare += (count[token] - expected) * (count[token] - expected) / expected;
    }
    CHECK(chiSquare < 16.3);  // 3 degrees of freedom: passed by 99.9 % of seeds
}

TEST_CASE("sampler: filters of a large vocabulary equal a full sort") {
    for (const double spread : {0.0, 0.5, 8.0, 60.0}) {
        CAPTURE(spread);
        std::vector<float> logits = wildLogits(20000, 17, spread);
        for (std::size_t i = 0; i < logits.size(); i += 3) logits[i] = std::round(logits[i]);  // ties
        std::vector<TokenId> order(logits.size());
        std::iota(order.begin(), order.end(), 0);
        std::stable_sort(order.begin(), order.end(), [&](TokenId a, TokenId b) {
            return logits[static_cast<std::size_t>(a)] > logits[static_cast<std::size_t>(b)];
        });
        for (const std::int64_t k : {1, 20, 5000}) {
            std::vector<Candidate> got;
            topK(logits, k, got);
            CHECK(tokensOf(got) == std::vector<TokenId>(order.begin(), order.begin() + k));
        }
        for (const double p : {1e-9, 0.3, 0.95, 0.999999}) {
            CAPTURE(p);
            std::vector<Candidate> got;
            topK(logits, 0, got);
            temper(got, 0.9);
            const std::vector<double> all = probabilitiesOf(got);
            topP(got, p);
            CHECK(tokensOf(got) == std::vector<TokenId>(order.begin(), order.begin() + std::ssize(got)));
            double sum = 0;
            for (std::size_t i = 0; i + 1 < got.size(); ++i) sum += all[static_cast<std::size_t>(got[i].token)];
            CHECK(sum < p + 1e-12);
            CHECK(sum + all[static_cast<std::size_t>(got.back().token)] > p - 1e-12);
        }
    }
}

TEST_CASE("sampler: logit bias allows, favours and forbids") {
    const std::vector<float> logits = {1, 5, 3};
    SamplerSettings s;
    s.temperature = 0;
    s.bias = {{1, -std::numeric_limits<float>::infinity()}, {0, 4}};
    CHECK(Sampler(s).next(logits, {}) == 0);
    s.bias = {{3, 1}};
    CHECK_THROWS_WITH_AS(Sampler(s).next(logits, {}),
                         "sampler: the logit bias names token 3, but the vocabulary has 3 tokens", ValueError);
    s.bias.clear();
    for (TokenId t : {0, 1, 2}) s.bias.push_back({t, -std::numeric_limits<float>::infinity()});
    CHECK_THROWS_AS(Sampler(s).next(logits, {}), ValueError);
}

TEST_CASE("sampler: a window below 0 looks at the whole history") {
    std::vector<TokenId> history(1000, 0);
    history.front() = 2;
    std::vector<float> logits = {1, 1, 1};
    penalise(logits, history, {.frequency = 0.5, .window = -1});
    CHECK(logits == std::vector<float>{-498.5f, 1, 0.5f});
}

TEST_CASE("sampler: settings that mean nothing are refused") {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const auto with = [](auto change) {
        SamplerSettings s;
        change(s);
        Sampler sampler(s);
    };
    CHECK_THROWS_AS(with([&](auto& s) { s.temperature = nan; }), ValueError);
    CHECK_THROWS_AS(with([&](auto& s) { s.topP = nan; }), ValueError);
    CHECK_THROWS_AS(with([&](auto& s) { s.minP = nan; }), ValueError);
    CHECK_THROWS_AS(with([&](auto& s) { s.typicalP = nan; }), ValueError);
    CHECK_THROWS_AS(with([&](auto& s) { s.penalties.repeat = 0; }), ValueError);
    CHECK_THROWS_AS(with([&](auto& s) { s.penalties.presence = nan; }), ValueError);
    CHECK_THROWS_AS(with([&](auto& s) { s.bias = {{0, std::numeric_limits<float>::quiet_NaN()}}; }), ValueError);
}

}  // namespace
}  // namespace axial::llm
