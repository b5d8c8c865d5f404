// Checks drafts against a search that looks everywhere, and that no draft changes what is said.
#include "axial/llm/speculator.h"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "axial/llm/sampler.h"
#include "axial/llm/sampler_random.h"
#include "axial/tensor/error.h"

namespace axial::llm {
namespace {

using Tokens = std::vector<TokenId>;

SpeculationSettings ungated() {
    SpeculationSettings settings;
    settings.gated = false;
    return settings;
}

Tokens draftBehind(const Tokens& history, const std::vector<Tokens>& references = {}, std::size_t room = 16) {
    Speculator speculator(ungated());
    for (const Tokens& text : references) speculator.addReference(std::make_shared<const ReferenceText>(text));
    speculator.follow(history);
    return speculator.propose(room);
}

// The same, by looking everywhere.
Tokens searchedDraft(const Tokens& history, const std::vector<Tokens>& references, std::size_t room) {
    struct Place {
        std::size_t length = 0, end = 0;
        const Tokens* text = nullptr;
    };
    const auto longest = [&](const Tokens& text, std::size_t limit) {
        Place best;
        for (std::size_t end = 1; end < limit; ++end) {
            std::size_t length = 0;
            while (length < std::min(end, history.size()) &&
                   text[end - 1 - length] == history[history.size() - 1 - length]) {
                ++length;
            }
            if (length > 0 && length >= best.length) best = {length, end, &text};
        }
        return best;
    };
    room = std::min<std::size_t>(room, 16);
    Place best = longest(history, history.size());
    for (const Tokens& text : references) {
        const Place place = longest(text, text.size() + 1);
        if (place.length > best.length && place.end < text.size()) best = place;
    }
    Tokens draft;
    if (best.length >= 2) {
        Tokens source(best.text->begin() + static_cast<std::ptrdiff_t>(best.end), best.text->end());
        const bool isOwn = best.text == &history;
        for (std::size_t i = 0; draft.size() < std::min(room, 2 * (1 + best.length)); ++i) {
            if (i == source.size() && !isOwn) break;
            if (i == source.size()) source.push_back(draft[i - (history.size() - best.end)]);
            draft.push_back(source[i]);
        }
        return draft;
    }
    while (!history.empty() && draft.size() < std::min<std::size_t>(room, 8)) {
        const TokenId token = draft.empty() ? history.back() : draft.back();
        Tokens successors;  // the most recent first
        for (std::size_t i = history.size() - 1; i-- > 0 && successors.size() < 8;) {
            if (history[i] == token) successors.push_back(history[i + 1]);
        }
        const auto votes = [&](TokenId t) { return std::ranges::count(successors, t); };
        const auto winner = std::ranges::max_element(successors, {}, votes);
        if (winner == successors.end() || 2 * votes(*winner) < std::ssize(successors)) break;
        draft.push_back(*winner);
    }
    return draft;
}

Tokens anyTokens(std::size_t most, TokenId vocabulary) {
    return *rc::gen::resize(static_cast<int>(most), rc::gen::container<Tokens>(rc::gen::inRange(0, vocabulary)));
}

TEST_CASE("drafts are what a search everywhere finds, after any growing and rewinding") {
    CHECK(rc::check("the same drafts", [] {
        const TokenId vocabulary = *rc::gen::element(1, 2, 3, 6, 30);
        std::vector<Tokens> references;
        Speculator speculator(ungated());
        Tokens history;
        for (int action = 0; action < 12; ++action) {
            const int kind = *rc::gen::inRange(0, 8);
            if (kind == 0 && references.size() < 3) {
                references.push_back(anyTokens(40, vocabulary));
                speculator.addReference(std::make_shared<const ReferenceText>(references.back()));
            } else if (kind == 1) {
                history.resize(*rc::gen::inRange<std::size_t>(0, history.size() + 1));
                speculator.rewind(history.size());
            } else {
                const Tokens more = anyTokens(20, vocabulary);
                history.insert(history.end(), more.begin(), more.end());
            }
            speculator.follow(history);
            RC_ASSERT(speculator.length() == history.size());
            const auto room = *rc::gen::inRange<std::size_t>(0, 20);
            RC_ASSERT(speculator.propose(room) == searchedDraft(history, references, room));
        }
    }));
}

TEST_CASE("the text goes on as it went on last, and a repetition goes on") {
    CHECK(draftBehind({}).empty());
    CHECK(draftBehind({1, 2, 3}).empty());
    // 5 6 stood there twice; behind the later one came 9.
    CHECK(draftBehind({5, 6, 7, 5, 6, 9, 1, 5, 6}) == Tokens{9, 1, 5, 6, 9, 1});
    CHECK(draftBehind({1, 2, 3, 1, 2, 3, 1, 2}) == Tokens{3, 1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2});
    CHECK(draftBehind({1, 2, 3, 1, 2, 3, 1, 2}, {}, 2) == Tokens{3, 1});
    CHECK(draftBehind({1, 2, 3, 1, 2, 3, 1, 2}, {}, 0).empty());
}

TEST_CASE("the longest match wins, and the conversation's of two that are as long") {
    const Tokens history = {1, 2, 8, 1, 2};
    CHECK(draftBehind(history, {{1, 2, 9, 9}}) == Tokens{8, 1, 2, 8, 1, 2});
    CHECK(draftBehind(history, {{8, 1, 2, 9, 9}}) == Tokens{9, 9});
    CHECK(draftBehind(history, {{8, 1, 2, 7}, {2, 8, 1, 2, 6, 5}}) == Tokens{6, 5});
    CHECK(draftBehind(history, {{9, 9, 8, 1, 2}}) == Tokens{8, 1, 2, 8, 1, 2});  // nothing follows there
    CHECK(draftBehind({3, 4}, {{0, 3, 4, 5}}) == Tokens{5});
}

TEST_CASE("what followed most often follows, of two as frequent the more recent, and nothing if there are three") {
    CHECK(draftBehind({1, 2, 5, 1, 3, 6, 1}) == Tokens{3, 6, 1, 3, 6, 1, 3, 6});
    CHECK(draftBehind({1, 2, 5, 1, 2, 6, 1, 3, 7, 1}) == Tokens{2, 6, 1, 2, 6, 1, 2, 6});
    CHECK(draftBehind({1, 2, 5, 1, 3, 6, 1, 4, 7, 1}).empty());
}

TEST_CASE("at most eight references, and each of them is one") {
    Speculator speculator;
    const auto text = std::make_shared<const ReferenceText>(Tokens{1, 2, 3});
    for (int i = 0; i < 8; ++i) speculator.addReference(text);
    CHECK_THROWS_AS(speculator.addReference(text), ValueError);
    CHECK_THROWS_AS(speculator.addReference(nullptr), ValueError);
}

TEST_CASE("forced tokens come first, and nothing else when there are some") {
    Speculator speculator(ungated());
    speculator.follow(Tokens{1, 2, 3, 1, 2});
    const Tokens forced = {7, 8, 9};
    CHECK(speculator.propose(16, forced) == forced);
    CHECK(speculator.propose(2, forced) == Tokens{7, 8});
    speculator.observe(2, 2, 0.02);
    CHECK(speculator.counts().sources[static_cast<std::size_t>(DraftSource::grammar)].accepted == 2);
    CHECK(speculator.propose(2) == Tokens{3, 1});
}

TEST_CASE("a source that is wrong and costs time is silent for 128 tokens") {
    SpeculationSettings settings = ungated();
    settings.longestChain = 0;
    Speculator speculator(settings);
    speculator.follow(Tokens{1, 2, 3, 1, 2});
    speculator.observe(0, 0, 0.02);
    int drafts = 0;
    for (; !speculator.propose(4).empty() && drafts < 100; ++drafts) speculator.observe(4, 0, 0.03);
    CHECK(drafts == 16);  // of 4 tokens each
    for (int tokens = 0; tokens < 128; ++tokens) {
        REQUIRE(speculator.propose(4).empty());
        speculator.observe(0, 0, 0.02);
    }
    CHECK(speculator.propose(4) == Tokens{3, 1, 2, 3});
    const DraftCounts counts = speculator.counts().sources[static_cast<std::size_t>(DraftSource::conversation)];
    CHECK(counts.drafts == 16);
    CHECK(counts.drafted == 64);
    CHECK(counts.accepted == 0);
    CHECK(counts.silences == 1);
    CHECK(speculator.counts().plainSteps == 129);
    CHECK(speculator.counts().draftSteps == 16);
}

TEST_CASE("a fifth of the tokens is enough to be heard, and so is a gain") {
    Speculator speculator(ungated());
    speculator.follow(Tokens{1, 2, 3, 1, 2});
    speculator.observe(0, 0, 0.02);
    for (int i = 0; i < 100; ++i) {
        REQUIRE(speculator.propose(5).size() == 5);
        speculator.observe(5, 1, 0.05);  // 20 %, though at a loss
    }
    for (int i = 0; i < 100; ++i) {
        REQUIRE(speculator.propose(6).size() == 6);
        speculator.observe(6, 1, 0.03);  // 17 %, but two tokens in the time of one and a half
    }
}

TEST_CASE("misuse is refused and changes nothing") {
    Speculator speculator(ungated());
    speculator.follow(Tokens{1, 2, 3, 1, 2});
    CHECK_THROWS_AS(speculator.follow(Tokens{1, 2, 3}), ValueError);
    CHECK_THROWS_AS(speculator.follow(Tokens{1, 2, 3, 1, 9, 9}), ValueError);
    CHECK_THROWS_AS(speculator.observe(1, 0, 0.02), ValueError);  // nothing was proposed
    REQUIRE(speculator.propose(3).size() == 3);
    CHECK_THROWS_AS(speculator.observe(4, 0, 0.02), ValueError);
    CHECK_THROWS_AS(speculator.observe(2, 3, 0.02), ValueError);
    speculator.observe(2, 2, 0.02);
    CHECK(speculator.counts().total().drafted == 2);
    CHECK(speculator.propose(3) == Tokens{3, 1, 2});
    speculator.rewind(100);
    CHECK(speculator.length() == 5);
}

TEST_CASE("a copy goes its own way") {
    Speculator one(ungated());
    one.follow(Tokens{1, 2, 3, 1, 2});
    Speculator other = one;
    one.follow(Tokens{1, 2, 3, 1, 2, 4, 1, 2});
    CHECK(one.propose(2) == Tokens{4, 1});
    CHECK(other.propose(2) == Tokens{3, 1});
}

// Logits that follow from every token before them.
std::vector<float> logitsBehind(std::span<const TokenId> history, bool repeats) {
    std::uint64_t hash = 1;
    for (const TokenId t : history.last(std::min<std::size_t>(history.size(), repeats ? 2 : 100))) {
        hash = hash * 6364136223846793005u + static_cast<std::uint64_t>(t) + 1;
    }
    std::vector<float> logits;
    for (std::uint64_t i = 0; i < 12; ++i) logits.push_back(static_cast<float>(6 * uniformAt(hash, i)));
    return logits;
}

using Drafter = std::function<Tokens(const Tokens& history)>;

// Decodes with drafts as speculation is defined: a row is sampled behind the rows before it, until one differs.
Tokens said(std::size_t tokens, double temperature, bool repeats, const Drafter& drafter, std::size_t& drafted) {
    SamplerSettings settings;
    settings.temperature = temperature;
    settings.topK = 5;
    settings.penalties.repeat = 1.1;
    settings.seed = 11;
    Sampler sampler(settings);
    Tokens history = {1, 2, 3};
    while (history.size() < 3 + tokens) {
        const Tokens draft = drafter(history);
        drafted += draft.size();
        for (std::size_t row = 0; row <= draft.size() && history.size() < 3 + tokens; ++row) {
            history.push_back(sampler.next(logitsBehind(history, repeats), history));
            if (row < draft.size() && history.back() != draft[row]) break;
        }
    }
    return history;
}

TEST_CASE("no draft changes what is said: the speculator's, perfect, wrong and oversized ones") {
    for (const double temperature : {0.0, 0.8}) {
        for (const bool repeats : {false, true}) {
            std::size_t drafted = 0;
            const auto decode = [&](const Drafter& drafter) {
                return said(600, temperature, repeats, drafter, drafted);
            };
            const Tokens plain = decode([](const Tokens&) { return Tokens{}; });
            CHECK(drafted == 0);

            Speculator speculator(ungated());
            speculator.addReference(std::make_shared<const ReferenceText>(Tokens{1, 2, 3, 11, 11, 4, 5, 1, 0}));
            CHECK(decode([&](const Tokens& history) {
                      speculator.follow(history);
                      return speculator.propose(16);
                  }) == plain);
            CHECK(drafted > 100);
            CHECK(decode([&](const Tokens& history) {
                      return Tokens(plain.begin() + static_cast<std::ptrdiff_t>(history.size()), plain.end());
                  }) == plain);
            CHECK(decode([](const Tokens& history) { return Tokens(40, static_cast<TokenId>(history.size() % 12)); }) ==
                  plain);
        }
    }
}

TEST_CASE("the public reports' model: proposals keep its greedy text") {
    std::ifstream file(AXIAL_ORACLE "/reports.jsonl");
    if (!file) {
        MESSAGE("no oracle here");
        return;
    }
    bool isFound = false;
    for (std::string line; std::getline(file, line);) {
        const nlohmann::json report = nlohmann::json::parse(line);
        if (report["id"] != "SPEC-01") continue;
        isFound = true;
        const Tokens expected = report["expected"]["target_tokens"].get<Tokens>();
        Tokens history = report["input"]["prompt"].get<Tokens>();
        const std::size_t prompt = history.size();
        Speculator speculator(ungated());
        while (history.size() < prompt + expected.size()) {
            speculator.follow(history);
            const Tokens draft = speculator.propose(prompt + expected.size() - history.size() - 1);
            for (std::size_t row = 0; row <= draft.size(); ++row) {
                history.push_back((3 * history.back() + 1) % 11);
                if (row < draft.size() && history.back() != draft[row]) break;
            }
        }
        CHECK(Tokens(history.begin() + static_cast<std::ptrdiff_t>(prompt), history.end()) == expected);
    }
    CHECK(isFound);
}

}  // namespace
}  // namespace axial::llm
