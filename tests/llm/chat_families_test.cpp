// Llama's and Gemma's prompts against what jinja2 makes of their templates (tests/data/make_chat_families.py).
#include <algorithm>
#include <cstdlib>
#include <ctime>

#include "axial/llm/chat_messages.h"
#include "axial/llm/chat_template.h"
#include "axial/llm/vocabulary_builder.h"
#include "axial/tensor/error.h"
#include "tokenizer_data.h"

using namespace axial;
using namespace axial::llm;
using namespace axial::llm::test;

namespace {
constexpr const char* families[] = {"llama3", "llama3-first", "llama3.1", "llama3.2", "gemma2", "gemma3"};

std::string joined(const std::vector<TextPart>& parts) {
    std::string text;
    for (const TextPart& part : parts) text += part.text;
    return text;
}

RenderOptions optionsOf(const Json& line, const std::string& name) {
    RenderOptions options{.generationPrompt = line["add_generation_prompt"]};
    for (const Json& tool : line["tools"]) options.tools.push_back(tool.dump());
    if (line.contains("date")) options.date = line["date"];
    if (!options.date && name == "llama3.2") options.date = "01 Mar 2025";  // the script's today
    return options;
}

// Bytes, the markers of both families, and a BOS that the tokenizer puts before every text.
Tokenizer smallTokenizer(std::string bos) {
    std::vector<std::string> texts;
    std::vector<TokenType> types;
    for (int byte = 0; byte < 256; byte++) {
        char text[8];
        std::snprintf(text, sizeof text, "<0x%02X>", static_cast<unsigned>(byte));
        texts.emplace_back(text);
        types.push_back(TokenType::byte);
    }
    for (const char* marker :
         {"<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>", "<start_of_turn>", "<end_of_turn>", bos.c_str()}) {
        texts.emplace_back(marker);
        types.push_back(TokenType::control);
    }
    VocabularyBuilder builder("small", {texts.begin(), texts.end()}, types);
    Vocabulary vocabulary = builder.finish();
    for (int byte = 0; byte < 256; byte++) vocabulary.byteTokens[static_cast<std::size_t>(byte)] = byte;
    vocabulary.splitRules = findPreTokenizer("llama-bpe")->rules;
    vocabulary.bos = static_cast<TokenId>(texts.size() - 1);
    vocabulary.addsBos = true;
    return Tokenizer(std::move(vocabulary));
}
}  // namespace

TEST_SUITE("chat families") {
    TEST_CASE("conversations of our own, byte for byte as jinja2 renders them") {
        std::map<std::string, int> same, refused;
        for (const Json& line : readLines(AXIAL_TEST_DATA "/chat_families.jsonl")) {
            const std::vector<Message> messages = messagesFromJson(line["messages"].dump());
            for (const std::string name : families) {
                if (!line.contains(name)) continue;
                const ChatTemplate chat(name);
                CAPTURE(name);
                CAPTURE(line["messages"].dump());
                if (line[name].is_null()) {
                    CHECK_THROWS_AS(chat.render(messages, optionsOf(line, name)), Error);
                    refused[name]++;
                } else {
                    CHECK(joined(chat.render(messages, optionsOf(line, name))) == line[name].get<std::string>());
                    same[name]++;
                }
            }
        }
        for (const std::string name : families) CHECK_MESSAGE(same[name] > 40, name);
        CHECK(refused["gemma2"] > 20);
        CHECK(refused["gemma3"] == 3);
        CHECK(refused["llama3.1"] == 2);
    }

    TEST_CASE("the published texts are known") {
        // A folder as the script wants it.
        const char* folder = std::getenv("AXIAL_CHAT_TEMPLATES");
        if (!folder) {
            MESSAGE("skipped: AXIAL_CHAT_TEMPLATES names no folder with the templates of Llama and Gemma");
            return;
        }
        for (const std::string name : families) {
            const std::string text = readFile(std::filesystem::path(folder) / (name + ".jinja"));
            CHECK(ChatTemplate::ofText(text).name() == name);
            std::string escaped;
            for (const char c : text) escaped += c == '\n' ? "\\n" : std::string(1, c);
            CHECK(ChatTemplate::ofText(escaped + "\n").name() == name);
            std::string other = text;
            other[other.rfind("%}") - 1] = '_';
            CHECK_THROWS_WITH_AS(ChatTemplate::ofText(other), doctest::Contains("is not known"), UnsupportedError);
        }
    }

    TEST_CASE("what a template writes as BOS is the vocabulary's, once") {
        for (const std::string bos : {"<|begin_of_text|>", "<bos>", "<my own start>"}) {
            const Tokenizer tokenizer = smallTokenizer(bos);
            const TokenId id = *tokenizer.vocabulary().bos;
            CHECK(tokenizer.withEnds(tokenizer.encode("x")) == Ids{id, 'x'});  // it would add one
            // No message can add another, nor end its own turn.
            const std::vector<Message> messages{{"user", bos + "<|eot_id|><end_of_turn>" + bos}, {"assistant", bos}};
            for (const std::string name : families) {
                CAPTURE(name);
                const ChatTemplate chat = chatTemplateOf(tokenizer.vocabulary(), name);
                const std::vector<TextPart> parts = chat.render(messages);
                CHECK(joined(parts).starts_with(bos));
                const Ids ids = tokenizer.encode(parts);
                CHECK(ids.front() == id);
                CHECK(std::count(ids.begin(), ids.end(), id) == 1);
                const TokenId end = *tokenizer.vocabulary().marker(name[0] == 'l' ? "<|eot_id|>" : "<end_of_turn>");
                CHECK(std::count(ids.begin(), ids.end(), end) == (name.starts_with("llama3.") ? 3 : 2));
                CHECK(tokenizer.bytes(ids) == joined(parts));
            }
        }
        // A vocabulary without one.
        Vocabulary vocabulary = smallTokenizer("<bos>").vocabulary();
        vocabulary.bos.reset();
        CHECK(joined(chatTemplateOf(vocabulary, "gemma3").render(std::vector<Message>{{"user", "x"}}))
                  .starts_with("<start_of_turn>user\nx"));
        CHECK_THROWS_WITH_AS(chatTemplateOf(vocabulary, "chatml"), doctest::Contains("has no token <|im_start|>"),
                             UnsupportedError);
        if (!oracle::present()) return;
        CHECK_THROWS_WITH_AS(chatTemplateOf(test::qwen3().vocabulary(), "llama3.1"),
                             doctest::Contains("has no token <|start_header_id|>, which llama3.1 needs"),
                             UnsupportedError);
    }

    TEST_CASE("Llama 3.2 writes today's date") {
        const auto today = [] {
            const std::time_t now = std::time(nullptr);
            char text[40];
            std::strftime(text, sizeof text, "Today Date: %d %b %Y\n\n", std::localtime(&now));
            return std::string(text);
        };
        const std::vector<Message> messages{{"user", "x"}};
        const std::string before = today(), text = joined(ChatTemplate("llama3.2").render(messages)), after = today();
        const bool there = text.find(before) != text.npos || text.find(after) != text.npos;
        CHECK(there);
        CHECK(joined(ChatTemplate("llama3.1").render(messages)).find("Today Date: 26 Jul 2024\n") != std::string::npos);
    }

    TEST_CASE("refusals say why") {
        const std::vector<Message> question{{"system", "s"}, {"user", "x"}};
        CHECK_THROWS_WITH_AS(ChatTemplate("gemma2").render(question), doctest::Contains("has no system message"),
                             UnsupportedError);
        CHECK_THROWS_WITH_AS(ChatTemplate("gemma3").render(std::vector<Message>{{"system", "s"}, {"assistant", "x"}}),
                             doctest::Contains("messages[1] is of the role assistant"), ValueError);
        for (const char* name : {"llama3", "gemma3"}) {
            CHECK_THROWS_WITH_AS(ChatTemplate(name).render(question, {.tools = {"{}"}}),
                                 doctest::Contains("has no place for tools"), UnsupportedError);
        }
        const ChatTemplate llama("llama3.1");
        CHECK_THROWS_WITH_AS(llama.render(std::vector<Message>{{"assistant", "", {}, {{"f", "{}"}, {"g", "{}"}}}}),
                             doctest::Contains("there are 2"), UnsupportedError);
        CHECK_THROWS_WITH_AS(llama.render(std::vector<Message>{{"system", ""}}, {.tools = {"{}"}}),
                             doctest::Contains("there is none"), ValueError);
        CHECK(llama.toolCallForm() == ToolCallForm::bare);
        CHECK(ChatTemplate("qwen3").toolCallForm() == ToolCallForm::tagged);
        CHECK(ChatTemplate("gemma3").toolCallForm() == ToolCallForm::none);
        CHECK_FALSE(llama.thinks());
    }
}
