// Which tokens lately followed which.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "axial/llm/token.h"

namespace axial::llm {

// For each token its last 8 successors, after Luo et al., "Turning Trash into Treasure: Accelerating Inference of Large
// Language Models with Token Recycling", 2024. Holds rows only for tokens that were seen.
class RecycledTokens {
  public:
    void push(TokenId token, TokenId successor);
    void clear() noexcept { rows_.clear(); }

    // What may follow: of each token's successors the one that is most frequent (the more recent of two), and so on, as
    // long as it has half of them; at most `longest` tokens.
    std::vector<TokenId> chain(TokenId token, std::size_t longest) const;

  private:
    static constexpr std::size_t kept = 8;
    struct Row {
        std::array<TokenId, kept> successors;
        std::uint32_t pushed = 0;  // the last one stands at (pushed - 1) mod 8
    };
    std::unordered_map<TokenId, Row> rows_;
};

}  // namespace axial::llm
