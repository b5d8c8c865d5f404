#include "axial/llm/bpe.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <limits>

#include "axial/tensor/error.h"

namespace axial::llm {

namespace {
constexpr std::uint32_t nowhere = std::numeric_limits<std::uint32_t>::max();

// Spreads the bits of a pair of ids over the table (the finalizer of splitmix64, Steele and others 2014).
std::uint64_t mixed(TokenId left, TokenId right) {
    std::uint64_t value =
        static_cast<std::uint64_t>(static_cast<std::uint32_t>(left)) << 32 | static_cast<std::uint32_t>(right);
    value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9u;
    value = (value ^ value >> 27) * 0x94D049BB133111EBu;
    return value ^ value >> 31;
}
}  // namespace

Bpe::Bpe(const Vocabulary& vocabulary)
    : tokens_(vocabulary.tokens),
      merges_(vocabulary.merges),
      byteTokens_(vocabulary.byteTokens),
      unknown_(vocabulary.unknown.value_or(Vocabulary::noToken)),
      ranks_(std::bit_ceil(2 * vocabulary.merges.size() + 2), noRank) {
    for (std::uint32_t rank = 0; rank < merges_.size(); rank++) {
        std::uint32_t& slot = ranks_[slotOf(merges_[rank].left, merges_[rank].right)];
        if (slot == noRank) slot = rank;
    }
    if (!vocabulary.ignoresMerges) return;
    wholes_.assign(std::bit_ceil(2 * tokens_.size() + 2), Vocabulary::noToken);
    for (TokenId id = 0; tokens_.contains(id); id++) {
        if (tokens_.type(id) != TokenType::normal) continue;
        std::size_t at = std::hash<std::string_view>{}(tokens_.bytes(id)) & (wholes_.size() - 1);
        while (wholes_[at] != Vocabulary::noToken) at = (at + 1) & (wholes_.size() - 1);
        wholes_[at] = id;
    }
}

std::size_t Bpe::slotOf(TokenId left, TokenId right) const {
    std::size_t at = mixed(left, right) & (ranks_.size() - 1);
    while (ranks_[at] != noRank && (merges_[ranks_[at]].left != left || merges_[ranks_[at]].right != right)) {
        at = (at + 1) & (ranks_.size() - 1);
    }
    return at;
}

TokenId Bpe::wholeToken(std::string_view piece) const {
    if (wholes_.empty()) return Vocabulary::noToken;
    std::size_t at = std::hash<std::string_view>{}(piece) & (wholes_.size() - 1);
    while (wholes_[at] != Vocabulary::noToken && tokens_.bytes(wholes_[at]) != piece)
        at = (at + 1) & (wholes_.size() - 1);
    return wholes_[at];
}

void Bpe::encode(std::string_view piece, Scratch& scratch, std::vector<TokenId>& ids) const {
    if (piece.size() >= nowhere) {
        throw ValueError("tokenizer: a piece of " + std::to_string(piece.size()) + " bytes is longer than 4 GiB");
    }
    if (const TokenId whole = wholeToken(piece); whole != Vocabulary::noToken) {
        ids.push_back(whole);
        return;
    }
    auto& symbols = scratch.symbols;
    symbols.clear();
    for (const char byte : piece) {
        TokenId id = byteTokens_[static_cast<unsigned char>(byte)];
        if (id == Vocabulary::noToken) id = unknown_;
        if (id == Vocabulary::noToken) continue;
        const auto at = static_cast<std::uint32_t>(symbols.size());
        symbols.push_back({id, at - 1, at + 1});  // the first's previous is `nowhere`
    }
    if (symbols.empty()) return;
    symbols.back().next = nowhere;

    auto& heap = scratch.heap;
    heap.clear();
    const auto consider = [&](std::uint32_t left, std::uint32_t right) {
        const std::uint32_t rank = rankOf(symbols[left].id, symbols[right].id);
        if (rank != noRank) heap.push_back(static_cast<std::uint64_t>(rank) << 32 | left);
        return rank != noRank;
    };
    for (std::uint32_t at = 0; at + 1 < symbols.size(); at++) consider(at, at + 1);
    std::make_heap(heap.begin(), heap.end(), std::greater<>());
    while (!heap.empty()) {
        std::pop_heap(heap.begin(), heap.end(), std::greater<>());
        const Merge& merge = merges_[heap.back() >> 32];
        const auto at = static_cast<std::uint32_t>(heap.back());
        heap.pop_back();
        const std::uint32_t right = symbols[at].next;
        // Either of the two may have been merged with another neighbour since.
        if (symbols[at].id != merge.left || right == nowhere || symbols[right].id != merge.right) continue;
        const std::uint32_t next = symbols[right].next, previous = symbols[at].previous;
        symbols[at].id = merge.merged;
        symbols[at].next = next;
        symbols[right].id = Vocabulary::noToken;
        if (next != nowhere) {
            symbols[next].previous = at;
            if (consider(at, next)) std::push_heap(heap.begin(), heap.end(), std::greater<>());
        }
        if (previous != nowhere && consider(previous, at)) std::push_heap(heap.begin(), heap.end(), std::greater<>());
    }
    for (std::uint32_t at = 0; at != nowhere; at = symbols[at].next) ids.push_back(symbols[at].id);
}

}  // namespace axial::llm
