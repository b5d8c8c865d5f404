// UTF-8 and the parts of Unicode that a tokenizer needs.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace axial::llm {

enum class Utf8Kind : std::uint8_t {
    character,   // one well-formed character
    invalid,     // a maximal ill-formed subsequence (Unicode 16, 3.9): what U+FFFD stands for
    incomplete,  // the text ends inside a character that is well-formed so far
};

struct Utf8Step {
    Utf8Kind kind;
    std::uint8_t length;  // in bytes
    char32_t codePoint;   // of a character; U+FFFD otherwise
};

// The first character of a text, or what stands in its place. The text must not be empty.
Utf8Step firstCharacter(std::string_view text);

bool isValidUtf8(std::string_view text);

// Each maximal ill-formed subsequence becomes U+FFFD, an incomplete character at the end as well: the WHATWG Encoding
// Standard's "replacement" mode, 4.1. Any bytes are allowed, NUL among them.
std::string replaceInvalidUtf8(std::string_view text);

void appendUtf8(std::string& text, char32_t codePoint);

// White_Space of the Unicode Character Database, as the regular expressions' \s understands it.
bool isWhiteSpace(char32_t codePoint);

// A text without the white space at its ends, as Python's str.strip() and so Jinja's trim take it: White_Space and the
// separators U+001C to U+001F.
std::string_view trimmed(std::string_view text);

// Normalization Form C (Unicode Standard Annex 15) of well-formed UTF-8, in time O(n log n) for any input.
std::string normalizeNfc(std::string_view text);

}  // namespace axial::llm
