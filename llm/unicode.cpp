#include "axial/llm/unicode.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <vector>

namespace axial::llm {

namespace {
constexpr char32_t replacement = 0xFFFD;

// How many bytes a lead byte asks for, and the range of the second byte: table 3-7 of the Unicode Standard. Overlong
// forms, surrogates and values above U+10FFFF are excluded by the second byte alone.
struct Lead {
    std::uint8_t length, secondFirst, secondLast;
};
Lead leadOf(std::uint8_t byte) {
    if (byte < 0x80) return {1, 0, 0};
    if (byte < 0xC2) return {0, 0, 0};
    if (byte < 0xE0) return {2, 0x80, 0xBF};
    if (byte < 0xF0) {
        return {3, static_cast<std::uint8_t>(byte == 0xE0 ? 0xA0 : 0x80),
                static_cast<std::uint8_t>(byte == 0xED ? 0x9F : 0xBF)};
    }
    if (byte < 0xF5) {
        return {4, static_cast<std::uint8_t>(byte == 0xF0 ? 0x90 : 0x80),
                static_cast<std::uint8_t>(byte == 0xF4 ? 0x8F : 0xBF)};
    }
    return {0, 0, 0};
}

std::size_t asciiPrefix(std::string_view text) {
    std::size_t at = 0;
    while (at + 8 <= text.size()) {
        std::uint64_t eight;
        std::memcpy(&eight, text.data() + at, 8);
        if (eight & 0x8080808080808080u) break;
        at += 8;
    }
    while (at < text.size() && static_cast<std::uint8_t>(text[at]) < 0x80) at++;
    return at;
}

// Below U+0300 every character is its own NFC, and none of them joins with what follows.
bool staysUnderNfc(std::string_view text) {
    constexpr std::uint8_t leadOf0300 = 0xCC;
    return std::all_of(text.begin(), text.end(),
                       [](char byte) { return static_cast<std::uint8_t>(byte) < leadOf0300; });
}

int combiningClass(utf8proc_int32_t codePoint) { return utf8proc_get_property(codePoint)->combining_class; }
}  // namespace

Utf8Step firstCharacter(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
    const Lead lead = leadOf(byte(0));
    if (lead.length == 1) return {Utf8Kind::character, 1, byte(0)};
    if (lead.length == 0) return {Utf8Kind::invalid, 1, replacement};
    char32_t codePoint = byte(0) & (0x7F >> lead.length);
    for (std::uint8_t i = 1; i < lead.length; i++) {
        if (i == text.size()) return {Utf8Kind::incomplete, i, replacement};
        const std::uint8_t first = i == 1 ? lead.secondFirst : 0x80, last = i == 1 ? lead.secondLast : 0xBF;
        if (byte(i) < first || byte(i) > last) return {Utf8Kind::invalid, i, replacement};
        codePoint = codePoint << 6 | (byte(i) & 0x3F);
    }
    return {Utf8Kind::character, lead.length, codePoint};
}

bool isValidUtf8(std::string_view text) {
    while (true) {
        text.remove_prefix(asciiPrefix(text));
        if (text.empty()) return true;
        const Utf8Step step = firstCharacter(text);
        if (step.kind != Utf8Kind::character) return false;
        text.remove_prefix(step.length);
    }
}

std::string replaceInvalidUtf8(std::string_view text) {
    std::string result;
    result.reserve(text.size());
    while (!text.empty()) {
        const Utf8Step step = firstCharacter(text);
        if (step.kind == Utf8Kind::character) {
            result += text.substr(0, step.length);
        } else {
            appendUtf8(result, replacement);
        }
        text.remove_prefix(step.length);
    }
    return result;
}

void appendUtf8(std::string& text, char32_t codePoint) {
    const auto tail = [&](int shift) { text += static_cast<char>(0x80 | (codePoint >> shift & 0x3F)); };
    if (codePoint < 0x80) {
        text += static_cast<char>(codePoint);
    } else if (codePoint < 0x800) {
        text += static_cast<char>(0xC0 | codePoint >> 6);
        tail(0);
    } else if (codePoint < 0x10000) {
        text += static_cast<char>(0xE0 | codePoint >> 12);
        tail(6), tail(0);
    } else {
        text += static_cast<char>(0xF0 | codePoint >> 18);
        tail(12), tail(6), tail(0);
    }
}

bool isWhiteSpace(char32_t c) {
    return (c >= 0x09 && c <= 0x0D) || c == 0x20 || c == 0x85 || c == 0xA0 || c == 0x1680 ||
           (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

std::string_view trimmed(std::string_view text) {
    const auto blank = [](char32_t c) { return isWhiteSpace(c) || (c >= 0x1C && c <= 0x1F); };
    while (!text.empty()) {
        const Utf8Step first = firstCharacter(text);
        if (!blank(first.codePoint)) break;
        text.remove_prefix(first.length);
    }
    while (!text.empty()) {
        std::size_t last = text.size() - 1;
        while (last > 0 && text.size() - last < 4 && (static_cast<unsigned char>(text[last]) & 0xC0) == 0x80) --last;
        const Utf8Step step = firstCharacter(text.substr(last));
        if (!blank(step.codePoint) || last + step.length != text.size()) break;
        text.remove_suffix(step.length);
    }
    return text;
}

// utf8proc's own pass over a whole text sorts combining marks by repeated swaps, which takes quadratic time on a long
// run of marks. So the steps are taken one by one: decompose, sort each run of marks, compose.
std::string normalizeNfc(std::string_view text) {
    if (staysUnderNfc(text)) return std::string(text);
    std::vector<utf8proc_int32_t> points;
    points.reserve(text.size());
    for (std::string_view rest = text; !rest.empty();) {
        const Utf8Step step = firstCharacter(rest);
        rest.remove_prefix(step.length);
        utf8proc_int32_t parts[4];  // the longest canonical decomposition
        int boundary = 0;
        const utf8proc_ssize_t count = utf8proc_decompose_char(static_cast<utf8proc_int32_t>(step.codePoint), parts, 4,
                                                               UTF8PROC_DECOMPOSE, &boundary);
        points.insert(points.end(), parts, parts + std::clamp<utf8proc_ssize_t>(count, 0, 4));
    }
    for (auto at = points.begin(); at != points.end();) {
        const auto isMark = [](utf8proc_int32_t point) { return combiningClass(point) != 0; };
        const auto first = std::find_if(at, points.end(), isMark);
        at = std::find_if_not(first, points.end(), isMark);
        std::stable_sort(first, at, [](auto a, auto b) { return combiningClass(a) < combiningClass(b); });
    }
    const utf8proc_ssize_t length =
        utf8proc_normalize_utf32(points.data(), static_cast<utf8proc_ssize_t>(points.size()),
                                 static_cast<utf8proc_option_t>(UTF8PROC_COMPOSE | UTF8PROC_STABLE));
    if (length < 0) throw std::bad_alloc();
    std::string result;
    result.reserve(text.size());
    for (utf8proc_ssize_t i = 0; i < length; i++)
        appendUtf8(result, static_cast<char32_t>(points[static_cast<std::size_t>(i)]));
    return result;
}

}  // namespace axial::llm
