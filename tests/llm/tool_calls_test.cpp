// Tool calls in replies: every way of cutting a reply into pieces gives the same.
#include "axial/llm/tool_calls.h"

#include <doctest/doctest.h>

#include "axial/llm/chat_messages.h"

using namespace axial::llm;

namespace {
using Parts = ToolCallSplitter::Parts;

void add(Parts& all, const Parts& more) {
    all.text += more.text;
    all.calls.insert(all.calls.end(), more.calls.begin(), more.calls.end());
    all.faults.insert(all.faults.end(), more.faults.begin(), more.faults.end());
}

std::string spelled(const Parts& parts) {
    std::string all = parts.text + "|";
    for (const ToolCall& call : parts.calls) all += call.name + call.arguments + "|";
    for (const std::string& fault : parts.faults) all += fault + "|";
    return all;
}

// The whole reply at once; in two pieces, cut anywhere; byte by byte.
Parts split(ToolCallForm form, const std::string& reply) {
    const auto inPieces = [&](std::size_t first, std::size_t then) {
        ToolCallSplitter splitter(form);
        Parts all;
        for (std::size_t at = 0, size = first; at < reply.size(); at += size, size = then)
            add(all, splitter.push(std::string_view(reply).substr(at, size)));
        add(all, splitter.finish());
        return all;
    };
    const Parts whole = inPieces(reply.size(), 1);
    CHECK(spelled(inPieces(1, 1)) == spelled(whole));
    for (std::size_t cut = 1; cut < std::min<std::size_t>(reply.size(), 400); cut++)
        CHECK(spelled(inPieces(cut, reply.size())) == spelled(whole));
    return whole;
}

void check(const Parts& parts, const std::string& text, const std::vector<ToolCall>& calls, std::size_t faults = 0) {
    CHECK(parts.text == text);
    REQUIRE(parts.calls.size() == calls.size());
    for (std::size_t i = 0; i < calls.size(); i++) {
        CHECK(parts.calls[i].name == calls[i].name);
        CHECK(parts.calls[i].arguments == calls[i].arguments);
    }
    CHECK(parts.faults.size() == faults);
}
}  // namespace

TEST_SUITE("tool calls") {
    TEST_CASE("between tags") {
        const auto tagged = [](const std::string& reply) { return split(ToolCallForm::tagged, reply); };
        check(tagged("Just <b>text</b>, a <tool> and \n white space \n"),
              "Just <b>text</b>, a <tool> and \n white space \n", {});
        check(tagged(""), "", {});
        check(tagged("<tool_call>\n{\"name\": \"f\", \"arguments\": {\"x\": 1}}\n</tool_call>"), "",
              {{"f", "{\"x\": 1}"}});
        check(tagged("Let me see.\n<tool_call>\n{\"name\":\"f\",\"arguments\":{\"x\":1.0,\"a\":[]}}\n</tool_call>\n"
                     "<tool_call>\n{\"arguments\": {\"deep\": {\"er\": {}}}, \"name\": \"g\"}\n</tool_call>\n\n"),
              "Let me see.", {{"f", "{\"x\": 1.0, \"a\": []}"}, {"g", "{\"deep\": {\"er\": {}}}"}});
        check(tagged("<tool_call>{\"name\": \"now\"}</tool_call> And then?  "), " And then?", {{"now", "{}"}});
        check(tagged("<tool_call>{\"name\": \"f\", \"parameters\": {}}</tool_call>"), "", {{"f", "{}"}});
        // A text that has the tags in it.
        check(tagged("<tool_call>{\"name\": \"say\", \"arguments\": {\"t\": "
                     "\"<tool_call>\\\"</tool_call>\\\\\"}}</tool_call>"),
              "", {{"say", "{\"t\": \"<tool_call>\\\"</tool_call>\\\\\"}"}});
        // The closing tag left out.
        check(tagged("a <tool_call>\n{\"name\": \"f\", \"arguments\": {}}\n"), "a", {{"f", "{}"}});
        check(
            tagged(
                "\xC3\xA9<tool_call>{\"name\": \"\xC3\xA9\", \"arguments\": {\"\xC3\xA9\": \"\\u00e9\"}}</tool_call>"),
            "\xC3\xA9", {{"\xC3\xA9", "{\"\xC3\xA9\": \"\xC3\xA9\"}"}});
    }

    TEST_CASE("between tags, but no calls") {
        const std::string good = "<tool_call>{\"name\": \"f\"}</tool_call>";
        for (const char* body :
             {"", "f(x)", "{", "{\"name\": \"f\", \"arguments\": {}", "[]", "1", "{}",
              "{\"name\": 1, \"arguments\": {}}", "{\"name\": \"f\", \"arguments\": []}",
              "{\"name\": \"f\", \"arguments\": \"{}\"}", "{\"name\": \"f\", \"arguments\": {\"x\": 1e999}}",
              "{\"name\": \"f\"} {\"name\": \"g\"}", "{\"name\": \"f, \"arguments\": {}}", "{'name': 'f'}",
              "{\"name\": \"f\xFF\"}", "\"", "\"\\", "{\"name\": \"f\"}</tool_cal"}) {
            CAPTURE(body);
            const std::string text = "A \n <tool_call>" + std::string(body) + "</tool_call>\n";
            // It stays as it is, and what comes behind is read.
            check(split(ToolCallForm::tagged, text), text, {}, 1);
            check(split(ToolCallForm::tagged, text + good), text.substr(0, text.size() - 1), {{"f", "{}"}}, 1);
        }
        check(split(ToolCallForm::tagged, "<tool_call>\n{\"name\": \"f\", "), "<tool_call>\n{\"name\": \"f\", ", {}, 1);
        const std::string deep = std::string(100000, '[') + std::string(100000, ']');
        const std::string text = "<tool_call>{\"name\": \"f\", \"arguments\": {\"x\": " + deep + "}}</tool_call>";
        ToolCallSplitter splitter(ToolCallForm::tagged);
        const Parts parts = splitter.push(text);
        check(parts, text, {}, 1);
        CHECK(parts.faults.front() == "tool call: left as text, since nested more than 200 deep");
    }

    TEST_CASE("many tags take no quadratic time") {
        std::string tags, open;
        for (int i = 0; i < 50000; i++) tags += "<tool_call>{\"</tool_call>", open += "<tool_call>";
        for (const std::string& reply : {tags, "<tool_call>{\"" + open, "<tool_call>\"" + std::string(1000000, ' ')}) {
            ToolCallSplitter splitter(ToolCallForm::tagged);
            Parts all = splitter.push(reply);
            add(all, splitter.finish());
            CHECK(all.text.size() == reply.size());
        }
    }

    TEST_CASE("nothing is held back longer than it must be") {
        ToolCallSplitter splitter(ToolCallForm::tagged);
        CHECK(splitter.push("Hello").text == "Hello");
        CHECK(splitter.push(" \n").text == "");
        CHECK(splitter.push("<to").text == "");
        CHECK(splitter.push("p>").text == " \n<top>");
        CHECK(splitter.push("<tool_call>{\"name\": \"f\"}</tool_call").calls.empty());
        CHECK(splitter.push(">").calls.size() == 1);
        ToolCallSplitter bare(ToolCallForm::bare);
        CHECK(bare.push("{\"na").text == "");
        CHECK(bare.push("tion\": 1").text == "{\"nation\": 1");
        CHECK(bare.push("{").text == "{");
    }

    TEST_CASE("bare, as Llama 3.1 writes them") {
        const auto bare = [](const std::string& reply) { return split(ToolCallForm::bare, reply); };
        check(bare("{\"name\": \"f\", \"parameters\": {\"x\": \"}{\"}}"), "", {{"f", "{\"x\": \"}{\"}"}});
        check(bare(" \n{ \"type\": \"function\", \"name\": \"f\", \"parameters\": {}}\n"), "", {{"f", "{}"}});
        check(bare("{\"name\": \"f\", \"parameters\": {}}; {\"name\": \"g\", \"parameters\": {\"a\":{\"b\":[1,{}]}}}"),
              "", {{"f", "{}"}, {"g", "{\"a\": {\"b\": [1, {}]}}"}});
        check(bare("{\"name\": \"f\", \"parameters\": {}} is how."), " is how.", {{"f", "{}"}});
        // Text, and JSON that is an answer.
        for (const char* text :
             {"", " ", "Hi {\"name\": \"f\", \"parameters\": {}}", "{", "{}", "{\"names\": []}",
              "{\"name\": \"Bob\", \"age\": 3}", "[{\"name\": \"f\", \"parameters\": {}}]", "{\"x"}) {
            CAPTURE(text);
            const bool broken = std::string(text) == "{";
            check(bare(text), text, {}, broken ? 1 : 0);
        }
        for (const char* text :
             {"{\"name\": \"f\", \"parameters\": {", "{\"name\": \"f\", \"parameters\": {\"x\": 1e999}}",
              "{\"name\": \"f\", \"parameters\": 1}", "{\"name\": 1, \"parameters\": {}}",
              "{\"name\": f, \"parameters\": {}}"}) {
            CAPTURE(text);
            check(bare(text), text, {}, 1);
        }
        const std::string deep =
            "{\"name\": \"f\", \"parameters\": {\"x\": " + std::string(300, '[') + std::string(300, ']') + "}}";
        check(bare(deep), deep, {}, 1);
    }

    TEST_CASE("where no calls are to be expected") {
        const std::string reply = "<tool_call>{\"name\": \"f\", \"arguments\": {}}</tool_call> \n";
        check(split(ToolCallForm::none, reply), reply, {});
    }

    TEST_CASE("a reply and its message give the same prompt") {
        const std::string reply =
            "I look.\n<tool_call>\n{\"name\": \"f\", \"arguments\": {\"x\": [1, \"\u00e9\"]}}\n</tool_call>\n"
            "<tool_call>\n{\"name\": \"g\", \"arguments\": {}}\n</tool_call>";
        const Parts parts = split(ToolCallForm::tagged, reply);
        const ChatTemplate chat("qwen3");
        std::string text;
        for (const TextPart& part : chat.render(
                 std::vector<Message>{{"user", "q"}, {"assistant", parts.text, "", parts.calls}, {"tool", "1"}}))
            text += part.text;
        CHECK(text.find("<|im_start|>assistant\n" + reply + "<|im_end|>\n") != std::string::npos);
    }
}
