// Checks conversations on a model whose logits are a function of every token before them, so that a cache that does
// not hold what the history says shows in the text.
#include "axial/llm/conversation.h"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "axial/llm/sampler_random.h"
#include "axial/llm/thinking.h"

namespace axial::llm {
namespace {

using Tokens = std::vector<TokenId>;

struct FakeCache {
    Tokens tokens;
    std::size_t room = 0;
    std::size_t length() const { return tokens.size(); }
    std::size_t capacity() const { return room; }
    void truncate(std::size_t length) {
        REQUIRE(length <= tokens.size());
        tokens.resize(length);
    }
};

struct FakeLogits {
    std::vector<float> numbers;
    std::span<const float> values() const { return numbers; }
};

// 16 tokens; the next one follows from a hash of all before. `script` overrides: after n tokens comes script[n].
struct FakeModel {
    std::map<std::size_t, TokenId> script = {};
    mutable std::vector<std::size_t> computed = {};  // tokens of each forward pass
    mutable std::optional<std::size_t> failAt = {};  // the pass that throws

    FakeCache makeCache(std::size_t capacity, Format) const { return {{}, capacity}; }
    FakeLogits forward(FakeCache& cache, std::span<const TokenId> tokens, LogitsOf) const {
        REQUIRE(cache.length() + tokens.size() <= cache.capacity());
        if (failAt && computed.size() == *failAt) throw ValueError("fault");
        computed.push_back(tokens.size());
        cache.tokens.insert(cache.tokens.end(), tokens.begin(), tokens.end());
        std::uint64_t hash = 1;
        for (const TokenId t : cache.tokens) hash = hash * 6364136223846793005u + static_cast<std::uint64_t>(t) + 1;
        FakeLogits logits;
        for (std::uint64_t i = 0; i < 16; ++i) logits.numbers.push_back(static_cast<float>(4 * uniformAt(hash, i)));
        if (const auto it = script.find(cache.length()); it != script.end()) logits.numbers[it->second] = 100;
        return logits;
    }
    std::size_t allComputed() const {
        std::size_t sum = 0;
        for (const std::size_t n : computed) sum += n;
        return sum;
    }
};
static_assert(ForwardModel<FakeModel>);
static_assert(ForwardModel<Model>);
static_assert(!ForwardModel<FakeCache>);

// Token n is the letter 'a' + n; finish() tells that the end was said.
struct Letters {
    std::string push(TokenId token) { return std::string(1, static_cast<char>('a' + token)); }
    std::string finish() { return "."; }
};

struct Said {
    Reply reply;
    std::string text;
};

Said say(Conversation<FakeModel>& conversation, const Tokens& prompt, const ReplyOptions& options,
         double temperature = 0) {
    SamplerSettings settings;
    settings.temperature = temperature;
    settings.seed = 5;
    Sampler sampler(settings);
    Said said;
    said.reply = conversation.reply(prompt, sampler, Letters(), options, [&](std::string_view t) { said.text += t; });
    return said;
}

void checkAgrees(const Conversation<FakeModel>& conversation) {
    CHECK(Tokens(conversation.history().begin(), conversation.history().end()) == conversation.cache().tokens);
}

Tokens joined(Tokens a, const Tokens& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

TEST_CASE("conversation: in later turns only new tokens are computed, and the text is as from an empty cache") {
    FakeModel model;
    Conversation conversation(model, model.makeCache(100, Format::f32));
    Tokens prompt = {1, 2, 3, 4, 5};
    const ReplyOptions options{.maxTokens = 6};
    for (int turn = 0; turn < 4; ++turn) {
        const std::size_t held = conversation.history().size(), before = model.allComputed();
        const Said said = say(conversation, prompt, options, 1.0);
        CHECK(said.reply.end == ReplyEnd::length);
        CHECK(said.reply.tokens.size() == 6);
        CHECK(said.reply.promptTokens == prompt.size());
        CHECK(said.reply.reusedTokens == held);
        // The prompt's new tokens, and the reply's without the last, which nobody needed yet.
        CHECK(model.allComputed() - before == prompt.size() - held + 5);
        checkAgrees(conversation);

        FakeModel fresh;
        Conversation alone(fresh, fresh.makeCache(100, Format::f32));
        CHECK(say(alone, prompt, options, 1.0).text == said.text);
        prompt = joined(joined(prompt, said.reply.tokens), {7, 8, 9});
    }
}

TEST_CASE("KV-01: the longest common start is reused, but never the whole prompt") {
    std::ifstream file(AXIAL_ORACLE "/reports.jsonl");
    if (!file) {
        MESSAGE("no ", AXIAL_ORACLE, "/reports.jsonl");
        return;
    }
    nlohmann::json row;
    for (std::string line; std::getline(file, line);)
        if (line.find("\"KV-01\"") != std::string::npos) row = nlohmann::json::parse(line);
    const Tokens cached = row.at("input").at("cached");
    const auto& prompts = row.at("input").at("prompts");
    for (std::size_t i = 0; i < prompts.size(); ++i) {
        FakeModel model;
        Conversation conversation(model, model.makeCache(32, Format::f32));
        say(conversation, cached, {.maxTokens = 0});
        model.computed.clear();
        const Tokens prompt = prompts[i];
        const Said said = say(conversation, prompt, {.maxTokens = 0});
        CHECK(said.reply.reusedTokens == row.at("expected").at("n_reused")[i].get<std::size_t>());
        CHECK(model.allComputed() == row.at("expected").at("n_evaluated")[i].get<std::size_t>());
        CHECK(conversation.cache().tokens == prompt);
        checkAgrees(conversation);
    }
}

TEST_CASE("STRM-03: every end-of-generation token ends a reply and is not part of it") {
    for (const TokenId end : {14, 15}) {
        FakeModel model{.script = {{2, 7}, {3, end}, {4, 7}}};
        Conversation conversation(model, model.makeCache(32, Format::f32));
        const Said said = say(conversation, {1, 2}, {.stopTokens = {14, 15}});
        CHECK(said.reply.end == ReplyEnd::stopToken);
        CHECK(said.reply.tokens == Tokens{7});
        CHECK(said.text == "h.");
        CHECK(conversation.cache().tokens == Tokens{1, 2, 7});
    }
}

TEST_CASE("conversation: a stop string ends the reply, and nothing of it is shown") {
    FakeModel model{.script = {{1, 0}, {2, 1}, {3, 2}, {4, 0}, {5, 1}, {6, 3}, {7, 9}}};  // abcabdj
    Conversation conversation(model, model.makeCache(32, Format::f32));
    std::vector<std::string> pieces;
    SamplerSettings greedy;
    greedy.temperature = 0;
    Sampler sampler(greedy);
    const Tokens prompt = {1};
    const Reply reply = conversation.reply(prompt, sampler, Letters(), {.maxTokens = 20, .stopTexts = {"abd", "xyz"}},
                                           [&](std::string_view t) { pieces.emplace_back(t); });
    CHECK(reply.end == ReplyEnd::stopText);
    CHECK(reply.stop == "abd");
    CHECK(pieces == std::vector<std::string>{"abc"});
    CHECK(reply.tokens.size() == 6);
    checkAgrees(conversation);
}

TEST_CASE("conversation: text held back is shown when the reply ends otherwise") {
    FakeModel model{.script = {{1, 0}, {2, 1}}};
    Conversation conversation(model, model.makeCache(32, Format::f32));
    CHECK(say(conversation, {1}, {.maxTokens = 2, .stopTexts = {"abd"}}).text == "ab.");
    const Said last =
        say(conversation, {1}, {.maxTokens = 2, .stopTexts = {"ab."}});  // complete with the decoder's rest
    CHECK(last.text.empty());
    CHECK(last.reply.end == ReplyEnd::stopText);
}

TEST_CASE("conversation: a full context ends the reply; a prompt that does not fit is refused with the numbers") {
    FakeModel model;
    Conversation conversation(model, model.makeCache(8, Format::f32));
    const Said said = say(conversation, {1, 2, 3, 4, 5}, {});
    CHECK(said.reply.end == ReplyEnd::contextFull);
    CHECK(said.reply.tokens.size() == 4);  // three in the cache, and one that needs no place
    CHECK(conversation.history().size() == 8);
    const Tokens before = conversation.cache().tokens;
    CHECK_THROWS_WITH_AS(say(conversation, Tokens(9, 1), {}),
                         "context full: the prompt has 9 tokens, but there is room for 8; shorten it or make a larger "
                         "context",
                         ContextFullError);
    CHECK(conversation.cache().tokens == before);
    CHECK(say(conversation, Tokens(8, 1), {}).reply.tokens.size() == 1);
    checkAgrees(conversation);
    CHECK_THROWS_AS(say(conversation, {}, {}), ValueError);
}

TEST_CASE("conversation: cancelled or broken at any pass, it goes on as if that had not been") {
    const Tokens prompt = {3, 1, 4, 1, 5, 9, 2, 6};
    const ReplyOptions plain{.maxTokens = 6, .batch = 3};
    FakeModel whole;
    Conversation reference(whole, whole.makeCache(64, Format::f32));
    const Said want = say(reference, prompt, plain, 1.0);
    const std::size_t passes = whole.computed.size();
    CHECK(passes == 3 + 5);

    for (std::size_t at = 0; at < passes; ++at) {
        CAPTURE(at);
        FakeModel model{.failAt = at};
        Conversation conversation(model, model.makeCache(64, Format::f32));
        CHECK_THROWS_AS(say(conversation, prompt, plain, 1.0), ValueError);
        checkAgrees(conversation);
        model.failAt.reset();
        CHECK(say(conversation, prompt, plain, 1.0).text == want.text);

        Conversation another(model, model.makeCache(64, Format::f32));
        ReplyOptions cancelling = plain;
        std::size_t asked = 0;
        cancelling.cancelled = [&] { return asked++ == at; };
        CHECK(say(another, prompt, cancelling, 1.0).reply.end == ReplyEnd::cancelled);
        checkAgrees(another);
        CHECK(say(another, prompt, plain, 1.0).text == want.text);
    }
}

TEST_CASE("stop text: how the text is cut into pieces makes no difference") {
    rc::check([] {
        const auto letters = rc::gen::container<std::string>(rc::gen::element('a', 'b', 'c'));
        const auto stops = *rc::gen::container<std::vector<std::string>>(
            *rc::gen::inRange(0, 3), rc::gen::suchThat(letters, [](const std::string& s) { return !s.empty(); }));
        const auto pieces = *rc::gen::container<std::vector<std::string>>(letters);
        std::string text, shown;
        StopText stop(stops);
        for (const std::string& piece : pieces) {
            text += piece;
            shown += stop.push(piece);
        }
        const bool found = stop.found();
        if (!found) shown += stop.finish();
        // Letter by letter: the first end of the text that is a stop.
        std::string want = text;
        bool wanted = false;
        for (std::size_t end = 0; end <= text.size() && !wanted; ++end)
            for (const std::string& s : stops)
                if (std::string_view(text).substr(0, end).ends_with(s)) {
                    wanted = true;
                    want = std::min(want, text.substr(0, end - s.size()),
                                    [](const auto& a, const auto& b) { return a.size() < b.size(); });
                }
        RC_ASSERT(found == wanted);
        RC_ASSERT(shown == want);
    });
    CHECK_THROWS_AS(StopText({"a", ""}), ValueError);
}

TEST_CASE("thinking: thoughts and answer are told apart, however the text is cut") {
    struct Case {
        bool opened;
        std::string text, thoughts, answer;
    };
    const Case cases[] = {
        {false, "<think>\nTwo and two.\n</think>\n\nFour.\n", "Two and two.", "Four.\n"},
        {false, "<think>\n\n</think>\n\nFour.", "", "Four."},
        {false, "Four < five. <think>not</think>", "", "Four < five. <think>not</think>"},
        {false, "  <thin", "", "  <thin"},
        {false, "\n\nFour.", "", "\n\nFour."},
        {true, "a </thing> b </think> c </think>", "a </thing> b", "c </think>"},
        {true, "still at it", "still at it", ""},
        {false, "", "", ""},
    };
    for (const Case& c : cases)
        for (std::size_t piece = 1; piece <= c.text.size() + 1; ++piece) {
            CAPTURE(c.text);
            CAPTURE(piece);
            ThinkingSplitter splitter(c.opened);
            std::string thoughts, answer;
            const auto add = [&](const ThinkingSplitter::Parts& parts) {
                thoughts += parts.thoughts;
                answer += parts.answer;
            };
            for (std::size_t i = 0; i < c.text.size(); i += piece) add(splitter.push(c.text.substr(i, piece)));
            add(splitter.finish());
            CHECK(thoughts == c.thoughts);
            CHECK(answer == c.answer);
        }
}

}  // namespace
}  // namespace axial::llm
