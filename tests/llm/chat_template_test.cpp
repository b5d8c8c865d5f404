// Prompts against what jinja2 makes of the models' own templates (chat.jsonl), and the chat reports.
#include "axial/llm/chat_template.h"

#include "axial/llm/chat_messages.h"
#include "axial/llm/json_text.h"
#include "axial/tensor/error.h"
#include "tokenizer_data.h"

using namespace axial;
using namespace axial::llm;
using namespace axial::llm::test;

namespace {
std::string joined(const std::vector<TextPart>& parts) {
    std::string text;
    for (const TextPart& part : parts) text += part.text;
    return text;
}

ChatTemplate templateOf(const std::string& model) { return ChatTemplate(model == "qwen2_5" ? "qwen2.5" : model); }

// The options of a report's request.
RenderOptions optionsOf(const Json& request) {
    RenderOptions options;
    options.generationPrompt = request["add_generation_prompt"];
    if (request.contains("kwargs")) options.thinking = request["kwargs"].value("enable_thinking", true);
    return options;
}
}  // namespace

TEST_SUITE("chat template") {
    TEST_CASE("the 60 conversations, by Qwen3's template and by Qwen2.5's") {
        if (!oracle::present()) return;
        const ChatTemplate qwen3 = chatTemplateOf(test::qwen3().vocabulary()), qwen25("qwen2.5");
        CHECK(qwen3.name() == "qwen3");
        CHECK(qwen3.thinks());
        CHECK_FALSE(qwen25.thinks());
        int cases = 0;
        for (const Json& line : readLines(oracle::path("chat/chat.jsonl"))) {
            const std::string name = line["name"];
            CAPTURE(name);
            std::vector<Message> messages = messagesFromJson(line["messages"].dump());
            // The templates see the string that the reference gave them.
            if (name == "arguments as a string") {
                messages[1].toolCalls[0].arguments =
                    line["messages"][1]["tool_calls"][0]["function"]["arguments"].dump();
            }
            RenderOptions options{line["add_generation_prompt"], line["enable_thinking"] != false, {}};
            if (!line["tools"].is_null()) {
                for (const Json& tool : line["tools"]) options.tools.push_back(tool.dump());
            }
            CHECK(joined(qwen3.render(messages, options)) == line["qwen3"].get<std::string>());
            CHECK(joined(qwen25.render(messages, options)) == line["qwen2_5"].get<std::string>());
            cases += 2;
        }
        CHECK(cases == 120);
    }

    TEST_CASE("the two templates of July 2025, with thoughts always and never") {
        const Json cases = Json::parse(readFile(AXIAL_TEST_DATA "/chat_2507.json"));
        CHECK(cases.size() == 12);
        for (const auto& [name, line] : cases.items()) {
            CAPTURE(name);
            RenderOptions options{line["add_generation_prompt"], true, {}};
            if (!line["tools"].is_null()) {
                for (const Json& tool : line["tools"]) options.tools.push_back(tool.dump());
            }
            const std::vector<Message> messages = messagesFromJson(line["messages"].dump());
            for (const char* form : {"qwen3-thinking", "qwen3-instruct"}) {
                CHECK(joined(ChatTemplate(form).render(messages, options)) == line[form].get<std::string>());
            }
        }
        CHECK(ChatTemplate("qwen3-thinking").thinks());
        CHECK_FALSE(ChatTemplate("qwen3-thinking").canSkipThinking());
        CHECK_FALSE(ChatTemplate("qwen3-instruct").thinks());
        CHECK(ChatTemplate("qwen3").canSkipThinking());
    }

    TEST_CASE("spellings of one template that make no difference") {
        const std::string turns =
            "{{'<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>' + '\\n'}}"
            "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}";
        const std::string loop = "{% for message in messages %}";
        const std::vector<Message> question{{"user", "Hi"}};
        const std::string plain = "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n";
        CHECK(joined(ChatTemplate::ofText(loop + turns).render(question)) == plain);
        CHECK(joined(ChatTemplate::ofText(loop + turns + "\n\n").render(question)) == plain);
        const std::string system = "{% if loop.first and messages[0]['role'] != 'system' %}{{ '<|im_start|>system\\n";
        CHECK(joined(ChatTemplate::ofText(loop + system + "Be kind.<|im_end|>\\n' }}{% endif %}" + turns)
                         .render(question)) == "<|im_start|>system\nBe kind.<|im_end|>\n" + plain);
        CHECK_THROWS_AS(ChatTemplate::ofText(loop + system + "It' + x + 's<|im_end|>\\n' }}{% endif %}" + turns),
                        UnsupportedError);
        CHECK_THROWS_AS(ChatTemplate::ofText(loop + "{{ other }}" + turns), UnsupportedError);
        CHECK_THROWS_AS(ChatTemplate::ofText(loop), UnsupportedError);
    }

    TEST_CASE("SmolLM2's prompt") {
        if (!oracle::present()) return;
        const ChatTemplate chat = ChatTemplate::ofText(
            "{% for message in messages %}{% if loop.first and messages[0]['role'] != 'system' %}{{ "
            "'<|im_start|>system\n"
            "You are a helpful AI assistant named SmolLM, trained by Hugging Face<|im_end|>\n' }}{% endif %}"
            "{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n'}}{% endfor %}"
            "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}");
        CHECK(chat.name() == "chatml");
        const Json reference = Json::parse(readFile(oracle::path("smollm2/smollm2-135m-q4_1.json")));
        CHECK(joined(chat.render(std::vector<Message>{{"user", "What is the capital of France?"}})) ==
              reference["prompt"].get<std::string>());
        CHECK(joined(chat.render(std::vector<Message>{{"system", "S"}, {"user", "U"}}, {.generationPrompt = false})) ==
              "<|im_start|>system\nS<|im_end|>\n<|im_start|>user\nU<|im_end|>\n");
    }

    TEST_CASE("CHAT-01: without thinking the answer begins behind empty thoughts") {
        if (!oracle::present()) return;
        const Json row = report("CHAT-01");
        for (std::size_t i = 0; i < row["input"]["requests"].size(); i++) {
            const Json& request = row["input"]["requests"][i];
            const Json& expected = row["expected"]["renderings"][i];
            const auto parts =
                ChatTemplate("qwen3").render(messagesFromJson(request["messages"].dump()), optionsOf(request));
            CHECK(joined(parts) == expected["prompt"].get<std::string>());
            const Ids ids = test::qwen3().encode(parts);
            CHECK(ids.size() == expected["n_tokens"].get<std::size_t>());
            if (i == 2) CHECK(ids == row["expected"]["ids_of_third"].get<Ids>());
        }
    }

    TEST_CASE("CHAT-03: the stored template decides, and its system message") {
        if (!oracle::present()) return;
        const Json row = report("CHAT-03");
        for (std::size_t i = 0; i < row["input"]["requests"].size(); i++) {
            const Json& request = row["input"]["requests"][i];
            const Json& expected = row["expected"]["renderings"][i];
            const std::string model = request["model"];
            CAPTURE(model);
            const ChatTemplate chat = model == "custom" ? ChatTemplate::ofText(expected["template"].get<std::string>())
                                      : model == "none" ? ChatTemplate("chatml")
                                                        : templateOf(model);
            const auto parts = chat.render(messagesFromJson(request["messages"].dump()), optionsOf(request));
            CHECK(joined(parts) == expected["prompt"].get<std::string>());
            const Ids ids = test::qwen3().encode(parts);
            CHECK(ids.size() == expected["n_tokens"].get<std::size_t>());
            if (i == 0) CHECK(ids == row["expected"]["ids_of_first"].get<Ids>());
        }
        // No template stored: ChatML where the tokens are, an error where they are not.
        Vocabulary vocabulary = vocabularyOf(GgufFile::open(oracle::path("models/tiny-qwen3-F32.gguf")));
        vocabulary.chatTemplate.reset();
        CHECK(chatTemplateOf(vocabulary).name() == "chatml");
        CHECK(chatTemplateOf(vocabulary, "qwen2.5").name() == "qwen2.5");
        Vocabulary bare;
        bare.source = "bare.gguf";
        CHECK_THROWS_WITH_AS(chatTemplateOf(bare), doctest::Contains("bare.gguf has none"), UnsupportedError);
        CHECK_THROWS_WITH_AS(chatTemplateOf(bare, "chatml"), doctest::Contains("has no token <|im_start|>"),
                             UnsupportedError);
    }

    TEST_CASE("CHAT-05: tool calls as the API sends them back") {
        if (!oracle::present()) return;
        const Json row = report("CHAT-05");
        for (std::size_t i = 0; i < row["input"]["requests"].size(); i++) {
            const Json& request = row["input"]["requests"][i];
            const Json& expected = row["expected"]["renderings"][i];
            const auto parts =
                templateOf(request["model"]).render(messagesFromJson(request["messages"].dump()), optionsOf(request));
            CHECK(joined(parts) == expected["prompt"].get<std::string>());
            // The markers of a tool call are the template's, not the message's.
            CHECK(test::qwen3().encode(parts) == test::qwen3().encode(joined(parts)));
        }
    }

    TEST_CASE("CHAT-06: a message cannot spell the template's markers") {
        if (!oracle::present()) return;
        const Json row = report("CHAT-06");
        for (std::size_t i = 0; i < row["input"]["requests"].size(); i++) {
            const Json& request = row["input"]["requests"][i];
            const auto parts =
                ChatTemplate("qwen3").render(messagesFromJson(request["messages"].dump()), optionsOf(request));
            CHECK(test::qwen3().encode(parts) == row["expected"]["ids"][i].get<Ids>());
        }
        // Neither can two of them together, nor one and the template.
        const Ids control{151643, 151644, 151645};
        const std::vector<Message> messages{{"user", "<|im_"}, {"user", "end|>"}, {"assistant", "<|im_start|"}};
        int markers = 0;
        for (const TokenId id : test::qwen3().encode(ChatTemplate("qwen3").render(messages))) {
            markers += std::find(control.begin(), control.end(), id) != control.end();
        }
        CHECK(markers == 7);  // three turns and the beginning of the answer
    }

    TEST_CASE("unknown templates, names and roles are refused") {
        CHECK_THROWS_WITH_AS(ChatTemplate("llama9"), doctest::Contains("none called llama9; choose one of qwen3"),
                             UnsupportedError);
        CHECK_THROWS_WITH_AS(ChatTemplate::ofText("{{ bos_token }}{% for m in messages %}"),
                             doctest::Contains("beginning \"{{ bos_token }}"), UnsupportedError);
        CHECK_THROWS_AS(ChatTemplate::ofText(""), UnsupportedError);
        const ChatTemplate chatml("chatml");
        CHECK_THROWS_AS(chatml.render({}), ValueError);
        CHECK_THROWS_WITH_AS(chatml.render(std::vector<Message>{{"developer", "x"}}),
                             doctest::Contains("the role developer"), ValueError);
        CHECK_THROWS_WITH_AS(chatml.render(std::vector<Message>{{"user", "x"}}, {.tools = {"{}"}}),
                             doctest::Contains("no place for tools"), UnsupportedError);
        CHECK_THROWS_AS(chatml.render(std::vector<Message>{{"assistant", "", {}, {{"f", "{}"}}}}), UnsupportedError);
        CHECK_THROWS_AS(ChatTemplate("qwen3").render(std::vector<Message>{{"user", "x"}}, {.tools = {"{"}}),
                        ValueError);
    }

    TEST_CASE("messages that are none") {
        for (const char* json :
             {"", "{}", "[1]", "[{}]", R"([{"role": 1}])", R"([{"role": "user", "content": 1}])",
              R"([{"role": "user", "content": [{"type": "image_url"}]}])", R"([{"role": "user", "content": [1]}])",
              R"([{"role": "assistant", "tool_calls": 1}])", R"([{"role": "assistant", "tool_calls": [{}]}])",
              R"([{"role": "assistant", "tool_calls": [1]}])",
              R"([{"role": "assistant", "tool_calls": [{"function": 1}]}])",
              R"([{"role": "assistant", "reasoning_content": 1}])", R"([{"role": "user", "content": 1e999}])",
              R"([{"role": "user", "content": "x", "tool_calls": [{"name": "f", "arguments": {"x": -1E4000}}]}])"}) {
            CAPTURE(json);
            CHECK_THROWS_WITH_AS(messagesFromJson(json), doctest::Contains("chat: messages"), ValueError);
        }
        CHECK_THROWS_AS(messagesFromJson(std::string(100000, '[')), ValueError);
    }

    TEST_CASE("JSON as Python spells it") {
        CHECK(spacedJson(R"({"b":1,"a":[1,2,{}],"c":{"d":null,"e":true}})") ==
              R"({"b": 1, "a": [1, 2, {}], "c": {"d": null, "e": true}})");
        CHECK(spacedJson(R"(["\u00e9\/\n\u0001\u007f\ud83d\ude00", ""])") ==
              "[\"\u00e9/\\n\\u0001\x7f\U0001f600\", \"\"]");
        // Values by Python 3.11: repr(float).
        CHECK(spacedJson(
                  "[3.0, 0.1, 1e22, 1e-7, 1e15, 1e16, 123456789012345.6, 0.0001, 0.00001, -0.0, 1.5e300, 5e-324]") ==
              "[3.0, 0.1, 1e+22, 1e-07, 1000000000000000.0, 1e+16, 123456789012345.6, 0.0001, 1e-05, -0.0, 1.5e+300, "
              "5e-324]");
        CHECK(spacedJson("[-7, 18446744073709551615]") == "[-7, 18446744073709551615]");
        CHECK(jsonString("\"x\\n\"") == "x\n");
        CHECK_FALSE(jsonString("1"));
        for (const char* json : {"", "{", "[1,]", "nul", "\"\xff\"", "1e999", "[0, -2e308]"})
            CHECK_THROWS_AS(spacedJson(json), ValueError);
        CHECK_THROWS_AS(spacedJson(std::string(100000, '[') + std::string(100000, ']')), ValueError);
    }
}
