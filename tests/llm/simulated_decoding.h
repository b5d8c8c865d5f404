// Decoding with drafts on a machine whose times are written down, so that what drafts gain or lose can be computed.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "axial/llm/sampler_random.h"
#include "axial/llm/speculator.h"

namespace axial::llm::simulated {

using Tokens = std::vector<TokenId>;

// Numbers of [0, 1), the same in every run.
class Chance {
  public:
    explicit Chance(std::uint64_t seed) : seed_(seed) {}
    double number() { return uniformAt(seed_, drawn_++); }
    TokenId below(std::size_t bound) { return static_cast<TokenId>(number() * static_cast<double>(bound)); }

  private:
    std::uint64_t seed_, drawn_ = 0;
};

struct Machine {
    std::string name;
    std::function<double(std::size_t rows)> cost;  // in plain steps
};

// How the time that is observed differs from the one that counts, and how a plain step's time goes with the position.
struct Clock {
    std::string name;
    std::function<double(Chance&)> noise = [](Chance&) { return 1.0; };
    std::function<double(std::size_t position)> plainStep = [](std::size_t) { return 1.0; };
};

// What the model says at a place. predicted: what an ungated speculator would have drafted there, drafted: what stands
// in the draft that is being verified; -1: nothing.
using Model = std::function<TokenId(const Tokens& history, TokenId predicted, TokenId drafted)>;

struct Outcome {
    double seconds = 0, plainSeconds = 0;
    double speedup() const { return plainSeconds / seconds; }
};

inline Outcome decode(Speculator& speculator, Tokens history, std::size_t tokens, const Model& model,
                      const Machine& machine, const Clock& clock) {
    SpeculationSettings ungated;
    ungated.gated = false;
    Speculator all(ungated);
    Chance chance(7);
    Outcome outcome;
    const std::size_t end = history.size() + tokens;
    while (history.size() < end) {
        speculator.follow(history);
        const std::size_t position = history.size();
        const Tokens draft = speculator.propose(end - position - 1);
        std::size_t accepted = 0;
        for (bool isRight = true; isRight;) {
            all.follow(history);
            const Tokens guess = all.propose(1);
            const TokenId drafted = accepted < draft.size() ? draft[accepted] : -1;
            const TokenId said = model(history, guess.empty() ? -1 : guess[0], drafted);
            history.push_back(said);
            outcome.plainSeconds += clock.plainStep(history.size());
            isRight = said == drafted;
            accepted += isRight;
        }
        const double seconds = machine.cost(draft.size() + 1) * clock.plainStep(position);
        outcome.seconds += seconds;
        speculator.observe(draft.size(), accepted, 0.02 * seconds * clock.noise(chance), 0);
    }
    return outcome;
}

// Straight lines between (rows, cost).
inline std::function<double(std::size_t)> through(std::vector<std::pair<double, double>> points) {
    return [points](std::size_t rows) {
        std::size_t i = 1;
        while (i + 1 < points.size() && points[i].first < static_cast<double>(rows)) ++i;
        const auto [x0, y0] = points[i - 1];
        const auto [x1, y1] = points[i];
        return y0 + (static_cast<double>(rows) - x0) * (y1 - y0) / (x1 - x0);
    };
}

inline std::vector<Machine> machines() {
    return {
        {"Q4_K", through({{1, 1}, {2, 1.12}, {4, 1.4}, {8, 1.6}, {16, 2.2}, {32, 3.6}})},
        {"a mixture of experts", through({{1, 1}, {4, 3.7}, {32, 20}})},
        {"a row costs a step", [](std::size_t rows) { return static_cast<double>(rows); }},
        {"cheap up to 4 rows", [](std::size_t rows) { return rows == 1   ? 1
                                                             : rows <= 4 ? 1.2
                                                                         : 6.0; }},
        {"worse than row by row", [](std::size_t rows) { return rows == 1 ? 1 : 2 + 1.5 * static_cast<double>(rows); }},
        {"rows cost nothing", [](std::size_t rows) { return rows == 1 ? 1 : 1.05; }},
    };
}

inline std::vector<Clock> clocks() {
    const auto steady = [](std::size_t) { return 1.0; };
    const auto quiet = [](Chance&) { return 1.0; };
    return {
        {"steady", quiet, steady},
        {"noisy", [](Chance& chance) { return 0.6 + 0.8 * chance.number(); }, steady},
        {"stops for a second", [](Chance& chance) { return chance.number() < 0.01 ? 50 : 0.9 + 0.2 * chance.number(); },
         steady},
        {"slower and slower", quiet, [](std::size_t position) { return 1 + static_cast<double>(position) / 2000; }},
        {"slow at times", quiet, [](std::size_t position) { return position / 700 % 2 == 0 ? 1.0 : 2.5; }},
    };
}

// Says what was predicted, or something else, by chance.
inline Model predictable(double share, std::size_t vocabulary, std::uint64_t seed) {
    return [share, vocabulary, chance = Chance(seed)](const Tokens&, TokenId predicted, TokenId) mutable {
        const TokenId any = chance.below(vocabulary);
        return predicted >= 0 && chance.number() < share ? predicted : any;
    };
}

// Repeats itself wherever nobody drafts, and never says what was drafted.
inline Model adversary() {
    return [](const Tokens& history, TokenId predicted, TokenId drafted) -> TokenId {
        if (drafted >= 0) return drafted == 1 ? 2 : 1;
        return predicted >= 0 ? predicted : static_cast<TokenId>(history.size() % 7);
    };
}

inline Model repeating(Tokens piece) {
    return [piece = std::move(piece)](const Tokens& history, TokenId, TokenId) {
        return piece[history.size() % piece.size()];
    };
}

inline Tokens anyTokens(std::size_t count, std::size_t vocabulary, std::uint64_t seed) {
    Chance chance(seed);
    Tokens tokens;
    for (std::size_t i = 0; i < count; ++i) tokens.push_back(chance.below(vocabulary));
    return tokens;
}

}  // namespace axial::llm::simulated
