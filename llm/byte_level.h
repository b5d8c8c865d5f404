// The alphabet of byte-level BPE: every byte has a printable character, so that vocabularies can be written as text.
// Printable Latin-1 bytes stand for themselves, the 68 others for U+0100 and up, in order (GPT-2's encoder.py,
// bytes_to_unicode; Radford and others 2019, 2.2).
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace axial::llm {

// The character that stands for a byte: byteLevelCharacter(0x20) is U+0120.
char32_t byteLevelCharacter(std::uint8_t byte);

// Appends the bytes that a token's text stands for. False, and `bytes` as it was, if the text has a character from
// outside of the alphabet.
bool appendByteLevelBytes(std::string_view text, std::string& bytes);

}  // namespace axial::llm
