// Drafts for tests of speculation: right, wrong, and impossible ones.
#pragma once
#include <doctest/doctest.h>

#include <functional>
#include <utility>
#include <vector>

#include "axial/llm/drafter.h"
#include "axial/llm/sampler_random.h"

namespace axial::llm {

// Drafts what `guess` says, and checks that what it is told is in order.
class FakeDrafter : public Drafter {
  public:
    using Guess = std::function<std::vector<TokenId>(std::span<const TokenId> history, std::size_t room)>;
    explicit FakeDrafter(Guess guess) : guess_(std::move(guess)) {}

    std::size_t length() const override { return text_.size(); }
    void rewind(std::size_t length) override {
        REQUIRE(length <= text_.size());
        text_.resize(length);
    }
    void follow(std::span<const TokenId> history) override {
        REQUIRE(history.size() >= text_.size());
        CHECK(std::equal(text_.begin(), text_.end(), history.begin()));
        text_.assign(history.begin(), history.end());
    }
    std::vector<TokenId> propose(std::size_t room, std::span<const TokenId>, std::size_t) override {
        CHECK(room > 0);
        return guess_(text_, room);
    }
    void observe(std::size_t drafted, std::size_t accepted, double seconds, std::size_t) override {
        CHECK(accepted <= drafted);
        CHECK(seconds > 0);
        if (drafted > 0) steps.emplace_back(drafted, accepted);
    }

    std::vector<std::pair<std::size_t, std::size_t>> steps;  // drafted and accepted, where there was a draft

  private:
    Guess guess_;
    std::vector<TokenId> text_;
};

// Drafts the next `count` tokens of a text that is known beforehand, as far as the history agrees with it.
inline FakeDrafter::Guess rightGuesses(std::vector<TokenId> text, std::size_t count) {
    return [text = std::move(text), count](std::span<const TokenId> history, std::size_t) {
        std::vector<TokenId> draft;
        if (history.size() > text.size() || !std::equal(history.begin(), history.end(), text.begin())) return draft;
        for (std::size_t i = history.size(); i < text.size() && draft.size() < count; ++i) draft.push_back(text[i]);
        return draft;
    };
}

// Drafts 0 to 19 tokens that have nothing to do with the text: more than there is room for, and ids that do not exist.
inline FakeDrafter::Guess wildGuesses(std::uint64_t seed, TokenId vocabulary) {
    return [=](std::span<const TokenId> history, std::size_t) {
        std::vector<TokenId> draft(static_cast<std::size_t>(20 * uniformAt(seed, history.size())));
        for (std::size_t i = 0; i < draft.size(); ++i)
            draft[i] = static_cast<TokenId>(uniformAt(seed + 1, 100 * history.size() + i) * (vocabulary + 1)) -
                       (i % 7 == 6 ? 1 : 0);
        return draft;
    };
}

// Drafts that are right for some tokens and then wrong.
inline FakeDrafter::Guess mixedGuesses(std::vector<TokenId> text, std::uint64_t seed, TokenId vocabulary) {
    return [right = rightGuesses(std::move(text), 12), seed, vocabulary](std::span<const TokenId> history,
                                                                         std::size_t room) {
        std::vector<TokenId> draft = right(history, room);
        for (std::size_t i = 0; i < draft.size(); ++i)
            if (uniformAt(seed, 50 * history.size() + i) < 0.15) draft[i] = (draft[i] + 1) % vocabulary;
        return draft;
    };
}

}  // namespace axial::llm
