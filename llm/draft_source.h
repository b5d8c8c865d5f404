// Where a draft comes from, and how often drafts of a kind come true.
#pragma once
#include <algorithm>
#include <bit>
#include <cstddef>

namespace axial::llm {

enum class DraftSource { grammar, conversation, reference, recycled };
inline constexpr std::size_t draftSources = 4;

// Drafts behind longer matches come true more often, so each class of lengths has its own record:
// up to 3 tokens, 4 to 7, 8 to 15, and more.
inline constexpr std::size_t matchClasses = 4;
constexpr std::size_t matchClassOf(std::size_t match) {
    return std::clamp<std::size_t>(std::bit_width(match), 2, matchClasses + 1) - 2;
}

// How often drafted tokens were accepted lately. A draft's first token is counted apart: it says whether the place is
// the right one, and behind a right one the others mostly are right too.
class Acceptance {
  public:
    // As if a few drafts of that kind had been seen: the share of drafts whose first token was accepted.
    explicit Acceptance(double first) : first_{2 * first, 2}, further_{2.4, 3} {}

    // Tokens of a draft are accepted up to the first wrong one; what lies behind that says nothing.
    void observe(std::size_t drafted, std::size_t accepted) {
        for (std::size_t i = 0; i < std::min(drafted, accepted + 1); ++i)
            (i == 0 ? first_ : further_).add(i < accepted);
    }

    // How many tokens of a draft of `drafted` will be accepted, on average: p + p q + p q^2 + ...
    double expected(std::size_t drafted) const {
        double sum = 0, reached = first_.rate();
        for (std::size_t i = 0; i < drafted; ++i, reached *= further_.rate()) sum += reached;
        return sum;
    }

  private:
    struct Share {
        double accepted, all;
        double rate() const { return accepted / all; }
        void add(bool isAccepted) {
            constexpr double kept = 1 - 1.0 / 32;  // a token's weight among the later ones
            accepted = kept * accepted + isAccepted;
            all = kept * all + 1;
        }
    };
    Share first_, further_;
};

}  // namespace axial::llm
