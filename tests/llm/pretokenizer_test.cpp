#include "axial/llm/pretokenizer.h"

#include <doctest/doctest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "axial/llm/newer_unicode.h"
#include "axial/llm/unicode.h"
#include "axial/tensor/error.h"

using namespace axial;
using namespace axial::llm;

namespace {
using Pieces = std::vector<std::string>;

Pieces cut(const std::vector<SplitRule>& rules, std::string_view text) {
    std::vector<std::string_view> pieces;
    PreTokenizer(rules).split(text, pieces);
    return {pieces.begin(), pieces.end()};
}
}  // namespace

TEST_SUITE("pre-tokenizer") {
    TEST_CASE("the published patterns cut as Hugging Face tokenizers do, characters of Unicode 15 and 16 included") {
        std::ifstream file(AXIAL_TEST_DATA "/pretokenizer_pieces.json");
        const auto reference = nlohmann::json::parse(file);
        CHECK(reference["pieces"].size() == 17);
        for (const auto& [name, pieces] : reference["pieces"].items()) {
            CAPTURE(name);
            const PreTokenizerRules* rules = findPreTokenizer(name);
            REQUIRE(rules);
            for (std::size_t i = 0; i < pieces.size(); i++) {
                const std::string text = reference["texts"][i];
                CAPTURE(text);
                CHECK(cut(rules->rules, text) == pieces[i].get<Pieces>());
            }
        }
    }

    TEST_CASE("every name of the table compiles, keeps the text, and is listed") {
        const std::string names = preTokenizerNames() + ", ";
        const std::string text = "It's 1234  x\u00b2 \u4f60\u597d!\r\n\n  <sentinel:12> (a)\t";
        int count = 0;
        for (std::size_t at = 0; at < names.size();) {
            const std::size_t end = names.find(", ", at);
            const std::string name = names.substr(at, end - at);
            CAPTURE(name);
            const PreTokenizerRules* rules = findPreTokenizer(name);
            REQUIRE(rules);
            std::string joined;
            for (const std::string& piece : cut(rules->rules, text)) joined += piece;
            CHECK(joined == text);
            count++;
            at = end + 2;
        }
        CHECK(count > 60);
        CHECK_FALSE(findPreTokenizer("no such"));
        CHECK_FALSE(findPreTokenizer(""));
    }

    TEST_CASE("rules") {
        CHECK(cut({}, "as it is") == Pieces{"as it is"});
        CHECK(cut({{"b"}}, "").empty());
        CHECK(cut({{"b+"}}, "abbcb") == Pieces{"a", "bb", "c", "b"});
        CHECK(cut({{"b+", false}}, "abbcb") == Pieces{"bb", "b"});
        CHECK(cut({{"[0-9]"}, {"[a-z]{2}"}}, "abc1d") == Pieces{"ab", "c", "1", "d"});
        CHECK(cut({{"(?=b)"}}, "abcb") == Pieces{"a", "bc", "b"});  // an empty match cuts
        CHECK(cut({{"(?=\u4f60)"}}, "\u4f60\u4f60") == Pieces{"\u4f60", "\u4f60"});
        CHECK(cut({{"x*"}}, "axb") == Pieces{"a", "x", "b"});
        CHECK(cut({{" +$"}}, "a  \nb  ") == Pieces{"a", "  ", "\nb", "  "});  // $ at every line, as in Ruby
        CHECK(cut({{"\\s+(?!\\S)"}}, "a  b") == Pieces{"a", " ", " b"});
        // A piece cannot see beyond its own ends.
        CHECK(cut({{"b"}, {"a(?!b)"}}, "ab") == Pieces{"a", "b"});
    }

    TEST_CASE("patterns that cannot be used are refused") {
        for (const char* pattern : {"(", "[z-a]", "\\C", "(?<name", "[a&&b]", "[a[b]c]", "\\h", "a{3", "(*NO_JIT"}) {
            CAPTURE(pattern);
            const std::vector<SplitRule> rules{{pattern}};
            const std::string text = pattern;
            if (text == "a{3") {
                CHECK_NOTHROW(PreTokenizer{rules});  // a literal brace, in both engines
            } else {
                CHECK_THROWS_WITH_AS(PreTokenizer{rules}, doctest::Contains("pre-tokenizer: pattern"),
                                     UnsupportedError);
            }
        }
        CHECK_THROWS_AS(PreTokenizer{std::vector<SplitRule>{{std::string(1 << 17, 'a')}}}, UnsupportedError);
    }

    TEST_CASE("a pattern that backtracks without end is an error, not a hang") {
        const std::vector<SplitRule> rules{{"(a|aa)+$x|(a*)*b"}};
        CHECK_THROWS_WITH_AS(cut(rules, std::string(200, 'a')), doctest::Contains("at byte 0 of 200"), ValueError);
    }

    TEST_CASE("a pattern that needs more than the compiled matcher's stack is interpreted") {
        const std::string text(100'000, 'x');
        CHECK(cut(findPreTokenizer("kimi-k2")->rules, text) == Pieces{text});
        CHECK(cut(findPreTokenizer("exaone-moe")->rules, text) == Pieces{text});
    }

    TEST_CASE("newer characters are replaced by older ones of the same length") {
        CHECK_FALSE(withOlderCharacters("ascii, \u00e9, \u4f60, \U0001F600"));
        const std::string newer = "a\U00031350b\u1c89\u180e!";
        const auto older = withOlderCharacters(newer);
        REQUIRE(older);
        CHECK(older->size() == newer.size());
        CHECK(isValidUtf8(*older));
        CHECK(*older == "a\U00020000b\u10c7\u200b!");
        // Pieces are those of the text itself.
        CHECK(cut(findPreTokenizer("qwen2")->rules, "!?\U00031350") == Pieces{"!?", "\U00031350"});
    }
}
