#include "axial/llm/bpe.h"

#include <rapidcheck.h>

#include "axial/llm/vocabulary_builder.h"
#include "axial/tensor/error.h"
#include "tokenizer_data.h"

using namespace axial;
using namespace axial::llm;
using namespace axial::llm::test;

namespace {
Vocabulary vocabularyOf(const std::vector<std::string>& texts, const std::vector<std::string>& merges,
                        const std::vector<std::string>& markers = {}) {
    std::vector<TokenType> types;
    for (const std::string& text : texts) {
        const bool marker = std::find(markers.begin(), markers.end(), text) != markers.end();
        types.push_back(marker ? TokenType::control : TokenType::normal);
    }
    VocabularyBuilder builder("test", {texts.begin(), texts.end()}, types);
    for (const std::string& merge : merges) builder.addMerge(merge);
    return builder.finish();
}

Ids encode(const Vocabulary& vocabulary, std::string_view piece) {
    Bpe::Scratch scratch;
    Ids ids;
    Bpe(vocabulary).encode(piece, scratch, ids);
    return ids;
}

// The definition, step by step: look for the best pair, the leftmost of equals, merge it, begin again.
Ids plainly(const Vocabulary& vocabulary, std::string_view piece) {
    Ids ids;
    for (const char byte : piece) ids.push_back(vocabulary.byteTokens[static_cast<unsigned char>(byte)]);
    for (;;) {
        std::size_t best = vocabulary.merges.size(), at = 0;
        for (std::size_t i = 0; i + 1 < ids.size(); i++) {
            for (std::size_t rank = 0; rank < best; rank++) {
                const Merge& merge = vocabulary.merges[rank];
                if (merge.left == ids[i] && merge.right == ids[i + 1]) best = rank, at = i;
            }
        }
        if (best == vocabulary.merges.size()) return ids;
        ids[at] = vocabulary.merges[best].merged;
        ids.erase(ids.begin() + static_cast<std::ptrdiff_t>(at) + 1);
    }
}
}  // namespace

TEST_SUITE("bpe") {
    TEST_CASE("vocabularies that can be checked by hand") {
        if (!oracle::present()) return;
        int cases = 0;
        const Json toys = Json::parse(readFile(oracle::path("tokenizer/bpe-toy.json")));
        for (const Json& toy : toys) {
            const auto texts = toy["vocab"].get<std::vector<std::string>>();
            const auto merges = toy["merges"].get<std::vector<std::string>>();
            const auto markers = toy.value("special", std::vector<std::string>());
            const Tokenizer tokenizer(vocabularyOf(texts, merges, markers));
            for (const Json& line : toy["cases"]) {
                CHECK(tokenizer.encode(line["text"].get<std::string>()) == line["ids"].get<Ids>());
                cases++;
            }
        }
        CHECK(cases == 6);
    }

    TEST_CASE("merging with a heap gives what the definition gives") {
        // Overlapping merges of several depths, and two that make the same token.
        const Vocabulary vocabulary =
            vocabularyOf({"a", "b", "c", "ab", "bc", "abc", "aa", "aab", "cab", "bb", "abcab"},
                         {"b c", "a b", "a bc", "a a", "ab c", "c ab", "aa b", "b b", "abc ab", "a ab"});
        CHECK(rc::check([&] {
            const auto text = *rc::gen::container<std::string>(rc::gen::element('a', 'b', 'c'));
            RC_ASSERT(encode(vocabulary, text) == plainly(vocabulary, text));
        }));
    }

    TEST_CASE("a piece that is a token is found whole only where merges can be ignored") {
        Vocabulary vocabulary = vocabularyOf({"a", "b", "c", "ab", "abc"}, {"a b"});
        CHECK(encode(vocabulary, "abc") == Ids{3, 2});
        vocabulary.ignoresMerges = true;
        CHECK(encode(vocabulary, "abc") == Ids{4});
        CHECK(encode(vocabulary, "abca") == Ids{3, 2, 0});
    }

    TEST_CASE("bytes without a token") {
        Vocabulary vocabulary = vocabularyOf({"a", "b", "ab", "?"}, {"a b"});
        CHECK(encode(vocabulary, "xx").empty());
        CHECK(encode(vocabulary, "axb") == Ids{2});  // left out, as Hugging Face does
        vocabulary.unknown = 3;
        CHECK(encode(vocabulary, "axb") == Ids{0, 3, 1});
    }

    TEST_CASE("merges that name no token") {
        CHECK_THROWS_WITH_AS(vocabularyOf({"a", "b"}, {"a b"}),
                             doctest::Contains("merge 0, \"ab\", names \"ab\", which"), FileError);
        CHECK_THROWS_AS(vocabularyOf({"a", "ab"}, {"a b"}), FileError);
        for (const char* malformed : {"ab", " ab", "ab ", "a b c", "a  b", ""}) {
            CAPTURE(malformed);
            CHECK_THROWS_WITH_AS(vocabularyOf({"a", "b", "ab"}, {malformed}), doctest::Contains("two pieces"),
                                 FileError);
        }
    }
}
