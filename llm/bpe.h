// Byte-pair merging (Sennrich and others 2016): from bytes to tokens.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "axial/llm/vocabulary.h"

namespace axial::llm {

// Immutable, and usable by any number of threads at once. Keeps what it needs of the vocabulary, but for its tokens'
// bytes, which must stay where they are.
class Bpe {
  public:
    explicit Bpe(const Vocabulary& vocabulary);

    // Working memory for encode(), so that pieces of one text can share it.
    struct Scratch {
        struct Symbol {
            TokenId id;
            std::uint32_t previous, next;
        };
        struct Candidate {
            std::uint64_t order;  // rank, then place: the best merge first, the leftmost of equals
            TokenId left, right, merged;
        };
        std::vector<Symbol> symbols;
        std::vector<Candidate> heap;
    };

    // Appends the tokens of a piece: of all neighbours with a merge, the best is merged, the leftmost first, until none
    // is left. O(n log n) for any piece.
    void encode(std::string_view piece, Scratch& scratch, std::vector<TokenId>& ids) const;

  private:
    struct Rule {
        std::uint64_t pair = 0;
        std::uint32_t rank = 0;
        TokenId merged = Vocabulary::noToken;
    };
    static std::uint64_t pairOf(TokenId left, TokenId right) {
        return static_cast<std::uint64_t>(static_cast<std::uint32_t>(left)) << 32 | static_cast<std::uint32_t>(right);
    }
    std::size_t slotOf(std::uint64_t pair) const;
    TokenId wholeToken(std::string_view piece) const;
    void consider(Scratch& scratch, std::uint32_t left, std::uint32_t right) const;

    const TokenList& tokens_;
    std::array<TokenId, 256> byteTokens_;
    TokenId unknown_;
    std::vector<Rule> rules_;      // a hash table with linear probing
    std::vector<TokenId> wholes_;  // the same, of tokens by their bytes; empty unless merges can be ignored
};

}  // namespace axial::llm
