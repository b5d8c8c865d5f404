// Vocabularies of GGUF files that are small, odd or damaged.
#include "axial/llm/vocabulary.h"

#include "axial/llm/tokenizer.h"
#include "axial/llm/vocabulary_builder.h"
#include "axial/tensor/error.h"
#include "gguf_bytes.h"
#include "tokenizer_data.h"

using namespace axial;
using namespace axial::llm;
using namespace axial::llm::test;

namespace {
using Texts = std::vector<std::string>;
using Types = std::vector<std::int32_t>;

// a, b, ab, a space, a marker that is text, one that is not, one for a byte, an unused one.
const Texts texts{"a", "b", "ab", "Ġ", "<think>", "<|im_end|>", "<0x0A>", "[PAD7]"};
const Types types{1, 1, 1, 1, 4, 3, 6, 5};

GgufBytes small(const Texts& merges = {"a b"}) {
    GgufBytes file;
    file.key("tokenizer.ggml.model", "gpt2")
        .array("tokenizer.ggml.tokens", texts)
        .array("tokenizer.ggml.token_type", types)
        .array("tokenizer.ggml.merges", merges);
    return file;
}

Vocabulary read(GgufBytes file, const std::optional<std::string>& preTokenizer = "gpt-2") {
    return vocabularyOf(parsed(file.bytes()), preTokenizer);
}
}  // namespace

TEST_SUITE("vocabulary") {
    TEST_CASE("types of tokens") {
        const Tokenizer tokenizer(read(small()));
        const Vocabulary& vocabulary = tokenizer.vocabulary();
        CHECK(vocabulary.tokens.size() == 8);
        CHECK(vocabulary.tokens.bytes(3) == " ");
        CHECK(vocabulary.tokens.bytes(6) == "\n");
        CHECK(vocabulary.tokens.type(4) == TokenType::userDefined);
        CHECK(vocabulary.byteTokens['a'] == 0);
        CHECK(vocabulary.byteTokens[' '] == 3);
        CHECK(vocabulary.byteTokens['c'] == Vocabulary::noToken);
        CHECK(vocabulary.marker("<think>") == 4);
        CHECK_FALSE(vocabulary.marker("ab"));
        CHECK_FALSE(vocabulary.marker("[PAD7]"));
        CHECK(vocabulary.endOfGeneration == Ids{5});
        CHECK_FALSE(vocabulary.eos);
        CHECK_FALSE(vocabulary.chatTemplate);

        const std::string text = "ab<think><|im_end|> a";
        CHECK(tokenizer.encode(text) == Ids{2, 4, 5, 3, 0});
        CHECK(tokenizer.encode("ab<think> a", SpecialTokens::controlAsText) == Ids{2, 4, 3, 0});
        CHECK(tokenizer.decode(Ids{2, 6, 4, 5}) == "ab\n<think><|im_end|>");
        CHECK(tokenizer.decode(Ids{2, 6, 4, 5}, false) == "ab\n<think>");
    }

    TEST_CASE("keys that are optional, and those that say what stands around a text") {
        GgufBytes file = small();
        file.key("tokenizer.ggml.bos_token_id", std::uint32_t{4})
            .key("tokenizer.ggml.eos_token_id", std::uint32_t{5})
            .key("tokenizer.ggml.eot_token_id", std::uint32_t{7})
            .key("tokenizer.ggml.padding_token_id", std::uint32_t{0xFFFFFFFF})
            .key("tokenizer.ggml.add_bos_token", true)
            .key("tokenizer.ggml.add_eos_token", true)
            .key("tokenizer.chat_template", "{{ x }}");
        const Tokenizer tokenizer(read(file));
        CHECK(tokenizer.vocabulary().endOfGeneration == Ids{5, 7});
        CHECK_FALSE(tokenizer.vocabulary().pad);
        CHECK(tokenizer.vocabulary().chatTemplate == "{{ x }}");
        CHECK(tokenizer.withEnds(tokenizer.encode("a")) == Ids{4, 0, 5});
        CHECK(tokenizer.withEnds({}).empty());
        CHECK(read(small(), "llama-bpe").addsBos);  // by the name, where the file does not say
        CHECK_FALSE(read(small(), "qwen2").addsBos);
    }

    TEST_CASE("a pre-tokenizer that is unknown or missing is refused unless it is overridden") {
        CHECK_THROWS_WITH_AS(read(small(), std::nullopt),
                             doctest::Contains("memory.gguf: tokenizer.ggml.pre is missing"), UnsupportedError);
        GgufBytes file = small();
        file.key("tokenizer.ggml.pre", "brand-new");
        CHECK_THROWS_WITH_AS(read(file, std::nullopt), doctest::Contains("the pre-tokenizer brand-new is not known"),
                             UnsupportedError);
        CHECK_THROWS_WITH_AS(read(file, std::nullopt), doctest::Contains("qwen2"), UnsupportedError);
        CHECK(read(file, "qwen2").preTokenizer == "qwen2");
        CHECK_THROWS_WITH_AS(read(file, "none"), doctest::Contains("the pre-tokenizer none is not known"),
                             UnsupportedError);
    }

    TEST_CASE("other tokenizers are refused by name") {
        for (const char* model : {"llama", "bert", "t5", "rwkv", "gemma4", ""}) {
            GgufBytes file;
            file.key("tokenizer.ggml.model", model);
            CHECK_THROWS_WITH_AS(read(file),
                                 doctest::Contains((std::string("tokenizer.ggml.model is ") + model).c_str()),
                                 UnsupportedError);
        }
        CHECK_THROWS_WITH_AS(read(GgufBytes()), doctest::Contains("tokenizer.ggml.model"), FileError);
    }

    TEST_CASE("GGUF-04: arrays of another element type than the specification's") {
        const auto broken = [](GgufBytes file, const char* key) {
            CAPTURE(key);
            CHECK_THROWS_WITH_AS(read(file), doctest::Contains(key), FileError);
        };
        const auto start = [](bool texts) {
            GgufBytes file;
            file.key("tokenizer.ggml.model", "gpt2").array("tokenizer.ggml.merges", Texts{});
            if (texts) file.array("tokenizer.ggml.tokens", Texts{"a"});
            return file;
        };
        using Bytes8 = std::vector<std::uint8_t>;
        broken(start(true).array("tokenizer.ggml.token_type", Bytes8{1}), "tokenizer.ggml.token_type");
        broken(start(true).array("tokenizer.ggml.scores", Bytes8{1}), "tokenizer.ggml.scores");
        broken(start(false).array("tokenizer.ggml.tokens", std::vector<std::uint32_t>{1}), "tokenizer.ggml.tokens");
        broken(start(true).key("tokenizer.ggml.token_type", "text"), "tokenizer.ggml.token_type");
        CHECK(read(start(true).array("tokenizer.ggml.token_type", Types{1})).tokens.size() == 1);
    }

    TEST_CASE("keys that contradict each other") {
        const auto broken = [](GgufBytes file, const char* text) {
            CAPTURE(text);
            CHECK_THROWS_WITH_AS(read(file), doctest::Contains(text), FileError);
        };
        const auto with = [](const Texts& tokens, const Types& numbers, const Texts& merges = {}) {
            GgufBytes file;
            file.key("tokenizer.ggml.model", "gpt2").array("tokenizer.ggml.tokens", tokens);
            return file.array("tokenizer.ggml.token_type", numbers).array("tokenizer.ggml.merges", merges);
        };
        broken(with({}, {}), "tokenizer.ggml.tokens is empty");
        broken(with({"a", "b"}, {1}), "has 2 entries and tokenizer.ggml.token_type 1");
        broken(with({"a"}, {0}), "token_type of token 0 is 0, not 1 to 6");
        broken(with({"a"}, {7}), "token_type of token 0 is 7");
        broken(small({"a c"}), "merge 0, \"ac\", names");
        broken(small({"a b", "ab"}), "merge 1, \"ab\", is not two pieces");
        broken(small({"b a"}), "names \"ba\", which is no token");
        for (const char* key :
             {"tokenizer.ggml.bos_token_id", "tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id",
              "tokenizer.ggml.eom_token_id", "tokenizer.ggml.padding_token_id"}) {
            broken(small().key(key, std::uint32_t{8}), key);
            broken(small().key(key, "text"), key);
            broken(small().key(key, std::int32_t{-2}), key);
        }
        GgufBytes file;
        file.key("tokenizer.ggml.model", "gpt2").array("tokenizer.ggml.tokens", Texts{"a"});
        broken(file, "tokenizer.ggml.merges");
        file.array("tokenizer.ggml.merges", Texts{});
        CHECK(read(file).tokens.type(0) == TokenType::normal);  // without types, all are text
        broken(with(Texts(VocabularyBuilder::mostTokens + 1), Types(VocabularyBuilder::mostTokens + 1, 5)),
               "1048577 tokens");
    }

    TEST_CASE("texts that are no UTF-8, empty or doubled") {
        GgufBytes file;
        file.key("tokenizer.ggml.model", "gpt2")
            .array("tokenizer.ggml.tokens", Texts{"\xff", "", "a", "a", "<0xZZ>", "\xe4\xbd\xa0"})
            .array("tokenizer.ggml.token_type", Types{1, 3, 1, 1, 6, 1})
            .array("tokenizer.ggml.merges", Texts{});
        const Tokenizer tokenizer(read(file));
        CHECK(tokenizer.piece(0) == "\xff");
        CHECK(tokenizer.piece(1).empty());
        CHECK(tokenizer.piece(4) == "<0xZZ>");
        CHECK(tokenizer.piece(5) == "\u4f60");  // outside of the alphabet of bytes: itself
        CHECK(tokenizer.encode("aa") == Ids{2, 2});
        CHECK(tokenizer.encode("\u4f60").empty());
    }
}
