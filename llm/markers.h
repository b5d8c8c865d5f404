// Finding the tokens that are looked for in text before anything is cut: <|im_end|>, <think>.
#pragma once
#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "axial/llm/vocabulary.h"

namespace axial::llm {

// What becomes of the markers that a text spells.
enum class SpecialTokens : std::uint8_t {
    parse,          // all of them are tokens
    controlAsText,  // control tokens are text; those that are text themselves (userDefined: <think>) are tokens
    asText,         // all of them are text
};

// A stretch of text that ends at a byte, with its own answer to that.
struct MarkerRange {
    std::size_t end;
    SpecialTokens special;
};

class Markers {
  public:
    // Borrows the vocabulary.
    explicit Markers(const Vocabulary& vocabulary);

    struct Found {
        std::size_t begin, end;
        TokenId id;
    };
    // The first marker at or behind `from`, the longest of those that begin there (Hugging Face's leftmost-longest). A
    // marker counts if every range that it touches allows it; the ranges cover the text.
    std::optional<Found> next(std::string_view text, std::size_t from, std::span<const MarkerRange> ranges) const;

  private:
    bool allowed(TokenId id, std::size_t begin, std::size_t end, std::span<const MarkerRange> ranges) const;
    std::optional<Found> longestAt(std::string_view text, std::size_t at, std::span<const MarkerRange> ranges) const;

    const Vocabulary& vocabulary_;
    std::vector<TokenId> sorted_;  // by their bytes
    std::array<bool, 256> begins_{};
};

}  // namespace axial::llm
