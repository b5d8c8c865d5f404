#include "axial/llm/byte_level.h"

#include <array>

#include "axial/llm/unicode.h"

namespace axial::llm {

namespace {
constexpr std::size_t alphabetEnd = 0x144;  // 256 + the 68 bytes that are not printable

constexpr bool standsForItself(int byte) {
    return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || (byte >= 0xAE && byte <= 0xFF);
}

struct Alphabet {
    std::array<char32_t, 256> character{};
    std::array<std::int16_t, alphabetEnd> byte{};
};
constexpr Alphabet makeAlphabet() {
    Alphabet alphabet;
    for (auto& entry : alphabet.byte) entry = -1;
    char32_t next = 0x100;
    for (int byte = 0; byte < 256; byte++) {
        const char32_t character = standsForItself(byte) ? static_cast<char32_t>(byte) : next++;
        alphabet.character[static_cast<std::size_t>(byte)] = character;
        alphabet.byte[character] = static_cast<std::int16_t>(byte);
    }
    return alphabet;
}
constexpr Alphabet alphabet = makeAlphabet();
}  // namespace

char32_t byteLevelCharacter(std::uint8_t byte) { return alphabet.character[byte]; }

bool appendByteLevelBytes(std::string_view text, std::string& bytes) {
    const std::size_t before = bytes.size();
    while (!text.empty()) {
        const Utf8Step step = firstCharacter(text);
        if (step.kind != Utf8Kind::character || step.codePoint >= alphabetEnd || alphabet.byte[step.codePoint] < 0) {
            bytes.resize(before);
            return false;
        }
        bytes += static_cast<char>(alphabet.byte[step.codePoint]);
        text.remove_prefix(step.length);
    }
    return true;
}

}  // namespace axial::llm
