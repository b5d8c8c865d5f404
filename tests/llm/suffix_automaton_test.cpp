// Checks the suffix automaton against a search that looks everywhere.
#include "axial/llm/suffix_automaton.h"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace axial::llm {
namespace {

using Tokens = std::vector<TokenId>;
using Match = SuffixAutomaton::Match;

// How many tokens before `end` in `text` are those at the end of `sought`.
std::size_t common(const Tokens& text, std::size_t end, const Tokens& sought) {
    std::size_t length = 0;
    while (length < std::min(end, sought.size()) && text[end - 1 - length] == sought[sought.size() - 1 - length]) {
        ++length;
    }
    return length;
}

// The longest end of `sought` in `text` that ends before position `limit`; the last of them.
Match searched(const Tokens& text, std::size_t limit, const Tokens& sought) {
    Match best;
    for (std::size_t end = 1; end < limit; ++end) {
        const std::size_t length = common(text, end, sought);
        if (length > 0 && length >= best.length) best = {length, end};
    }
    return best;
}

Tokens tokens(const std::vector<unsigned>& numbers, unsigned alphabet) {
    Tokens result;
    for (const unsigned n : numbers) result.push_back(static_cast<TokenId>(n % alphabet));
    return result;
}

TEST_CASE("the longest earlier match of every beginning of a text") {
    CHECK(rc::check("as found by looking everywhere", [](const std::vector<unsigned>& numbers) {
        const auto alphabet = *rc::gen::element(1u, 2u, 3u, 5u, 40u);
        SuffixAutomaton automaton;
        Tokens text;
        for (const TokenId token : tokens(numbers, alphabet)) {
            automaton.push(token);
            text.push_back(token);
            RC_ASSERT(automaton.earlier() == searched(text, text.size(), text));
        }
        RC_ASSERT(std::ranges::equal(automaton.text(), text));
    }));
}

TEST_CASE("pieces that come again, in texts of some length") {
    CHECK(rc::check("as found by looking everywhere", [] {
        Tokens text;
        const auto pieces = *rc::gen::container<std::vector<Tokens>>(
            4, rc::gen::container<Tokens>(*rc::gen::inRange(1, 9), rc::gen::inRange(0, 6)));
        SuffixAutomaton automaton;
        for (int i = 0; i < 40 && text.size() < 250; ++i) {
            for (const TokenId token : pieces[*rc::gen::inRange(0, 4)]) {
                automaton.push(token);
                text.push_back(token);
                RC_ASSERT(automaton.earlier() == searched(text, text.size(), text));
            }
        }
    }));
}

TEST_CASE("a cursor finds the longest end of one text in another") {
    CHECK(rc::check("as found by looking everywhere",
                    [](const std::vector<unsigned>& numbers, const std::vector<unsigned>& others) {
                        const auto alphabet = *rc::gen::element(1u, 2u, 3u, 5u, 40u);
                        const Tokens text = tokens(numbers, alphabet), other = tokens(others, alphabet + 1);
                        const SuffixAutomaton automaton(text);
                        SuffixAutomaton::Cursor cursor;
                        Tokens read;
                        for (const TokenId token : other) {
                            automaton.advance(cursor, token);
                            read.push_back(token);
                            RC_ASSERT(automaton.matchOf(cursor) == searched(text, text.size() + 1, read));
                        }
                    }));
}

TEST_CASE("a cleared automaton is a new one") {
    CHECK(rc::check("the same matches", [](const std::vector<unsigned>& before, const std::vector<unsigned>& after) {
        SuffixAutomaton used(tokens(before, 3)), fresh;
        used.clear();
        RC_ASSERT(used.earlier() == Match{});
        for (const TokenId token : tokens(after, 3)) {
            used.push(token);
            fresh.push(token);
            RC_ASSERT(used.earlier() == fresh.earlier());
        }
    }));
}

TEST_CASE("one token thousands of times is as fast as any text, and its match as long") {
    SuffixAutomaton automaton;
    for (std::size_t n = 0; n < 20000; ++n) {
        automaton.push(7);
        CHECK(automaton.earlier() == Match{n, n == 0 ? 0 : n});
    }
    // Behind a run longer than what is brought up to date, the match is right though perhaps not the last.
    automaton.push(8);
    for (std::size_t n = 1; n < 1000; ++n) {
        automaton.push(7);
        REQUIRE(automaton.earlier().length == n);
        REQUIRE(automaton.earlier().end <= 20000);
        REQUIRE(automaton.earlier().end >= n);
    }
}

TEST_CASE("memory of texts whose tokens come with the frequencies of words") {
    // Zipf's law: the token of rank r comes 1 / r as often as the first.
    SuffixAutomaton automaton;
    std::uint64_t state = 1;
    const auto next = [&] { return (state = state * 6364136223846793005u + 1442695040888963407u) >> 33; };
    constexpr std::size_t length = 50000;
    for (std::size_t i = 0; i < length; ++i) {
        const double share = static_cast<double>(next() % 1000000) / 1e6;
        automaton.push(static_cast<TokenId>(std::pow(20000.0, share)));
    }
    MESSAGE("bytes a token: " << automaton.bytes() / length);
    CHECK(automaton.bytes() / length < 110);
}

}  // namespace
}  // namespace axial::llm
