// Where the end of a text stood in it before, or in another text: what followed there may follow here.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "axial/llm/token.h"

namespace axial::llm {

// The suffix automaton of a text that grows at its end (Blumer et al., "The smallest automaton recognizing the subwords
// of a text", 1985): the states are sets of substrings that end at the same places, so that the longest match is known
// after every token in amortised constant time (times the logarithm of how many tokens may follow a substring).
// About 80 bytes a token.
class SuffixAutomaton {
  public:
    // `length` tokens of the text, behind which lies position `end`. Length 0: none.
    struct Match {
        std::size_t length = 0, end = 0;
        bool operator==(const Match&) const = default;
    };

    SuffixAutomaton() { clear(); }
    explicit SuffixAutomaton(std::span<const TokenId> text);

    std::span<const TokenId> text() const { return text_; }
    // Memory held, in bytes.
    std::size_t bytes() const;

    // Appends a token. When memory is short it throws std::bad_alloc, and the text is empty from then on.
    void push(TokenId token);
    void clear() noexcept;

    // The longest end of the text that also ends before the end of the text (the two may overlap), and of its earlier
    // ends the most recent one; of a substring in runs of more than 256 repetitions perhaps one further back.
    Match earlier() const { return earlier_; }

    // Follows another text: the longest of its ends that stands in this one.
    struct Cursor {
        std::uint32_t state = 0, length = 0;
    };
    void advance(Cursor& cursor, TokenId token) const;
    // Where what a cursor has matched stands in this text last.
    Match matchOf(const Cursor& cursor) const;

  private:
    static constexpr std::uint32_t none = ~std::uint32_t{0};

    struct Edge {
        TokenId token;
        std::uint32_t target;
    };
    // Most states have one edge, which stands in `edge`; of more, `edge.target` is the place in edges_, where they are
    // sorted by token in a block whose size is the next power of two.
    struct State {
        std::uint32_t length;  // of its longest substring
        std::uint32_t link;    // the state of the longest end of its substrings that is in another state
        std::uint32_t recent;  // the position behind the last place where it stands
        std::uint32_t edges;
        Edge edge;
    };

    void extend(TokenId token);
    std::uint32_t split(std::uint32_t at, TokenId token);
    std::uint32_t addState(const State& state);
    const Edge* find(std::uint32_t state, TokenId token) const;
    Edge* find(std::uint32_t state, TokenId token);
    void addEdge(std::uint32_t state, Edge edge);
    std::uint32_t block(std::uint32_t size);
    void release(std::uint32_t block, std::uint32_t size);

    std::vector<TokenId> text_;
    std::vector<State> states_;
    std::vector<Edge> edges_;
    std::array<std::uint32_t, 32> freeBlocks_;  // by the logarithm of their size; each names the next
    std::uint32_t last_ = 0;
    Match earlier_;
};

}  // namespace axial::llm
