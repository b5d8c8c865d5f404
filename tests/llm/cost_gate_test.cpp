// Checks what drafts cost and gain on simulated machines: speculation is never slower than 0.97 of plain decoding, and
// fast where a text repeats itself.
#include "axial/llm/cost_gate.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <utility>

#include "llm/simulated_decoding.h"

namespace axial::llm {
namespace {

using namespace simulated;

constexpr std::size_t length = 4000;

const std::vector<std::pair<const char*, Model>>& unhelpfulTexts() {
    static const std::vector<std::pair<const char*, Model>> texts = {
        {"never says what was drafted", adversary()},      {"any of 50 tokens", predictable(0, 50, 1)},
        {"any of 30000 tokens", predictable(0, 30000, 1)}, {"one guess of five is right", predictable(0.2, 300, 2)},
        {"two of five", predictable(0.4, 300, 3)},         {"nine of ten", predictable(0.9, 300, 5)},
    };
    return texts;
}

TEST_CASE("no text makes speculation slower than 0.97 of plain decoding, on any machine") {
    double least = 2;
    for (const Machine& machine : machines()) {
        for (const Clock& clock : clocks()) {
            for (const auto& [name, text] : unhelpfulTexts()) {
                CAPTURE(machine.name);
                CAPTURE(clock.name);
                CAPTURE(name);
                Speculator speculator;
                const double speedup = decode(speculator, {0}, length, text, machine, clock).speedup();
                CHECK(speedup >= 0.97);
                least = std::min(least, speedup);
            }
        }
    }
    MESSAGE("slowest: " << least << " of plain decoding");
    CHECK(least < 1);  // else nothing was risked
}

TEST_CASE("without the gate the same texts are slower, so that the gate is what saves them") {
    SpeculationSettings ungated;
    ungated.gated = false;
    Speculator speculator(ungated);
    CHECK(decode(speculator, {0}, length, adversary(), machines()[1], clocks()[0]).speedup() < 0.9);
}

TEST_CASE("a text that repeats itself is more than 2.5 times as fast") {
    for (const Clock& clock : clocks()) {
        CAPTURE(clock.name);
        Speculator speculator;
        const Model text = repeating(anyTokens(300, 1000, 9));
        const double speedup = decode(speculator, {0}, length, text, machines()[0], clock).speedup();
        MESSAGE(clock.name << ": " << speedup);
        CHECK(speedup >= 2.5);
        CHECK(speculator.counts().total().accepted > 3000);
    }
}

TEST_CASE("drafts begin again soon after a text begins to repeat itself") {
    const Tokens piece = anyTokens(200, 1000, 9);
    Model any = predictable(0, 5, 4);
    const Model text = [&](const Tokens& history, TokenId predicted, TokenId drafted) {
        return history.size() < 2000 ? any(history, predicted, drafted) : piece[history.size() % piece.size()];
    };
    Speculator speculator;
    decode(speculator, {0}, 2200, text, machines()[0], clocks()[0]);
    const std::size_t before = speculator.counts().total().accepted;
    Tokens history(speculator.text().begin(), speculator.text().end());
    // 400 more tokens, all of them foreseeable.
    CHECK(decode(speculator, history, 400, text, machines()[0], clocks()[0]).speedup() > 2.5);
    CHECK(speculator.counts().total().accepted > before + 250);
}

TEST_CASE("the cost of rows is learned, and between two that were seen it is in between") {
    StepCosts costs;
    CHECK(costs.of(1) == 1);
    CHECK(costs.of(4) == doctest::Approx(1.4));
    CHECK(costs.of(8) == doctest::Approx(1.6));
    CHECK(costs.of(6) == doctest::Approx(1.5));
    CHECK(costs.of(100) > costs.of(64));
    for (int i = 0; i < 20; ++i) costs.observe(4, 3.7);
    CHECK(costs.of(4) == doctest::Approx(3.7).epsilon(0.02));
    CHECK(costs.of(2) > 1.4);
    CHECK(costs.of(2) < 2.5);
    CHECK(costs.of(8) > 3.7);  // what was wrong for four rows will be for more
    for (int i = 0; i < 20; ++i) costs.observe(8, 4);
    CHECK(costs.of(8) == doctest::Approx(4).epsilon(0.02));
    CHECK(costs.of(6) > 3.5);
    CHECK(costs.of(6) < 4.2);
    costs.observe(4, 1000);  // a second in which another program ran
    CHECK(costs.of(4) < 1.3 * 3.7);
    for (int i = 0; i < 20; ++i) costs.observe(2, 0.1);
    CHECK(costs.of(2) == 1);  // no step is shorter than one with fewer rows
}

TEST_CASE("there are no drafts before two plain steps, and times that are none teach nothing") {
    const Acceptance sure(1);
    CostGate gate;
    CHECK(gate.choose(sure, 16, 0) == 0);
    gate.observe(0, 0, 0.02, 0);
    CHECK(gate.choose(sure, 16, 0) == 0);
    gate.observe(0, 0, 0.02, 0);
    CHECK(gate.choose(sure, 16, 0) > 4);
    CHECK(gate.choose(sure, 3, 0) == 3);
    CHECK(gate.choose(sure, 0, 0) == 0);
    for (const double seconds : {0.0, -1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
        gate.observe(0, 0, seconds, 0);
        gate.observe(4, 4, seconds, 0);
        CHECK(gate.plainSeconds() == doctest::Approx(0.02));
        CHECK(gate.costs().of(5) == StepCosts().of(5));
    }
    CHECK(gate.choose(sure, 16, 0) > 4);
}

TEST_CASE("one step of 33 is plain") {
    CostGate gate;
    gate.observe(0, 0, 0.02, 0);
    gate.observe(0, 0, 0.02, 0);
    for (int i = 0; i < 32; ++i) {
        CHECK(gate.choose(Acceptance(1), 4, 0) > 0);
        gate.observe(4, 4, 0.028, 0);
    }
    CHECK(gate.choose(Acceptance(1), 4, 0) == 0);
    gate.observe(0, 0, 0.02, 0);
    CHECK(gate.choose(Acceptance(1), 4, 0) > 0);
}

// Eight conversations in one step: each is told the rows of the others.
double speedupOfBatch(const Machine& machine, const Model& text, std::size_t steps) {
    constexpr std::size_t conversations = 8;
    std::vector<Speculator> speculators(conversations);
    std::vector<Tokens> histories;
    for (std::size_t c = 0; c < conversations; ++c) histories.push_back({static_cast<TokenId>(c)});
    double seconds = 0, committed = 0;
    Chance chance(3);
    for (std::size_t step = 0; step < steps; ++step) {
        std::vector<Tokens> drafts;
        std::size_t rows = conversations;
        for (std::size_t c = 0; c < conversations; ++c) {
            speculators[c].follow(histories[c]);
            drafts.push_back(speculators[c].propose(16, {}, rows - 1));
            rows += drafts[c].size();
        }
        seconds += machine.cost(rows);
        for (std::size_t c = 0; c < conversations; ++c) {
            std::size_t accepted = 0;
            for (bool isRight = true; isRight;) {
                const TokenId drafted = accepted < drafts[c].size() ? drafts[c][accepted] : -1;
                const TokenId said = text(histories[c], -1, drafted);
                histories[c].push_back(said);
                ++committed;
                isRight = said == drafted;
                accepted += isRight;
            }
            speculators[c].observe(drafts[c].size(), accepted,
                                   0.02 * machine.cost(rows) * (0.9 + 0.2 * chance.number()),
                                   rows - 1 - drafts[c].size());
        }
    }
    return committed / static_cast<double>(conversations) * machine.cost(conversations) / seconds;
}

TEST_CASE("a batch is not slowed by its drafts either, and gains by good ones") {
    for (const Machine& machine : machines()) {
        CAPTURE(machine.name);
        CHECK(speedupOfBatch(machine, adversary(), 1000) >= 0.97);
        CHECK(speedupOfBatch(machine, predictable(0, 20, 2), 1000) >= 0.97);
        CHECK(speedupOfBatch(machine, repeating(anyTokens(100, 1000, 9)), 500) >= 0.97);
    }
    const double speedup = speedupOfBatch(machines()[0], repeating(anyTokens(100, 1000, 9)), 1000);
    MESSAGE("eight conversations that repeat themselves: " << speedup);
    CHECK(speedup > 1.5);
}

}  // namespace
}  // namespace axial::llm
