#include "axial/llm/recycled_tokens.h"

#include <algorithm>

namespace axial::llm {

void RecycledTokens::push(TokenId token, TokenId successor) {
    Row& row = rows_[token];
    row.successors[row.pushed++ % kept] = successor;
}

std::vector<TokenId> RecycledTokens::chain(TokenId token, std::size_t longest) const {
    std::vector<TokenId> chain;
    while (chain.size() < longest) {
        const auto found = rows_.find(token);
        if (found == rows_.end()) break;
        const Row& row = found->second;
        const auto known = std::min<std::size_t>(row.pushed, kept);
        std::size_t most = 0;
        for (std::size_t back = 1; back <= known; ++back) {
            const TokenId candidate = row.successors[(row.pushed - back) % kept];
            const auto votes =
                static_cast<std::size_t>(std::count(row.successors.begin(), row.successors.begin() + known, candidate));
            if (votes > most) {
                most = votes;
                token = candidate;
            }
        }
        if (2 * most < known) break;
        chain.push_back(token);
    }
    return chain;
}

}  // namespace axial::llm
