// Speculation without loss: whatever is drafted, the reply is the one of plain decoding, and so is all that it leaves.
#include <doctest/doctest.h>

#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "llm/fake_drafter.h"
#include "llm/fake_model.h"

namespace axial::llm {
namespace {

constexpr TokenId vocabulary = FakeModel::vocabulary;

struct Outcome {
    Said said;
    Tokens history;
    std::uint64_t choices;
    std::size_t passes, logitRows;
};

Outcome outcome(const Tokens& prompt, ReplyOptions options, const SamplerSettings& settings, Drafter* drafter,
                std::size_t capacity = 100, FakeModel model = {}) {
    Conversation conversation(model, model.makeCache(capacity, Format::f32));
    Sampler sampler(settings);
    options.drafter = drafter;
    Outcome o{
        say(conversation, prompt, options, sampler), {}, sampler.choices(), model.computed.size(), model.logitRows};
    o.history = tokensOf(conversation.history());
    checkAgrees(conversation);
    return o;
}

void checkSame(const Outcome& plain, const Outcome& drafted) {
    CHECK(drafted.said.reply.tokens == plain.said.reply.tokens);
    CHECK(drafted.said.text == plain.said.text);
    CHECK(drafted.said.reply.end == plain.said.reply.end);
    CHECK(drafted.said.reply.stop == plain.said.reply.stop);
    CHECK(drafted.said.reply.droppedTokens == plain.said.reply.droppedTokens);
    CHECK(drafted.history == plain.history);
    CHECK(drafted.choices == plain.choices);
}

// A model of SPEC-01: next(t) = (3 t + 1) mod 11.
struct ModEleven {
    FakeCache makeCache(std::size_t capacity, Format) const { return {{}, capacity}; }
    FakeLogits forward(FakeCache& cache, std::span<const TokenId> tokens, LogitsOf which) const {
        FakeLogits logits;
        for (std::size_t i = which == LogitsOf::all ? 0 : tokens.size() - 1; i < tokens.size(); ++i) {
            logits.numbers.resize(logits.numbers.size() + 11);
            logits.numbers[logits.numbers.size() - 11 + static_cast<std::size_t>(3 * tokens[i] + 1) % 11] = 1;
        }
        cache.tokens.insert(cache.tokens.end(), tokens.begin(), tokens.end());
        return logits;
    }
};

TEST_CASE("SPEC-01: drafts are verified from the first token on, and what is rejected leaves the cache") {
    std::ifstream file(AXIAL_ORACLE "/reports.jsonl");
    if (!file) {
        MESSAGE("no ", AXIAL_ORACLE, "/reports.jsonl");
        return;
    }
    nlohmann::json row;
    for (std::string line; std::getline(file, line);)
        if (line.find("\"SPEC-01\"") != std::string::npos) row = nlohmann::json::parse(line);
    const auto &drafts = row.at("input").at("drafts"), &expected = row.at("expected");
    // The report's prompt ends with 1, behind which the draft stands. Here 1 is the token that the model says first,
    // behind a 0.
    const Tokens prompt = {1, 1, 0}, target = joined({1}, expected.at("target_tokens"));
    for (std::size_t i = 0; i < drafts.size(); ++i) {
        CAPTURE(i);
        ModEleven model;
        Conversation conversation(model, model.makeCache(32, Format::f32));
        bool first = true;
        FakeDrafter drafter([&](std::span<const TokenId>, std::size_t) {
            return std::exchange(first, false) ? drafts[i].get<Tokens>() : Tokens();
        });
        Sampler sampler(drawing(0));
        Turn turn = conversation.begin(prompt, sampler, Letters(),
                                       {.maxTokens = std::ssize(target), .drafter = &drafter}, [](std::string_view) {});
        conversation.step(turn);
        CHECK(turn.reply().tokens == Tokens{1});
        conversation.step(turn);
        CHECK(turn.reply().tokens == joined({1}, expected.at("emitted_in_step")[i]));
        CHECK(turn.reply().acceptedTokens == expected.at("accepted")[i].get<std::size_t>());
        // All but the last token: that one is still to be computed.
        CHECK(conversation.cache().tokens.size() == prompt.size() + turn.reply().tokens.size() - 1);
        checkAgrees(conversation);
        while (!turn.over()) conversation.step(turn);
        CHECK(turn.reply().tokens == target);
    }
}

TEST_CASE("speculation: right, wrong, mixed and impossible drafts change nothing of the reply, however it ends") {
    const Tokens prompt = {3, 1, 4, 1, 5};
    struct Case {
        const char* name;
        ReplyOptions options;
        std::size_t capacity;
    };
    const Case cases[] = {{"length", {.maxTokens = 40}, 100},
                          {"no reply", {.maxTokens = 0}, 100},
                          {"one token", {.maxTokens = 1}, 100},
                          {"stop tokens", {.maxTokens = 60, .stopTokens = {0, 9}}, 100},
                          {"stop texts", {.maxTokens = 60, .stopTexts = {"ab", "dd", "fo", "k"}}, 100},
                          {"context full", {}, 40},
                          {"context shift", {.maxTokens = 90, .batch = 3, .keepFirst = 2}, 20}};
    for (const double temperature : {0.0, 0.8, 2.0})
        for (const Case& c : cases)
            for (std::uint64_t seed = 0; seed < 8; ++seed) {
                CAPTURE(c.name);
                CAPTURE(temperature);
                CAPTURE(seed);
                SamplerSettings settings = drawing(temperature, seed);
                if (seed % 2 == 1) settings.penalties = {.repeat = 1.3, .presence = 0.7, .window = 6};
                const Outcome plain = outcome(prompt, c.options, settings, nullptr, c.capacity);
                const Tokens text = joined(prompt, plain.said.reply.tokens);
                FakeDrafter right(rightGuesses(text, 7)), wild(wildGuesses(seed, vocabulary)),
                    mixed(mixedGuesses(text, seed, vocabulary)),
                    nothing([](std::span<const TokenId>, std::size_t) { return Tokens(); });
                for (FakeDrafter* drafter : {&right, &wild, &mixed, &nothing})
                    checkSame(plain, outcome(prompt, c.options, settings, drafter, c.capacity));
                for (const auto& [drafted, accepted] : right.steps) CHECK(drafted == accepted);
            }
}

TEST_CASE("speculation: right drafts save forward passes, and only drafted rows have logits computed") {
    const Tokens prompt(90, 3);
    const ReplyOptions options{.maxTokens = 49, .batch = 30};
    const Outcome plain = outcome(prompt, options, drawing(0.8), nullptr, 200);
    FakeDrafter right(rightGuesses(joined(prompt, plain.said.reply.tokens), 7));
    const Outcome drafted = outcome(prompt, options, drawing(0.8), &right, 200);
    CHECK(plain.passes == 3 + 48);
    CHECK(plain.logitRows == 3 + 48);
    CHECK(drafted.passes == 3 + 6);  // 1 token behind the prompt, then 8 a pass
    CHECK(drafted.logitRows == 3 + 48);
    CHECK(drafted.said.reply.draftedTokens == 42);
    CHECK(drafted.said.reply.acceptedTokens == 42);
}

// What the sampler is given, row by row.
struct Recorder : LogitProcessor {
    struct Seen {
        std::vector<std::vector<float>> rows;
        std::vector<Tokens> histories;
        Tokens committed;
    };
    explicit Recorder(Seen& seen) : seen(seen) {}
    void process(std::span<float> logits, std::span<const TokenId> history) override {
        seen.rows.emplace_back(logits.begin(), logits.end());
        seen.histories.push_back(tokensOf(history));
    }
    void commit(TokenId token) override { seen.committed.push_back(token); }
    void reset() override { seen = {}; }
    std::unique_ptr<LogitProcessor> clone() const override { return std::make_unique<Recorder>(seen); }
    Seen& seen;
};

TEST_CASE("speculation: the sampler sees the rows and histories of plain decoding, and processors each token once") {
    const Tokens prompt = {3, 1, 4, 1, 5};
    SamplerSettings settings = drawing(0.8);
    settings.penalties = {.repeat = 1.5, .frequency = 0.5, .window = 8};
    const auto run = [&](Drafter* drafter, Recorder::Seen& seen) {
        FakeModel model;
        Conversation conversation(model, model.makeCache(100, Format::f32));
        std::vector<std::unique_ptr<LogitProcessor>> processors;
        processors.push_back(std::make_unique<Recorder>(seen));
        Sampler sampler(settings, std::move(processors));
        return say(conversation, prompt, {.maxTokens = 50, .drafter = drafter}, sampler);
    };
    Recorder::Seen plain;
    const Said said = run(nullptr, plain);
    const Tokens text = joined(prompt, said.reply.tokens);
    REQUIRE(said.reply.tokens.size() > 12);
    FakeDrafter right(rightGuesses(text, 7)), wild(wildGuesses(4, vocabulary)),
        mixed(mixedGuesses(text, 5, vocabulary));
    for (FakeDrafter* drafter : {&right, &wild, &mixed}) {
        Recorder::Seen seen;
        CHECK(run(drafter, seen).text == said.text);
        CHECK(!drafter->steps.empty());
        REQUIRE(seen.rows.size() == plain.rows.size());
        for (std::size_t i = 0; i < seen.rows.size(); ++i)
            CHECK(std::memcmp(seen.rows[i].data(), plain.rows[i].data(), seen.rows[i].size() * sizeof(float)) == 0);
        CHECK(seen.histories == plain.histories);
        CHECK(seen.committed == plain.committed);
    }
    // It matters: with the history of the step's beginning another token would be chosen somewhere.
    std::size_t different = 0;
    for (std::size_t i = 8; i < plain.rows.size(); ++i) {
        Sampler fresh(settings), stale(settings);
        fresh.next(plain.rows[0], plain.histories[0]);
        stale.next(plain.rows[0], plain.histories[0]);
        different += fresh.next(plain.rows[i], plain.histories[i]) != stale.next(plain.rows[i], plain.histories[i - 7]);
    }
    CHECK(different > 0);
}

// Forces "2 3 2 3 ..." and forbids 7.
struct Grammar : LogitProcessor {
    void process(std::span<float> logits, std::span<const TokenId>) override {
        for (std::size_t i = 0; i < logits.size(); ++i)
            if (at < 6 ? static_cast<TokenId>(i) != 2 + at % 2 : i == 7) logits[i] = -1e30f;
    }
    void commit(TokenId) override { ++at; }
    void reset() override { at = 0; }
    std::unique_ptr<LogitProcessor> clone() const override { return std::make_unique<Grammar>(); }
    std::vector<TokenId> forced() const override {
        Tokens tokens;
        for (int i = at; i < 6; ++i) tokens.push_back(2 + i % 2);
        return tokens;
    }
    std::size_t validPrefix(std::span<const TokenId> draft) const override {
        std::size_t n = 0;
        for (int i = at; n < draft.size() && (i < 6 ? draft[n] == 2 + i % 2 : draft[n] != 7); ++i) ++n;
        return n;
    }
    int at = 0;
};

// Drafts what is forced, and behind it a 7.
struct ForcedDrafter : Drafter {
    std::size_t length() const override { return 0; }
    void rewind(std::size_t) override {}
    void follow(std::span<const TokenId>) override {}
    std::vector<TokenId> propose(std::size_t, std::span<const TokenId> forced, std::size_t) override {
        Tokens draft = tokensOf(forced);
        draft.push_back(7);
        return draft;
    }
    void observe(std::size_t drafted, std::size_t accepted, double, std::size_t) override {
        if (drafted > 0) steps.emplace_back(drafted, accepted);
    }
    std::vector<std::pair<std::size_t, std::size_t>> steps;
};

TEST_CASE("speculation: what a grammar forces is drafted, and what it forbids is cut off") {
    FakeModel model;
    const auto run = [&](Drafter* drafter) {
        Conversation conversation(model, model.makeCache(100, Format::f32));
        std::vector<std::unique_ptr<LogitProcessor>> processors;
        processors.push_back(std::make_unique<Grammar>());
        Sampler sampler(drawing(0.8), std::move(processors));
        return say(conversation, {1, 2}, {.maxTokens = 20, .drafter = drafter}, sampler).text;
    };
    ForcedDrafter drafter;
    const std::string plain = run(nullptr);
    CHECK(plain.starts_with("cdcdcd"));
    CHECK(run(&drafter) == plain);
    CHECK(drafter.steps == std::vector<std::pair<std::size_t, std::size_t>>{{5, 5}});
}

TEST_CASE("speculation: a model without the logits of all positions refuses drafts by name") {
    LeastModel model;
    Conversation conversation(model, model.makeCache(10, Format::f32));
    FakeDrafter drafter(wildGuesses(1, vocabulary));
    CHECK_THROWS_WITH_AS(say(conversation, {1}, {.maxTokens = 2, .drafter = &drafter}),
                         doctest::Contains("the logits of the last position only"), UnsupportedError);
    CHECK(!conversation.busy());
    CHECK(say(conversation, {1}, {.maxTokens = 2}).reply.tokens.size() == 2);
}

TEST_CASE("speculation: a drafter goes with its conversation through turns that go on, change and are cut") {
    FakeModel model;
    Conversation conversation(model, model.makeCache(100, Format::f32)),
        plain(model, model.makeCache(100, Format::f32));
    FakeDrafter drafter(wildGuesses(9, vocabulary));
    const ReplyOptions options{.maxTokens = 10}, speculating{.maxTokens = 10, .drafter = &drafter};
    Tokens prompt = {1, 2, 3};
    for (int turn = 0; turn < 6; ++turn) {
        const Said want = say(plain, prompt, options, 0.8), got = say(conversation, prompt, speculating, 0.8);
        CHECK(got.text == want.text);
        CHECK(got.reply.reusedTokens == want.reply.reusedTokens);
        prompt = joined(prompt, got.reply.tokens);
        if (turn % 2 == 0)
            prompt[prompt.size() / 2] ^= 1;  // edited in the middle
        else
            prompt.push_back(4);
        if (turn == 3) {
            conversation.truncate(5);
            plain.truncate(5);
        }
    }
}

}  // namespace
}  // namespace axial::llm
