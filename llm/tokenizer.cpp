#include "axial/llm/tokenizer.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "axial/llm/stream_decoder.h"
#include "axial/llm/unicode.h"
#include "axial/tensor/error.h"

namespace axial::llm {

Tokenizer::Tokenizer(Vocabulary vocabulary)
    : vocabulary_(std::make_unique<const Vocabulary>(std::move(vocabulary))),
      preTokenizer_(vocabulary_->splitRules),
      markers_(*vocabulary_),
      bpe_(*vocabulary_) {}

std::vector<TokenId> Tokenizer::encode(std::string_view text, SpecialTokens special) const {
    std::string replaced;
    if (!isValidUtf8(text)) text = replaced = replaceInvalidUtf8(text);
    const MarkerRange range{text.size(), special};
    return encodeRanges(text, std::span(&range, 1));
}

std::vector<TokenId> Tokenizer::encode(std::span<const TextPart> parts) const {
    std::string text;
    std::vector<MarkerRange> ranges;
    for (const TextPart& part : parts) {
        if (part.text.empty()) continue;
        text += isValidUtf8(part.text) ? part.text : replaceInvalidUtf8(part.text);
        ranges.push_back({text.size(), part.special});
    }
    return encodeRanges(text, ranges);
}

std::vector<TokenId> Tokenizer::encodeRanges(std::string_view text, std::span<const MarkerRange> ranges) const {
    std::vector<TokenId> ids;
    std::vector<std::string_view> pieces;
    Bpe::Scratch scratch;
    const auto addText = [&](std::string_view between) {
        if (between.empty()) return;
        std::string composed;
        if (vocabulary_->normalizesNfc) between = composed = normalizeNfc(between);
        pieces.clear();
        preTokenizer_.split(between, pieces);
        for (std::string_view piece : pieces) bpe_.encode(piece, scratch, ids);
    };
    std::size_t done = 0;
    while (const std::optional<Markers::Found> found = markers_.next(text, done, ranges)) {
        addText(text.substr(done, found->begin - done));
        ids.push_back(found->id);
        done = found->end;
    }
    addText(text.substr(done));
    return ids;
}

std::vector<TokenId> Tokenizer::withEnds(std::vector<TokenId> ids) const {
    if (ids.empty()) return ids;
    if (vocabulary_->addsBos && vocabulary_->bos) ids.insert(ids.begin(), *vocabulary_->bos);
    if (vocabulary_->addsEos && vocabulary_->eos) ids.push_back(*vocabulary_->eos);
    return ids;
}

std::string_view Tokenizer::piece(TokenId id) const {
    if (!vocabulary_->tokens.contains(id)) {
        throw ValueError("tokenizer: token " + std::to_string(id) + " is not one of the " +
                         std::to_string(vocabulary_->tokens.size()) + " of " + vocabulary_->source);
    }
    return vocabulary_->tokens.bytes(id);
}

std::string Tokenizer::bytes(std::span<const TokenId> ids, bool showControl) const {
    std::string joined;
    for (const TokenId id : ids) {
        const std::string_view bytes = piece(id);
        if (showControl || vocabulary_->tokens.type(id) != TokenType::control) joined += bytes;
    }
    return joined;
}

std::string Tokenizer::decode(std::span<const TokenId> ids, bool showControl) const {
    StreamDecoder decoder(*this, showControl);
    std::string text;
    for (const TokenId id : ids) text += decoder.push(id);
    return text + decoder.finish();
}

bool Tokenizer::endsGeneration(TokenId id) const {
    return std::binary_search(vocabulary_->endOfGeneration.begin(), vocabulary_->endOfGeneration.end(), id);
}

}  // namespace axial::llm
