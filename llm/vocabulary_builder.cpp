#include "axial/llm/vocabulary_builder.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <functional>

#include "axial/llm/byte_level.h"
#include "axial/llm/unicode.h"
#include "axial/tensor/error.h"

namespace axial::llm {

namespace {
// How control tokens that end a reply are spelled. Files often name just one of them as eos: Qwen's <|endoftext|> ends
// a text and <|im_end|> a turn, and either may come.
constexpr std::string_view endSpellings[] = {
    "<|im_end|>", "<|endoftext|>",         "<|eot_id|>",    "<|eom_id|>", "<|end|>", "<|end_of_text|>", "<|return|>",
    "<|call|>",   "<｜end▁of▁sentence｜>", "<end_of_turn>", "<EOT>",      "[EOT]",   "[EOS]",           "<|endofturn|>",
};

// <0x0A> is the byte 10.
bool appendSpelledByte(std::string_view text, std::string& bytes) {
    unsigned value = 0;
    if (text.size() != 6 || !text.starts_with("<0x") || text[5] != '>') return false;
    const auto [end, error] = std::from_chars(text.data() + 3, text.data() + 5, value, 16);
    if (error != std::errc{} || end != text.data() + 5) return false;
    bytes += static_cast<char>(value);
    return true;
}

std::uint32_t hashOf(std::string_view text) { return static_cast<std::uint32_t>(std::hash<std::string_view>{}(text)); }

std::string quoted(std::string_view text) {
    constexpr std::size_t most = 80;
    return "\"" + replaceInvalidUtf8(text.substr(0, most)) + (text.size() > most ? "...\"" : "\"");
}
}  // namespace

VocabularyBuilder::VocabularyBuilder(std::string source, std::vector<std::string_view> texts,
                                     const std::vector<TokenType>& types)
    : texts_(std::move(texts)) {
    vocabulary_.source = std::move(source);
    if (texts_.size() > mostTokens) {
        throw FileError("vocabulary: " + vocabulary_.source + ": " + std::to_string(texts_.size()) +
                        " tokens, more than the " + std::to_string(mostTokens) + " that are read");
    }
    slots_.resize(std::bit_ceil(texts_.size() + texts_.size() / 2 + 2));
    std::size_t total = 0;
    for (std::string_view text : texts_) total += text.size();
    vocabulary_.tokens.reserve(texts_.size(), total);
    std::string bytes;
    for (std::size_t i = 0; i < texts_.size(); i++) {
        const std::string_view text = texts_[i];
        bytes.clear();
        const bool decoded = types[i] == TokenType::normal ? appendByteLevelBytes(text, bytes)
                             : types[i] == TokenType::byte ? appendSpelledByte(text, bytes)
                                                           : false;
        vocabulary_.tokens.add(decoded ? std::string_view(bytes) : text, types[i]);
        const std::uint32_t hash = hashOf(text);
        Slot& slot = slots_[slotOf(text, hash)];
        if (slot.id == Vocabulary::noToken) slot = {hash, static_cast<TokenId>(i)};
    }
}

std::size_t VocabularyBuilder::slotOf(std::string_view text, std::uint32_t hash) const {
    std::size_t at = hash & (slots_.size() - 1);
    while (slots_[at].id != Vocabulary::noToken &&
           (slots_[at].hash != hash || texts_[static_cast<std::size_t>(slots_[at].id)] != text)) {
        at = (at + 1) & (slots_.size() - 1);
    }
    return at;
}

TokenId VocabularyBuilder::find(std::string_view text) const { return slots_[slotOf(text, hashOf(text))].id; }

void VocabularyBuilder::failMerge(std::string_view text, const std::string& why) const {
    throw FileError("vocabulary: " + vocabulary_.source + ": merge " + std::to_string(vocabulary_.merges.size()) +
                    ", " + quoted(text) + ", " + why);
}

TokenId VocabularyBuilder::piece(std::string_view text, std::string_view merge) const {
    const TokenId id = find(text);
    if (id == Vocabulary::noToken) failMerge(merge, "names " + quoted(text) + ", which is no token");
    return id;
}

void VocabularyBuilder::addMerge(std::string_view left, std::string_view right) {
    joined_.assign(left).append(right);
    if (vocabulary_.merges.size() == mostMerges) {
        failMerge(joined_, "is beyond the " + std::to_string(mostMerges) + " that are read");
    }
    if (left.empty() || right.empty()) failMerge(joined_, "has an empty piece");
    vocabulary_.merges.push_back({piece(left, joined_), piece(right, joined_), piece(joined_, joined_)});
}

void VocabularyBuilder::addMerge(std::string_view spelled) {
    const std::size_t space = spelled.find(' ');
    if (space == std::string_view::npos || space == 0 || space + 1 == spelled.size() ||
        spelled.find(' ', space + 1) != std::string_view::npos) {
        failMerge(spelled, "is not two pieces with a space between them");
    }
    addMerge(spelled.substr(0, space), spelled.substr(space + 1));
}

Vocabulary VocabularyBuilder::finish() {
    for (std::size_t byte = 0; byte < 256; byte++) {
        std::string text;
        appendUtf8(text, byteLevelCharacter(static_cast<std::uint8_t>(byte)));
        vocabulary_.byteTokens[byte] = find(text);
    }
    std::vector<TokenId>& ends = vocabulary_.endOfGeneration;
    for (std::string_view spelling : endSpellings) {
        const TokenId id = find(spelling);
        if (id != Vocabulary::noToken && vocabulary_.tokens.type(id) == TokenType::control) ends.push_back(id);
    }
    std::sort(ends.begin(), ends.end());
    ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
    return std::move(vocabulary_);
}

}  // namespace axial::llm
