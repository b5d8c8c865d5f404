#include "axial/llm/unicode.h"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <set>
#include <vector>

#include "axial/llm/byte_level.h"

using namespace axial::llm;

TEST_SUITE("unicode") {
    TEST_CASE("every character encodes and decodes") {
        for (char32_t c = 0; c < 0x110000; c++) {
            if (c >= 0xD800 && c < 0xE000) continue;
            std::string text;
            appendUtf8(text, c);
            const Utf8Step step = firstCharacter(text);
            if (step.kind != Utf8Kind::character || step.codePoint != c || step.length != text.size()) FAIL_CHECK(c);
            // Every beginning of it is incomplete.
            for (std::size_t cut = 1; cut < text.size(); cut++) {
                const Utf8Step part = firstCharacter(std::string_view(text).substr(0, cut));
                if (part.kind != Utf8Kind::incomplete || part.length != cut) FAIL_CHECK(c);
            }
        }
    }

    // The examples of the Unicode Standard 16, section 3.9, tables 3-8 to 3-11.
    TEST_CASE("one U+FFFD for each maximal ill-formed subsequence") {
        const std::string r = "\uFFFD";
        CHECK(replaceInvalidUtf8("\xC0\xAF\xE0\x80\xBF\xF0\x81\x82\x41") == r + r + r + r + r + r + r + r + "A");
        CHECK(replaceInvalidUtf8("\xED\xA0\x80\xED\xBF\xBF\xED\xAF\x41") == r + r + r + r + r + r + r + r + "A");
        CHECK(replaceInvalidUtf8("\xF4\x91\x92\x93\xFF\x41\x80\xBF\x42") == r + r + r + r + r + "A" + r + r + "B");
        CHECK(replaceInvalidUtf8("\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41") == r + r + r + r + "A");
        CHECK(replaceInvalidUtf8(std::string_view("a\0b", 3)) == std::string_view("a\0b", 3));
        CHECK(replaceInvalidUtf8("\xF0\x9F\x98") == r);
    }

    TEST_CASE("any bytes become well-formed, and what is well-formed stays") {
        CHECK(rc::check([](const std::string& bytes) {
            const std::string text = replaceInvalidUtf8(bytes);
            RC_ASSERT(isValidUtf8(text));
            RC_ASSERT(replaceInvalidUtf8(text) == text);
            RC_ASSERT(isValidUtf8(bytes) == (text == bytes));
        }));
    }

    // Unicode Standard Annex 15, figures 3 to 5, and its notes on Hangul and on exclusions.
    TEST_CASE("Normalization Form C") {
        CHECK(normalizeNfc("plain") == "plain");
        CHECK(normalizeNfc("\u212B") == "\u00C5");                // a singleton
        CHECK(normalizeNfc("A\u030A") == "\u00C5");               // composition
        CHECK(normalizeNfc("s\u0307\u0323") == "\u1E69");         // marks change places, then compose twice
        CHECK(normalizeNfc("\u1E0B\u0323") == "\u1E0D\u0307");    // a composed letter is taken apart first
        CHECK(normalizeNfc("q\u0307\u0323") == "q\u0323\u0307");  // marks change places, nothing to compose
        CHECK(normalizeNfc("\u1112\u1161\u11AB") == "\uD55C");    // Hangul
        CHECK(normalizeNfc("\uD558\u11AB") == "\uD55C");
        CHECK(normalizeNfc("\u0958") == "\u0915\u093C");  // excluded from composition
        CHECK(normalizeNfc("\uFB01") == "\uFB01");        // compatibility only
        CHECK(normalizeNfc("\u0301") == "\u0301");        // a mark alone
        CHECK(normalizeNfc("a\u0315\u0300\u05AE\u0300b") ==
              "\u00E0\u05AE\u0300\u0315"
              "b");
    }

    TEST_CASE("the alphabet of bytes") {
        std::set<char32_t> characters;
        std::string all;
        for (int byte = 0; byte < 256; byte++) {
            const char32_t character = byteLevelCharacter(static_cast<std::uint8_t>(byte));
            characters.insert(character);
            appendUtf8(all, character);
        }
        CHECK(characters.size() == 256);
        CHECK(byteLevelCharacter('!') == U'!');
        CHECK(byteLevelCharacter(' ') == 0x120);
        CHECK(byteLevelCharacter('\n') == 0x10A);
        CHECK(byteLevelCharacter(0) == 0x100);
        CHECK(byteLevelCharacter(0x7F) == 0x121);
        CHECK(byteLevelCharacter(0xAD) == 0x143);
        CHECK(byteLevelCharacter(0xFF) == 0xFF);
        std::string bytes;
        REQUIRE(appendByteLevelBytes(all, bytes));
        for (std::size_t i = 0; i < 256; i++) CHECK(static_cast<unsigned char>(bytes[i]) == i);
        for (const char* outside : {" ", "a b", "\u00AD", "\u0144", "\U0001F600", "\xFF"}) {
            std::string before = "kept";
            CHECK_FALSE(appendByteLevelBytes(outside, before));
            CHECK(before == "kept");
        }
    }
}
