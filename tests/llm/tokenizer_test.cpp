// The tokenizer against ids that Hugging Face tokenizers computed (tokens.jsonl and its neighbours).
#include "axial/llm/tokenizer.h"

#include <atomic>
#include <thread>

#include "axial/llm/unicode.h"
#include "tokenizer_data.h"

using namespace axial;
using namespace axial::llm;
using namespace axial::llm::test;

TEST_SUITE("tokenizer") {
    // A GGUF file cannot say that the text is to be normalised; the 47 cases whose ids depend on it are compared on
    // their normalised form. It also types five fill-in-the-middle markers as control tokens, where tokenizer.json has
    // them as text.
    TEST_CASE("the 753 cases, from a GGUF file") {
        if (!oracle::present()) return;
        int cases = 0, normalized = 0, different = 0;
        for (const Json& line : readLines(oracle::path("tokenizer/tokens.jsonl"))) {
            std::string text = line["text"];
            const bool parse = line["parse_special"], changes = line["nfc_changes"];
            CAPTURE(text);
            cases++;
            normalized += changes;
            if (changes) text = normalizeNfc(text);
            const Ids ids = qwen3().encode(text, parse ? SpecialTokens::parse : SpecialTokens::controlAsText);
            if (!parse && (text.find("<|fim_") != text.npos || text.find("<|repo_name|>") != text.npos)) {
                different++;
                CHECK(ids == line["llama_ids"].get<Ids>());
            } else {
                CHECK(ids == line["ids"].get<Ids>());
            }
        }
        CHECK(cases == 753);
        CHECK(normalized == 47);
        CHECK(different == 2);
    }

    TEST_CASE("pieces of the pre-tokenizer") {
        if (!oracle::present()) return;
        const PreTokenizer preTokenizer(qwen3().vocabulary().splitRules);
        int cases = 0;
        for (const Json& line : readLines(oracle::path("tokenizer/chunks.jsonl"))) {
            const std::string text = line["text"];
            CAPTURE(text);
            std::vector<std::string_view> pieces;
            preTokenizer.split(text, pieces);
            CHECK(std::vector<std::string>(pieces.begin(), pieces.end()) ==
                  line["chunks"].get<std::vector<std::string>>());
            cases++;
        }
        CHECK(cases == 367);
    }

    TEST_CASE("tokens to bytes") {
        if (!oracle::present()) return;
        for (const Json& line : readLines(oracle::path("tokenizer/detokenize.jsonl"))) {
            const Ids ids = line["ids"];
            CAPTURE(ids);
            std::string hex;
            for (const unsigned char byte : qwen3().bytes(ids)) {
                hex += "0123456789abcdef"[byte >> 4];
                hex += "0123456789abcdef"[byte & 15];
            }
            CHECK(hex == line["bytes"].get<std::string>());
            if (line["valid_utf8"]) CHECK(qwen3().decode(ids) == qwen3().bytes(ids));
            CHECK(isValidUtf8(qwen3().decode(ids)));
        }
    }

    TEST_CASE("the tiny models' vocabulary, from a GGUF file") {
        if (!oracle::present()) return;
        for (const char* name : {"tiny-qwen3-F32", "tiny-qwen2-Q8_0", "tiny-llama-F32"}) {
            CAPTURE(name);
            const Tokenizer tokenizer(
                vocabularyOf(GgufFile::open(oracle::path("models/" + std::string(name) + ".gguf"))));
            for (const Json& line : readLines(oracle::path("tokenizer/tokens-tiny.jsonl"))) {
                const std::string text = line["text"];
                CAPTURE(text);
                const bool parse = line["parse_special"];
                CHECK(tokenizer.encode(text, parse ? SpecialTokens::parse : SpecialTokens::controlAsText) ==
                      line["ids"].get<Ids>());
            }
        }
    }

    TEST_CASE("threads share one tokenizer") {
        if (!oracle::present()) return;
        const std::vector<Json> lines = readLines(oracle::path("tokenizer/chunks.jsonl"));
        std::vector<std::string> texts;
        std::vector<Ids> ids;
        for (const Json& line : lines) {
            texts.push_back(line["text"]);
            ids.push_back(qwen3().encode(texts.back()));
        }
        std::atomic<int> different = 0;
        std::vector<std::thread> threads;
        for (int t = 0; t < 4; t++) {
            threads.emplace_back([&] {
                for (std::size_t i = 0; i < texts.size(); i++) different += qwen3().encode(texts[i]) != ids[i];
            });
        }
        for (std::thread& thread : threads) thread.join();
        CHECK(different == 0);
    }
}
