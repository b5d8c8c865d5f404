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
std::uint64_t mixed(std::uint64_t value) {
    value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9u;
    value = (value ^ value >> 27) * 0x94D049BB133111EBu;
    return value ^ value >> 31;
}

bool worse(const Bpe::Scratch::Candidate& a, const Bpe::Scratch::Candidate& b) { return a.order > b.order; }
}  // namespace

Bpe::Bpe(const Vocabulary& vocabulary)
    : tokens_(vocabulary.tokens),
      byteTokens_(vocabulary.byteTokens),
      unknown_(vocabulary.unknown.value_or(Vocabulary::noToken)),
      rules_(std::bit_ceil(2 * vocabulary.merges.size() + 2)) {
    std::uint32_t rank = 0;
    for (const Merge& merge : vocabulary.merges) {
        const std::uint64_t pair = pairOf(merge.left, merge.right);
        Rule& rule = rules_[slotOf(pair)];
        if (rule.merged == Vocabulary::noToken) rule = {pair, rank, merge.merged};
        rank++;
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

std::size_t Bpe::slotOf(std::uint64_t pair) const {
    std::size_t at = mixed(pair) & (rules_.size() - 1);
    while (rules_[at].merged != Vocabulary::noToken && rules_[at].pair != pair) at = (at + 1) & (rules_.size() - 1);
    return at;
}

TokenId Bpe::wholeToken(std::string_view piece) const {
    if (wholes_.empty()) return Vocabulary::noToken;
    std::size_t at = std::hash<std::string_view>{}(piece) & (wholes_.size() - 1);
    while (wholes_[at] != Vocabulary::noToken && tokens_.bytes(wholes_[at]) != piece)
        at = (at + 1) & (wholes_.size() - 1);
    return wholes_[at];
}

void Bpe::consider(Scratch& scratch, std::uint32_t left, std::uint32_t right) const {
    const TokenId leftId = scratch.symbols[left].id, rightId = scratch.symbols[right].id;
    const Rule& rule = rules_[slotOf(pairOf(leftId, rightId))];
    if (rule.merged == Vocabulary::noToken) return;
    scratch.heap.push_back({static_cast<std::uint64_t>(rule.rank) << 32 | left, leftId, rightId, rule.merged});
    std::push_heap(scratch.heap.begin(), scratch.heap.end(), worse);
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

    scratch.heap.clear();
    for (std::uint32_t at = 0; at + 1 < symbols.size(); at++) consider(scratch, at, at + 1);
    while (!scratch.heap.empty()) {
        std::pop_heap(scratch.heap.begin(), scratch.heap.end(), worse);
        const Scratch::Candidate best = scratch.heap.back();
        scratch.heap.pop_back();
        const auto at = static_cast<std::uint32_t>(best.order);
        const std::uint32_t right = symbols[at].next;
        // Either of the two may have been merged with another neighbour since.
        if (symbols[at].id != best.left || right == nowhere || symbols[right].id != best.right) continue;
        symbols[at].id = best.merged;
        symbols[at].next = symbols[right].next;
        symbols[right].id = Vocabulary::noToken;
        if (symbols[at].next != nowhere) {
            symbols[symbols[at].next].previous = at;
            consider(scratch, at, symbols[at].next);
        }
        if (symbols[at].previous != nowhere) consider(scratch, symbols[at].previous, at);
    }
    for (std::uint32_t at = 0; at != nowhere; at = symbols[at].next) ids.push_back(symbols[at].id);
}

}  // namespace axial::llm
