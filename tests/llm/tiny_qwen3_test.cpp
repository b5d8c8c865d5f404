// The bundled model answers what it was not trained on: held-out wordings and topics (examples/tiny_qwen3).
#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "axial/llm/chat_template.h"
#include "axial/llm/load.h"
#include "axial/llm/tokenizer.h"

using namespace axial;
using namespace axial::llm;

namespace {

const LoadedModel& bundled() {
    static const LoadedModel loaded = loadBundled();
    return loaded;
}

std::vector<nlohmann::json> lines(const std::string& file) {
    std::ifstream in(std::string(AXIAL_TEST_DATA "/") + file);
    std::vector<nlohmann::json> all;
    for (std::string line; std::getline(in, line);) all.push_back(nlohmann::json::parse(line));
    return all;
}

// The greedy continuation up to a token that ends a reply, which is left out.
std::vector<TokenId> greedy(const LoadedModel& loaded, std::vector<TokenId> next, std::size_t most) {
    KvCache cache = loaded.model->makeCache(next.size() + most, Format::f16);
    std::vector<TokenId> ids;
    while (ids.size() < most) {
        const Logits logits = loaded.model->forward(cache, next, LogitsOf::last);
        const auto values = logits.values();
        const auto best = static_cast<TokenId>(std::max_element(values.begin(), values.end()) - values.begin());
        if (loaded.tokenizer->endsGeneration(best)) break;
        ids.push_back(best);
        next = {best};
    }
    return ids;
}

std::string answerTo(const LoadedModel& loaded, const nlohmann::json& messages, bool thinking) {
    static const ChatTemplate form = chatTemplateOf(loaded.tokenizer->vocabulary());
    std::vector<Message> turns;
    for (const auto& message : messages) turns.push_back({message.at("role"), message.at("content")});
    RenderOptions options;
    options.thinking = thinking;
    const auto parts = form.render(turns, options);
    const std::string reply = loaded.tokenizer->decode(greedy(loaded, loaded.tokenizer->encode(parts), 160));
    const std::string end = "</think>\n\n";
    const std::size_t at = reply.find(end);
    return at == std::string::npos ? reply : reply.substr(at + end.size());
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::size_t every = 12;  // a sanitizer needs twenty times as long
#else
constexpr std::size_t every = 1;
#endif

}  // namespace

// What is wanted of it; examples/tiny_qwen3/README.md has the figures.
constexpr double answeredFloor = 0.95, refusedFloor = 0.90;

TEST_CASE("the bundled model answers held-out questions, and refuses topics that it does not know") {
    struct Score {
        std::size_t right = 0, all = 0;
        double share() const { return static_cast<double>(right) / static_cast<double>(all); }
    };
    std::map<std::string, Score> byCategory;
    std::map<bool, Score> wanted;  // by thinking
    const auto questions = lines("tiny_qwen3_heldout.jsonl");
    REQUIRE(questions.size() >= 1000);
    for (std::size_t i = 0; i < questions.size(); i += every) {
        const auto& question = questions[i];
        const std::string category = question.at("category");
        const bool thinking = question.at("thinking");
        const bool right =
            answerTo(bundled(), question.at("messages"), thinking) == question.at("answer").get<std::string>();
        Score& score = byCategory[category + (thinking ? ", thinking" : "")];
        score.right += right, ++score.all;
        if (category != "refuse") wanted[thinking].right += right, ++wanted[thinking].all;
    }
    for (const auto& [category, score] : byCategory) MESSAGE(category << ": " << score.right << " of " << score.all);
    if (every > 1) return;  // too few for a share to mean much: what was asked here is that nothing was found
    for (const bool thinking : {false, true}) {
        CAPTURE(thinking);
        CHECK(wanted[thinking].share() >= answeredFloor);
        CHECK(byCategory[thinking ? "refuse, thinking" : "refuse"].share() >= refusedFloor);
    }
}

TEST_CASE("the bundled model answers what people type first, as they type it") {
    const std::pair<const char*, const char*> turns[] = {
        {"hello", "Hello! How can I help you?"},
        {"thanks", "You are welcome!"},
        {"thank you", "You are welcome!"},
        {"how are you?", "I am fine, thank you. What would you like to know?"},
        {"bye", "Goodbye! Come back any time."},
        {"See you!", "Goodbye! Come back any time."},
        {"sorry", "No problem at all."},
        {"who are you", "I am axial-tiny, a small language model that comes with the axial library."},
        {"What is the capital of France?", "The capital of France is Paris."},
    };
    for (const auto& [question, answer] : turns)
        for (const bool thinking : {false, true}) {
            CAPTURE(question);
            CAPTURE(thinking);
            CHECK(answerTo(bundled(), {{{"role", "user"}, {"content", question}}}, thinking) == answer);
        }
}

TEST_CASE("the bundled model's greedy answers are llama.cpp's, token for token") {
    const auto cases = lines("tiny_qwen3_llama.jsonl");
    REQUIRE(cases.size() >= 30);
    for (std::size_t i = 0; i < cases.size(); i += every) {
        CAPTURE(cases[i].at("prompt").get<std::string>());
        const std::vector<TokenId> prompt = cases[i].at("ids");
        std::vector<TokenId> answer = cases[i].at("answer");
        const std::size_t most = answer.size();
        if (bundled().tokenizer->endsGeneration(answer.back())) answer.pop_back();
        CHECK(bundled().tokenizer->encode(cases[i].at("prompt").get<std::string>(), SpecialTokens::parse) == prompt);
        CHECK(greedy(bundled(), prompt, most) == answer);
    }
}
