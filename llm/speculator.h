// What a conversation may say next, guessed without a model. A forward pass over several rows reads the weights once,
// so that guesses that turn out right cost little; those that turn out wrong change nothing but the time.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "axial/llm/cost_gate.h"
#include "axial/llm/draft_source.h"
#include "axial/llm/drafter.h"
#include "axial/llm/recycled_tokens.h"
#include "axial/llm/suffix_automaton.h"
#include "axial/llm/token.h"

namespace axial::llm {

// A text that replies may quote, in a form that any number of conversations share:
// std::make_shared<const ReferenceText>(tokens).
using ReferenceText = SuffixAutomaton;

struct SpeculationSettings {
    std::size_t longestDraft = 16;
    std::size_t shortestMatch = 2;  // tokens that stand before a draft and where it was found
    std::size_t longestChain = 8;   // of tokens of the recycling table
    bool gated = true;              // false: every draft is proposed, whatever it costs
};

struct DraftCounts {
    std::size_t drafts = 0, drafted = 0, accepted = 0;  // the last two in tokens
    std::size_t silences = 0;
};

struct SpeculationCounts {
    std::size_t plainSteps = 0, draftSteps = 0;
    std::size_t refused = 0;                        // drafts that would not have paid
    std::array<DraftCounts, draftSources> sources;  // by DraftSource
    DraftCounts total() const;
};

// One conversation's drafts. Behind a history it drafts, from the first of these that has something and pays:
//   1. the tokens that a grammar forces;
//   2. what followed the longest end of the history where that stood before, in the history itself or in a reference
//      text (the longest match wins, the history if two are as long): 2 (1 + match) tokens at most;
//   3. a chain of tokens that lately followed each other (recycled_tokens.h).
// A source is judged after every 64 tokens that it drafted: if less than 20 % were accepted, and time was lost by them,
// it is silent for the next 128 tokens. Whether a draft pays is for CostGate (cost_gate.h) to say.
//
// A plain copy is a conversation's fork. The same calls give the same drafts.
class Speculator : public Drafter {
  public:
    static constexpr std::size_t mostReferences = 8;

    explicit Speculator(SpeculationSettings settings = {});

    // Throws ValueError for the ninth, and for none.
    void addReference(std::shared_ptr<const ReferenceText> reference);

    // Brings what is known in step with the history: all tokens of the conversation, the one that is not in the cache
    // yet being the last. It begins as at the last call; for one that was cut or changed call rewind() before. Costs
    // what is new only. ValueError: a history that is shorter than, or ends otherwise than, what is known of it. If
    // memory is short, std::bad_alloc, and the next call begins at the history's first token again.
    void follow(std::span<const TokenId> history) override;
    // Forgets all but the first `length` tokens, as if the others had not been. Costs what is left.
    void rewind(std::size_t length) override;
    // What is known of the history.
    std::span<const TokenId> text() const { return own_.text(); }
    std::size_t length() const override { return own_.text().size(); }

    // The draft behind the history's last token: at most `room` tokens, and none if there is no draft that pays.
    // forced: the tokens that must come next (LogitProcessor::forced). others: rows of other conversations in the same
    // forward pass.
    std::vector<TokenId> propose(std::size_t room, std::span<const TokenId> forced = {},
                                 std::size_t others = 0) override;

    // What became of a step: how many tokens were drafted (propose() may have been cut short) and accepted, and the
    // seconds it took, sampling included; drafted 0 says what a plain step takes, with which all is compared. Seconds
    // that are not a number above 0 teach nothing. ValueError: more drafted than proposed, or accepted than drafted.
    void observe(std::size_t drafted, std::size_t accepted, double seconds, std::size_t others = 0) override;

    const SpeculationCounts& counts() const { return counts_; }
    const CostGate& gate() const { return gate_; }

  private:
    // A draft that did not pay is compared with what comes, so that its source's acceptance is known all the same.
    struct Shadow {
        std::vector<TokenId> draft;
        std::size_t matched = 0, matchClass = 0;
    };
    // What a source has done since it was judged last.
    struct Trial {
        std::size_t drafted = 0, accepted = 0;
        double gain = 0;
    };
    struct Source {
        DraftSource kind;
        std::array<Acceptance, matchClasses> acceptance;  // by how long the match is
        Trial trial = {};
        std::size_t silentUntil = 0;  // in committed tokens
        Shadow shadow = {};
        std::shared_ptr<const ReferenceText> reference = {};
        SuffixAutomaton::Cursor cursor = {};
    };
    struct Draft {
        std::size_t source = 0, match = 0;
        std::vector<TokenId> tokens = {};
    };
    struct Proposed {
        std::size_t source = 0, matchClass = 0, tokens = 0;
    };

    void learn(TokenId token);
    void forget() noexcept;
    void dropShadows() noexcept;
    static void compareShadow(Source& source, TokenId token);
    bool isSilent(const Source& source) const { return committed_ < source.silentUntil; }
    Draft longestMatch(std::size_t room) const;
    Draft chain(std::size_t room) const;
    std::vector<TokenId> offer(Draft draft, std::size_t others);
    void judge(Source& source, std::size_t drafted, std::size_t accepted, double gain);

    SpeculationSettings settings_;
    SuffixAutomaton own_;
    RecycledTokens recycled_;
    std::vector<Source> sources_;
    CostGate gate_;
    SpeculationCounts counts_;
    std::size_t committed_ = 0;
    Proposed proposed_;
};

}  // namespace axial::llm
