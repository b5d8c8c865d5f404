// Byte-pair merging (Sennrich and others 2016): from bytes to tokens.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "axial/llm/vocabulary.h"

namespace axial::llm {

// Immutable, and usable by any number of threads at once. Borrows the vocabulary.
class Bpe {
  public:
    explicit Bpe(const Vocabulary& vocabulary);

    // Working memory for encode(), so that the pieces of one text can share it.
    struct Scratch {
        struct Symbol {
            TokenId id;
            std::uint32_t previous, next;
        };
        std::vector<Symbol> symbols;
        std::vector<std::uint64_t> heap;  // a merge's rank, then its place: the best first, the leftmost of equals
    };

    // Appends the tokens of a piece: of all neighbours with a merge, the best is merged, the leftmost first, until none
    // is left. O(n log n) for any piece.
    void encode(std::string_view piece, Scratch& scratch, std::vector<TokenId>& ids) const;

  private:
    static constexpr std::uint32_t noRank = 0xFFFFFFFF;
    std::size_t slotOf(TokenId left, TokenId right) const;
    TokenId wholeToken(std::string_view piece) const;
    std::uint32_t rankOf(TokenId left, TokenId right) const { return ranks_[slotOf(left, right)]; }

    const TokenList& tokens_;
    const std::vector<Merge>& merges_;
    std::array<TokenId, 256> byteTokens_;
    TokenId unknown_;
    std::vector<std::uint32_t> ranks_;  // a hash table of merges by their two pieces, with linear probing
    std::vector<TokenId> wholes_;       // one of tokens by their bytes; empty unless merges can be ignored
};

}  // namespace axial::llm
