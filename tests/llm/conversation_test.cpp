// Checks conversations on a model without weights (fake_model.h).
#include "axial/llm/conversation.h"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "axial/llm/thinking.h"
#include "llm/fake_model.h"

namespace axial::llm {
namespace {

static_assert(ForwardModel<FakeModel> && GivesAllLogits<FakeModel> && ForwardsTogether<FakeModel>);
static_assert(ForwardModel<Model> && GivesAllLogits<Model> && ForwardsTogether<Model>);
static_assert(ForwardModel<LeastModel> && !GivesAllLogits<LeastModel> && !ForwardsTogether<LeastModel>);
static_assert(!ForwardModel<FakeCache>);

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

TEST_CASE("conversation: a cache is handed back and taken over with what it holds") {
    FakeModel model;
    Conversation first(model, model.makeCache(100, Format::f32));
    const ReplyOptions options{.maxTokens = 6};
    Tokens prompt = {1, 2, 3};
    prompt = joined(prompt, say(first, prompt, options).reply.tokens);
    auto kept = first.takeCache();
    CHECK(kept.tokens == Tokens(prompt.begin(), prompt.end() - 1));
    CHECK(first.history().empty());
    CHECK(first.capacity() == 0);
    CHECK_THROWS_WITH_AS(say(first, prompt, options), doctest::Contains("its cache was taken"), ValueError);
    CHECK_THROWS_AS(first.truncate(0), ValueError);

    CHECK_THROWS_WITH_AS(Conversation(model, kept.cache),
                         "conversation: the cache holds 8 positions, but there are 0 tokens; give those that it was "
                         "filled with",
                         ValueError);
    Conversation second(model, std::move(kept.cache), std::move(kept.tokens));
    checkAgrees(second);
    FakeModel fresh;
    Conversation cold(fresh, fresh.makeCache(100, Format::f32));
    const Said said = say(second, prompt, options);
    CHECK(said.text == say(cold, prompt, options).text);
    CHECK(said.reply.reusedTokens == prompt.size() - 1);
}

TEST_CASE("conversation: a fork goes its own way from a common start") {
    FakeModel model;
    Conversation trunk(model, model.makeCache(100, Format::f32));
    const ReplyOptions options{.maxTokens = 6};
    const Tokens prompt = {1, 2, 3, 4, 5};
    say(trunk, prompt, options);
    Conversation branch = trunk.fork(4, 50);
    CHECK(branch.capacity() == 50);
    CHECK(tokensOf(branch.history()) == Tokens{1, 2, 3, 4});
    const Tokens other = {1, 2, 3, 4, 9, 9};
    FakeModel fresh;
    Conversation cold(fresh, fresh.makeCache(100, Format::f32));
    const Said said = say(branch, other, options, 1.0);
    CHECK(said.text == say(cold, other, options, 1.0).text);
    CHECK(said.reply.reusedTokens == 4);
    CHECK(trunk.history().size() == 10);
    checkAgrees(trunk);
    checkAgrees(branch);
    CHECK_THROWS_WITH_AS(trunk.fork(11, 50), doctest::Contains("there are 10 tokens"), ValueError);
}

TEST_CASE("conversation: rewound and edited, it says what a new one says") {
    FakeModel model;
    Conversation conversation(model, model.makeCache(100, Format::f32));
    const ReplyOptions options{.maxTokens = 6};
    Tokens prompt = {1, 2, 3, 4, 5};
    say(conversation, prompt, options, 1.0);
    for (const std::size_t length : {8, 3, 0}) {
        conversation.truncate(length);
        CHECK(conversation.history().size() == length);
        prompt[3] = static_cast<TokenId>(length);
        FakeModel fresh;
        Conversation cold(fresh, fresh.makeCache(100, Format::f32));
        const Said said = say(conversation, prompt, options, 1.0);
        CHECK(said.text == say(cold, prompt, options, 1.0).text);
        CHECK(said.reply.reusedTokens == std::min<std::size_t>(length, 3));
    }
    CHECK_THROWS_AS(conversation.truncate(50), ValueError);
    checkAgrees(conversation);
}

TEST_CASE("context shift: the first tokens and the newer half of the others stay, and what follows is exact") {
    // Greedy, so that the text is a function of the tokens alone. What a context of 16 with 4 kept does, by hand:
    for (std::size_t length = 1; length <= 60; ++length) {
        CAPTURE(length);
        Tokens prompt(length);
        for (std::size_t i = 0; i < length; ++i) prompt[i] = static_cast<TokenId>((7 * i + i / 5) % 16);
        Tokens known = prompt, want;
        std::size_t dropped = 0;
        const auto fit = [&](std::size_t most) {
            while (known.size() > most) {
                known.erase(known.begin() + 4, known.begin() + 4 + 6);
                dropped += 6;
            }
        };
        fit(16);
        const std::size_t read = known.size();
        FakeModel model;
        while (want.size() < 30) {
            std::vector<float> row;
            model.addRow(row, known);
            want.push_back(static_cast<TokenId>(std::max_element(row.begin(), row.end()) - row.begin()));
            known.push_back(want.back());
            fit(16);
        }
        Conversation conversation(model, model.makeCache(16, Format::f32));
        const Said said = say(conversation, prompt, {.maxTokens = 30, .batch = 5, .keepFirst = 4});
        CHECK(said.reply.tokens == want);
        CHECK(said.reply.end == ReplyEnd::length);
        // The last token needs no place, so that it does not drop anything.
        CHECK(said.reply.droppedTokens == (known.size() == 11 ? dropped - 6 : dropped));
        CHECK(said.reply.promptTokens == read);
        checkAgrees(conversation);
    }
}

TEST_CASE("context shift: the next turn's prompt, with all that was dropped, finds what is in the cache") {
    FakeModel model;
    Conversation conversation(model, model.makeCache(32, Format::f32));
    const ReplyOptions options{.maxTokens = 12, .keepFirst = 4};
    Tokens prompt = {1, 2, 3, 4, 5, 6, 7, 8};
    for (int turn = 0; turn < 8; ++turn) {
        const std::size_t held = conversation.history().size();
        const Reply reply = say(conversation, prompt, options).reply;
        CHECK(reply.tokens.size() == 12);
        if (reply.droppedTokens == 0) CHECK(reply.reusedTokens == held);
        if (turn > 3) CHECK(reply.droppedTokens > 0);
        CHECK(reply.reusedTokens >= std::min<std::size_t>(held, 4));
        prompt = joined(joined(prompt, reply.tokens), {3});
        checkAgrees(conversation);
    }
    CHECK_THROWS_WITH_AS(say(conversation, prompt, {.keepFirst = 32}),
                         "conversation: the first 32 tokens of a context of 32 shall stay, which leaves no room; keep "
                         "fewer",
                         ValueError);
    CHECK(say(conversation, prompt, {.maxTokens = 50, .keepFirst = 31}).reply.tokens.size() == 50);
}

TEST_CASE("conversation: it has one turn at a time, and one that is dropped is as if cancelled") {
    FakeModel model;
    Conversation conversation(model, model.makeCache(100, Format::f32)), another(model, conversation.cache());
    Sampler sampler(drawing(0));
    const Tokens prompt = {1, 2, 3};
    std::size_t refused = 0;
    const auto again = [&](std::string_view) {  // from within its own turn
        CHECK_THROWS_AS(say(conversation, prompt, {}), ValueError);
        ++refused;
    };
    conversation.reply(prompt, sampler, Letters(), {.maxTokens = 2}, again);
    CHECK(refused == 3);
    {
        Turn turn = conversation.begin(prompt, sampler, Letters(), {.maxTokens = 9}, [](std::string_view) {});
        CHECK(conversation.busy());
        CHECK_THROWS_AS(another.step(turn), ValueError);
        conversation.step(turn);
        conversation.step(turn);
        CHECK(turn.reply().tokens.size() == 2);
    }
    CHECK(!conversation.busy());
    checkAgrees(conversation);
    Turn turn = conversation.begin(prompt, sampler, Letters(), {.maxTokens = 1}, [](std::string_view) {});
    conversation.step(turn);
    CHECK(turn.over());
    CHECK_THROWS_WITH_AS(conversation.step(turn), doctest::Contains("the turn is over"), ValueError);
    checkAgrees(conversation);
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
    CHECK(rc::check([] {
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
    }));
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
