#include "axial/llm/markers.h"

#include <algorithm>

#include "axial/llm/unicode.h"

namespace axial::llm {

namespace {
bool contains(const std::vector<TokenId>& ids, TokenId id) {
    return std::find(ids.begin(), ids.end(), id) != ids.end();
}

// Where the white space before `at` begins, but not before `first`.
std::size_t spaceBefore(std::string_view text, std::size_t first, std::size_t at) {
    while (at > first) {
        std::size_t previous = at - 1;
        while (previous > first && (static_cast<unsigned char>(text[previous]) & 0xC0) == 0x80) previous--;
        if (!isWhiteSpace(firstCharacter(text.substr(previous)).codePoint)) break;
        at = previous;
    }
    return at;
}

std::size_t spaceBehind(std::string_view text, std::size_t at) {
    while (at < text.size()) {
        const Utf8Step step = firstCharacter(text.substr(at));
        if (!isWhiteSpace(step.codePoint)) break;
        at += step.length;
    }
    return at;
}
}  // namespace

Markers::Markers(const Vocabulary& vocabulary) : vocabulary_(vocabulary) {
    for (TokenId id = 0; vocabulary.tokens.contains(id); id++) {
        if (!vocabulary.isMarker(id) || vocabulary.tokens.bytes(id).empty()) continue;
        sorted_.push_back(id);
        begins_[static_cast<unsigned char>(vocabulary.tokens.bytes(id).front())] = true;
    }
    // Of two with the same text the one with the lower number comes first.
    std::stable_sort(sorted_.begin(), sorted_.end(),
                     [&](TokenId a, TokenId b) { return vocabulary.tokens.bytes(a) < vocabulary.tokens.bytes(b); });
}

bool Markers::allowed(TokenId id, std::size_t begin, std::size_t end, std::span<const MarkerRange> ranges) const {
    auto range = std::upper_bound(ranges.begin(), ranges.end(), begin,
                                  [](std::size_t at, const MarkerRange& range) { return at < range.end; });
    for (; range != ranges.end(); ++range) {
        if (range->special == SpecialTokens::asText) return false;
        if (range->special == SpecialTokens::controlAsText && vocabulary_.tokens.type(id) != TokenType::userDefined) {
            return false;
        }
        if (range->end >= end) break;
    }
    return true;
}

// Narrows the markers that begin like the text, byte by byte.
std::optional<Markers::Found> Markers::longestAt(std::string_view text, std::size_t at,
                                                 std::span<const MarkerRange> ranges) const {
    std::optional<Found> longest;
    auto first = sorted_.begin(), last = sorted_.end();
    for (std::size_t length = 1; at + length <= text.size(); length++) {
        const auto byteOf = [&](TokenId id) {
            return static_cast<unsigned char>(vocabulary_.tokens.bytes(id)[length - 1]);
        };
        const auto wanted = static_cast<unsigned char>(text[at + length - 1]);
        first = std::partition_point(first, last, [&](TokenId id) { return byteOf(id) < wanted; });
        last = std::partition_point(first, last, [&](TokenId id) { return byteOf(id) == wanted; });
        if (first == last) break;
        if (vocabulary_.tokens.bytes(*first).size() == length) {
            if (allowed(*first, at, at + length, ranges)) longest = Found{at, at + length, *first};
            while (first != last && vocabulary_.tokens.bytes(*first).size() == length) ++first;
        }
    }
    return longest;
}

std::optional<Markers::Found> Markers::next(std::string_view text, std::size_t from,
                                            std::span<const MarkerRange> ranges) const {
    for (std::size_t at = from; at < text.size(); at++) {
        if (!begins_[static_cast<unsigned char>(text[at])]) continue;
        std::optional<Found> found = longestAt(text, at, ranges);
        if (!found) continue;
        if (contains(vocabulary_.stripsLeft, found->id)) found->begin = spaceBefore(text, from, found->begin);
        if (contains(vocabulary_.stripsRight, found->id)) found->end = spaceBehind(text, found->end);
        return found;
    }
    return std::nullopt;
}

}  // namespace axial::llm
