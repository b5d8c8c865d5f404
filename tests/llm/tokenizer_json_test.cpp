// tokenizer.json: the ids of Hugging Face tokenizers without exception, Normalization Form C included.
#include "axial/llm/tokenizer_json.h"

#include "axial/tensor/error.h"
#include "qwen3_tokenizer_json.h"
#include "temporary_folder.h"

using namespace axial;
using namespace axial::llm;
using namespace axial::llm::test;

namespace {
// A small file that loads: letters, one merge, one marker.
Json small() {
    const Json byteLevel = {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", true}};
    return {{"added_tokens", {{{"id", 4}, {"content", "<end>"}, {"special", true}}}},
            {"normalizer", nullptr},
            {"pre_tokenizer", byteLevel},
            {"decoder", byteLevel},
            {"model",
             {{"type", "BPE"},
              {"vocab", {{"a", 0}, {"b", 1}, {"ab", 2}, {"Ġ", 3}}},
              {"merges", Json::array({Json::array({"a", "b"})})}}}};
}

Vocabulary load(const Json& json) {
    const TemporaryFolder folder;
    return vocabularyFromTokenizerJson(folder.write("tokenizer.json", json.dump()));
}

SpecialTokens special(const Json& line) {
    return line["parse_special"] ? SpecialTokens::parse : SpecialTokens::controlAsText;
}
}  // namespace

TEST_SUITE("tokenizer.json") {
    TEST_CASE("the 753 cases and TOK-04: normalisation as the file asks for it") {
        if (!oracle::present()) return;
        const TemporaryFolder folder;
        const Tokenizer tokenizer(
            vocabularyFromTokenizerJson(folder.write("tokenizer.json", qwen3TokenizerJson(true).dump())));
        CHECK(tokenizer.vocabulary().normalizesNfc);
        int cases = 0;
        for (const Json& line : readLines(oracle::path("tokenizer/tokens.jsonl"))) {
            const std::string text = line["text"];
            CAPTURE(text);
            CHECK(tokenizer.encode(text, special(line)) == line["ids"].get<Ids>());
            cases++;
        }
        CHECK(cases == 753);
        int changed = 0;
        const Json row = report("TOK-04");
        for (const Json& vector : row["expected"]["vectors"]) {
            const std::string text = vector["text"];
            CAPTURE(text);
            CHECK(tokenizer.encode(text) == vector["ids"].get<Ids>());
            // A GGUF file cannot ask for it.
            CHECK(qwen3().encode(text) == vector["ids_without_nfc"].get<Ids>());
            changed += vector["ids"] != vector["ids_without_nfc"];
        }
        CHECK(changed == 12);
    }

    TEST_CASE("the tiny models' files") {
        if (!oracle::present()) return;
        for (const char* name : {"tiny-qwen3-hf-BF16", "tiny-qwen2-hf-F32", "tiny-llama-hf-F32"}) {
            CAPTURE(name);
            const Tokenizer tokenizer(
                vocabularyFromTokenizerJson(oracle::path(std::string("models/") + name + "/tokenizer.json")));
            const Vocabulary& vocabulary = tokenizer.vocabulary();
            CHECK(vocabulary.tokens.size() == 512);  // config.json's; tokenizer.json has 511
            CHECK(vocabulary.tokens.type(511) == TokenType::unused);
            CHECK(vocabulary.eos == 504);
            CHECK(vocabulary.pad == 502);
            CHECK_FALSE(vocabulary.addsBos);
            CHECK(vocabulary.endOfGeneration == Ids{502, 504});
            REQUIRE(vocabulary.chatTemplate);
            CHECK(vocabulary.chatTemplate->size() == 4116);
            int cases = 0;
            for (const Json& line : readLines(oracle::path("tokenizer/tokens-tiny.jsonl"))) {
                const std::string text = line["text"];
                CAPTURE(text);
                CHECK(tokenizer.encode(text, special(line)) == line["ids"].get<Ids>());
                cases++;
            }
            CHECK(cases == 90);
        }
    }

    TEST_CASE("TOK-11: both spellings of merges, and malformed ones are errors") {
        const auto withMerges = [](const char* merges) {
            Json json = small();
            json["model"]["merges"] = Json::parse(merges);
            return json;
        };
        CHECK(Tokenizer(load(withMerges(R"([["a", "b"]])"))).encode("abab") == Ids{2, 2});
        CHECK(Tokenizer(load(withMerges(R"(["a b"])"))).encode("abab") == Ids{2, 2});
        for (const char* merges :
             {R"([["a"]])", R"(["ab"])", R"([["a", "b", "c"]])", "[1, 2]", R"([["a", "c"]])", R"(["a b c"])",
              R"([["", "ab"]])", R"([["b", "a"]])", "[[]]", "[{}]", "[null]", R"([[["a"], "b"]])", R"([["a", 1]])"}) {
            CAPTURE(merges);
            CHECK_THROWS_WITH_AS(load(withMerges(merges)), doctest::Contains("merge"), FileError);
        }
        CHECK_THROWS_WITH(load(withMerges(R"(["a b", "b a"])")), doctest::Contains("merge 1, \"ba\", names \"ba\""));

        if (!oracle::present()) return;
        const TemporaryFolder folder;
        const Tokenizer spelled(
            vocabularyFromTokenizerJson(folder.write("tokenizer.json", qwen3TokenizerJson(false).dump())));
        const Json row = report("TOK-11");
        for (const Json& vector : row["expected"]["vectors"]) {
            CHECK(spelled.encode(vector["text"].get<std::string>()) == vector["ids"].get<Ids>());
        }
    }

    TEST_CASE("what would change the tokens and is not done is refused by name") {
        const auto refused = [](const char* pointer, const Json& value, const char* name) {
            CAPTURE(pointer);
            CAPTURE(name);
            Json json = small();
            json[Json::json_pointer(pointer)] = value;
            CHECK_THROWS_WITH_AS(load(json), doctest::Contains(name), UnsupportedError);
        };
        const Json byteLevel = small()["pre_tokenizer"];
        refused("/normalizer", {{"type", "NFKC"}}, "normalizer NFKC");
        refused("/normalizer", {{"type", "Sequence"}, {"normalizers", {{{"type", "NFC"}}, {{"type", "Lowercase"}}}}},
                "normalizer[1] Lowercase");
        refused("/pre_tokenizer", {{"type", "Metaspace"}}, "pre_tokenizer Metaspace");
        refused("/pre_tokenizer", nullptr, "without ByteLevel");
        refused("/pre_tokenizer/add_prefix_space", true, "add_prefix_space");
        refused("/pre_tokenizer", {{"type", "Sequence"}, {"pretokenizers", {byteLevel, {{"type", "Digits"}}}}},
                "pre_tokenizer[1] Digits behind ByteLevel");
        refused("/pre_tokenizer",
                {{"type", "Sequence"},
                 {"pretokenizers",
                  {{{"type", "Split"}, {"pattern", {{"String", " "}}}, {"behavior", "MergedWithNext"}}, byteLevel}}},
                "MergedWithNext");
        refused("/model/type", "Unigram", "model.type Unigram");
        refused("/model/vocab", Json::array({{"a", 0.5}}), "model.vocab that is a list");
        refused("/model/byte_fallback", true, "byte_fallback");
        refused("/model/end_of_word_suffix", "</w>", "end_of_word_suffix");
        refused("/model/dropout", 0.1, "dropout");
        refused("/added_tokens/0/single_word", true, "<end> with single_word");
        refused("/post_processor", {{"type", "BertProcessing"}}, "post_processor BertProcessing");
        refused("/decoder/type", "Metaspace", "decoder Metaspace");
    }

    TEST_CASE("files that contradict themselves") {
        const auto broken = [](const char* pointer, const Json& value, const char* text) {
            CAPTURE(pointer);
            Json json = small();
            json[Json::json_pointer(pointer)] = value;
            CHECK_THROWS_WITH_AS(load(json), doctest::Contains(text), FileError);
        };
        broken("/model/vocab/b", 0, "gives the number 0 to a and to b");
        broken("/model/vocab/b", -1, "not from 0 to");
        broken("/model/vocab/b", 1u << 31, "not from 0 to");
        broken("/model/vocab/b", 18446744073709551615u, "not from 0 to");
        broken("/model/vocab/b", 1.5, "\"b\" is no integer");
        broken("/model/vocab/b", Json::object(), "\"b\" is no integer");
        broken("/model", nullptr, "model is missing");
        broken("/model", {{"type", "BPE"}, {"vocab", Json::object()}}, "model.merges is missing");
        broken("/added_tokens/0/id", 0, "token 0 is a in model.vocab and <end> in added_tokens");
        broken("/added_tokens/0/id", 1u << 31, "added_tokens[0] has no id below");
        broken("/added_tokens/0/content", "", "added_tokens[0]");
        broken("/added_tokens", 7, "added_tokens is no list");
        broken("/pre_tokenizer", {{"type", "Sequence"}}, "pre_tokenizer has no pretokenizers");
        broken("/post_processor", {{"type", "TemplateProcessing"}}, "post_processor.single");
        broken("/post_processor",
               {{"type", "TemplateProcessing"},
                {"single", {{{"SpecialToken", {{"id", "<s>"}}}}, {{"Sequence", {{"id", "A"}}}}}}},
               "<s>, which is no token");

        const TemporaryFolder folder;
        CHECK_THROWS_WITH_AS(vocabularyFromTokenizerJson(folder.write("tokenizer.json", "{\"model\": [")),
                             doctest::Contains("not JSON at byte"), FileError);
        CHECK_THROWS_AS(vocabularyFromTokenizerJson(folder.write("tokenizer.json", "")), FileError);
        CHECK_THROWS_AS(vocabularyFromTokenizerJson(folder.write("tokenizer.json", "[]")), FileError);
        CHECK_THROWS_AS(vocabularyFromTokenizerJson(folder.write("tokenizer.json", "\xff\xfe")), FileError);
        CHECK_THROWS_WITH_AS(vocabularyFromTokenizerJson(folder.write("tokenizer.json", std::string(1 << 20, '['))),
                             doctest::Contains("deep"), FileError);
        // A number that no double holds: nlohmann-json has another exception for it than for what is not JSON.
        for (const char* number : {"1e999", "-1E999", "123456789e400"}) {
            const std::string text = small().dump();
            const std::string changed = text.substr(0, text.size() - 1) + ", \"x\": [" + number + "]}";
            CHECK_THROWS_WITH_AS(vocabularyFromTokenizerJson(folder.write("tokenizer.json", changed)),
                                 doctest::Contains("a number is beyond"), FileError);
        }
        for (const char* beside : {"tokenizer_config.json", "config.json", "generation_config.json"}) {
            const TemporaryFolder other;
            const auto file = other.write("tokenizer.json", small().dump());
            CHECK_NOTHROW(vocabularyFromTokenizerJson(file));
            other.write(beside, R"({"temperature": 1e999})");
            CHECK_THROWS_WITH_AS(vocabularyFromTokenizerJson(file), doctest::Contains(beside), FileError);
        }
    }

    TEST_CASE("what stands before and behind a text, and every end of a reply") {
        const TemporaryFolder folder;
        Json json = small();
        json["added_tokens"].push_back({{"id", 5}, {"content", "<begin>"}, {"special", true}});
        json["post_processor"] = {
            {"type", "Sequence"},
            {"processors",
             {{{"type", "ByteLevel"}},
              {{"type", "TemplateProcessing"},
               {"single", {{{"SpecialToken", {{"id", "<begin>"}}}}, {{"Sequence", {{"id", "A"}}}}}}}}}};
        folder.write("tokenizer_config.json", R"({"eos_token": {"content": "<end>"}, "chat_template": [
            {"name": "tool_use", "template": "T"}, {"name": "default", "template": "D"}]})");
        folder.write("generation_config.json", R"({"eos_token_id": [4, 5]})");
        folder.write("config.json", R"({"eos_token_id": 4, "vocab_size": 16})");
        const auto path = folder.write("tokenizer.json", json.dump());
        const Tokenizer tokenizer(vocabularyFromTokenizerJson(path));
        const Vocabulary& vocabulary = tokenizer.vocabulary();
        CHECK(vocabulary.addsBos);
        CHECK(vocabulary.bos == 5);
        CHECK_FALSE(vocabulary.addsEos);
        CHECK(vocabulary.endOfGeneration == Ids{4, 5});
        CHECK(vocabulary.tokens.size() == 16);
        CHECK(vocabulary.chatTemplate == "D");
        CHECK(tokenizer.withEnds(tokenizer.encode("ab")) == Ids{5, 2});
        CHECK(tokenizer.withEnds(tokenizer.encode("")).empty());

        folder.write("chat_template.jinja", "J");
        CHECK(vocabularyFromTokenizerJson(path).chatTemplate == "J");
        folder.write("generation_config.json", R"({"eos_token_id": 16})");
        CHECK_THROWS_WITH_AS(vocabularyFromTokenizerJson(path), doctest::Contains("eos_token_id"), FileError);
    }

    TEST_CASE("markers that take white space along") {
        Json json = small();
        json["added_tokens"][0]["lstrip"] = true;
        const Tokenizer left(load(json));
        CHECK(left.encode("a \xE2\x80\x83 <end> b") == Ids{0, 4, 3, 1});
        CHECK(left.encode(" <end> <end>") == Ids{4, 4});
        json["added_tokens"][0]["rstrip"] = true;
        CHECK(Tokenizer(load(json)).encode("a <end> b") == Ids{0, 4, 1});
    }
}
