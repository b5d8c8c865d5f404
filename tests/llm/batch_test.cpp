// Conversations that advance together say what each says alone, whoever comes and goes beside them.
#include "axial/llm/batch.h"

#include <doctest/doctest.h>

#include <memory>
#include <random>

#include "llm/fake_drafter.h"
#include "llm/fake_model.h"

namespace axial::llm {
namespace {

// A conversation with its own settings, run by itself and in a batch.
struct Talk {
    Tokens prompt;
    ReplyOptions options;
    SamplerSettings settings;
    Said alone;
    Tokens aloneHistory;
    std::string text;  // in the batch
    std::unique_ptr<Sampler> sampler;
    std::unique_ptr<FakeDrafter> drafter;
};

template <class M>
Talk talk(const M& model, unsigned seed) {
    std::mt19937 draw(seed);
    Talk t;
    t.prompt.resize(1 + draw() % 40);
    for (TokenId& token : t.prompt) token = static_cast<TokenId>(draw() % FakeModel::vocabulary);
    t.options.maxTokens = draw() % 40;
    t.options.batch = 1 + draw() % 12;
    if (draw() % 2 == 0) t.options.stopTokens = {static_cast<TokenId>(draw() % 16)};
    if (draw() % 4 == 0) t.options.stopTexts = {"a", "dd"};
    if (draw() % 3 == 0) t.options.keepFirst = draw() % 4;
    t.settings = drawing(draw() % 3 == 0 ? 0 : 0.9, draw());
    if (draw() % 2 == 0) t.settings.penalties = {.repeat = 1.2, .window = 5};
    Conversation conversation(model, model.makeCache(44, Format::f32));
    Sampler sampler(t.settings);
    t.alone = say(conversation, t.prompt, t.options, sampler);
    t.aloneHistory = tokensOf(conversation.history());
    return t;
}

template <class M>
Turn begin(Conversation<M>& conversation, Talk& t, bool drafts) {
    t.text.clear();
    t.sampler = std::make_unique<Sampler>(t.settings);
    ReplyOptions options = t.options;
    if (drafts) {
        t.drafter = std::make_unique<FakeDrafter>(mixedGuesses(joined(t.prompt, t.alone.reply.tokens), 3, 16));
        options.drafter = t.drafter.get();
    }
    return conversation.begin(t.prompt, *t.sampler, Letters(), options, [&t](std::string_view s) { t.text += s; });
}

template <class M>
void checkSame(const Talk& t, const Reply& reply, const Conversation<M>& conversation) {
    CHECK(reply.tokens == t.alone.reply.tokens);
    CHECK(reply.end == t.alone.reply.end);
    CHECK(reply.droppedTokens == t.alone.reply.droppedTokens);
    CHECK(t.text == t.alone.text);
    CHECK(tokensOf(conversation.history()) == t.aloneHistory);
    CHECK(!conversation.busy());
    checkAgrees(conversation);
}

// 1 to 8 conversations that join at random, and leave when they are over.
template <class M>
void checkTogether(const M& model, bool drafts) {
    for (unsigned together = 1; together <= 8; ++together)
        for (const std::size_t rows : {1, 5, 512}) {
            CAPTURE(together);
            CAPTURE(rows);
            std::mt19937 draw(together);
            std::vector<Talk> talks;
            for (unsigned i = 0; i < 2 * together; ++i) talks.push_back(talk(model, 100 * together + i));
            std::vector<std::unique_ptr<Conversation<M>>> conversations(talks.size());
            Batch batch(model, rows);
            std::size_t begun = 0, ended = 0;
            while (ended < talks.size()) {
                while (begun < talks.size() && batch.size() < together && (batch.size() == 0 || draw() % 3 == 0)) {
                    auto& c = conversations[begun] =
                        std::make_unique<Conversation<M>>(model, model.makeCache(44, Format::f32));
                    batch.join(*c, begin(*c, talks[begun], drafts && begun % 3 != 0));
                    ++begun;
                }
                for (Conversation<M>* conversation : batch.step())
                    for (std::size_t i = 0; i < talks.size(); ++i)
                        if (conversations[i].get() == conversation) {
                            CAPTURE(i);
                            checkSame(talks[i], batch.leave(*conversation), *conversation);
                            ++ended;
                        }
            }
            CHECK(batch.size() == 0);
        }
}

TEST_CASE("batch: 1 to 8 conversations that come and go say what each says alone") {
    checkTogether(FakeModel(), false);
    checkTogether(LeastModel(), false);  // one after the other
}

TEST_CASE("batch: with drafts, too") { checkTogether(FakeModel(), true); }

TEST_CASE("batch: whoever leaves early has a cancelled reply, and goes on alone") {
    FakeModel model;
    std::vector<Talk> talks;
    for (unsigned i = 0; talks.size() < 4; ++i)
        if (Talk t = talk(model, i); t.alone.reply.tokens.size() > 12) talks.push_back(std::move(t));
    std::vector<Conversation<FakeModel>> conversations;
    for (unsigned i = 0; i < 4; ++i) conversations.emplace_back(model, model.makeCache(44, Format::f32));
    Batch batch(model);
    for (unsigned i = 0; i < 4; ++i) batch.join(conversations[i], begin(conversations[i], talks[i], false));
    while (talks[2].text.size() < 3) batch.step();
    const Reply reply = batch.leave(conversations[2]);
    CHECK(reply.end == ReplyEnd::cancelled);
    CHECK(talks[2].alone.text.starts_with(talks[2].text.substr(0, 3)));
    CHECK(!conversations[2].busy());
    CHECK(batch.size() == 3);
    CHECK_THROWS_WITH_AS(batch.leave(conversations[2]), "batch: the conversation is not in it", ValueError);
    Turn again = begin(conversations[2], talks[2], false);
    while (!again.over()) conversations[2].step(again);
    checkSame(talks[2], again.reply(), conversations[2]);
    while (batch.running() > 0) batch.step();
    for (const unsigned i : {0, 1, 3}) checkSame(talks[i], batch.leave(conversations[i]), conversations[i]);
}

TEST_CASE("batch: rows are shared out fairly, so that nobody waits") {
    FakeModel model;
    constexpr std::size_t count = 8;
    for (const std::size_t rows : {1, 3, 8, 20}) {
        CAPTURE(rows);
        std::vector<Conversation<FakeModel>> conversations;
        std::vector<Sampler> samplers;
        for (std::size_t i = 0; i < count; ++i) {
            conversations.emplace_back(model, model.makeCache(400, Format::f32));
            samplers.emplace_back(drawing(0));
        }
        Batch batch(model, rows);
        for (std::size_t i = 0; i < count; ++i)  // half of them have much to read
            batch.join(conversations[i], conversations[i].begin(Tokens(i % 2 == 0 ? 300 : 1, 2), samplers[i], Letters(),
                                                                {.maxTokens = 300}, [](std::string_view) {}));
        std::vector<std::size_t> waited(count), before(count);
        for (std::size_t step = 0; step < 60; ++step) {
            model.computed.clear();
            batch.step();
            CHECK(model.computed.front() == (rows <= count ? rows : model.computed.front()));
            CHECK(model.computed.front() <= rows);
            for (std::size_t i = 0; i < count; ++i) {
                const bool advanced = conversations[i].history().size() > before[i];
                waited[i] = advanced ? 0 : waited[i] + 1;
                CHECK(waited[i] < (count + rows - 1) / rows);
                before[i] = conversations[i].history().size();
            }
            if (rows == 20) CHECK(model.computed.front() == 20);  // readers take what writers leave
        }
    }
}

TEST_CASE("batch: a conversation in two places, and a sampler or drafter of two, are refused") {
    FakeModel model;
    Conversation a(model, model.makeCache(20, Format::f32)), b(model, model.makeCache(20, Format::f32));
    Sampler one(drawing(0)), two(drawing(0));
    FakeDrafter drafter(wildGuesses(1, 16));
    const Tokens prompt = {1, 2, 3};
    const auto silent = [](std::string_view) {};
    const ReplyOptions options{.maxTokens = 3, .drafter = &drafter};
    Batch batch(model);
    batch.join(a, a.begin(prompt, one, Letters(), options, silent));
    CHECK_THROWS_WITH_AS(a.begin(prompt, two, Letters(), {}, silent),
                         "conversation: a turn is going on; wait until it is over, or use another conversation (fork)",
                         ValueError);
    CHECK_THROWS_AS(a.truncate(0), ValueError);
    CHECK_THROWS_AS(a.takeCache(), ValueError);
    CHECK_THROWS_WITH_AS(batch.join(b, b.begin(prompt, one, Letters(), {}, silent)),
                         doctest::Contains("the sampler is that of conversation 0"), ValueError);
    CHECK(!b.busy());  // the turn that was refused is gone
    CHECK_THROWS_WITH_AS(batch.join(b, b.begin(prompt, two, Letters(), options, silent)),
                         doctest::Contains("the drafter is that of conversation 0"), ValueError);
    Conversation c(model, model.makeCache(20, Format::f32));
    CHECK_THROWS_WITH_AS(batch.join(c, b.begin(prompt, two, Letters(), {}, silent)),
                         doctest::Contains("not of this conversation"), ValueError);
    CHECK_THROWS_WITH_AS(batch.join(a, b.begin(prompt, two, Letters(), {}, silent)),
                         doctest::Contains("is in it already, as number 0"), ValueError);
    CHECK(batch.size() == 1);
    while (batch.running() > 0) batch.step();
    CHECK(batch.leave(a).tokens.size() == 3);
}

TEST_CASE("batch: what one turn throws ends that turn alone; what the model throws ends none") {
    FakeModel model;
    std::vector<Talk> talks;
    for (unsigned i = 50; talks.size() < 3; ++i)
        if (Talk t = talk(model, i); t.alone.text.size() > 6 && t.alone.reply.end == ReplyEnd::length)
            talks.push_back(std::move(t));
    std::vector<Conversation<FakeModel>> conversations;
    for (unsigned i = 0; i < 3; ++i) conversations.emplace_back(model, model.makeCache(44, Format::f32));
    Batch batch(model);
    for (const unsigned i : {0, 2}) batch.join(conversations[i], begin(conversations[i], talks[i], false));
    Sampler sampler(talks[1].settings);
    std::size_t pieces = 0;
    batch.join(conversations[1],
               conversations[1].begin(talks[1].prompt, sampler, Letters(), talks[1].options, [&](std::string_view) {
                   if (++pieces == 4) throw FileError("the pipe is closed");
               }));
    std::size_t steps = 0, broken = 0;
    while (batch.running() > 0) {
        if (steps++ % 3 == 1) {
            std::vector<Tokens> before;
            for (const auto& c : conversations) before.push_back(c.cache().tokens);
            model.failAt = model.computed.size();
            CHECK_THROWS_WITH_AS(batch.step(), "fault", ValueError);
            model.failAt.reset();
            for (unsigned i = 0; i < 3; ++i) CHECK(conversations[i].cache().tokens == before[i]);
        }
        for (const auto* c : batch.step()) broken += c == &conversations[1] && pieces == 4;
    }
    CHECK(broken == 1);
    CHECK_THROWS_WITH_AS(batch.leave(conversations[1]), "the pipe is closed", FileError);
    CHECK(sampler.choices() == 0);
    checkAgrees(conversations[1]);
    for (const unsigned i : {0, 2}) checkSame(talks[i], batch.leave(conversations[i]), conversations[i]);
    Turn again = begin(conversations[1], talks[1], false);
    while (!again.over()) conversations[1].step(again);
    checkSame(talks[1], again.reply(), conversations[1]);
}

TEST_CASE("batch: a model that computes one after the other leaves all as they were when one fails") {
    LeastModel model;
    std::vector<Talk> talks;
    for (unsigned i = 0; i < 3; ++i) talks.push_back(talk(model, 70 + i));
    std::vector<Conversation<LeastModel>> conversations;
    for (unsigned i = 0; i < 3; ++i) conversations.emplace_back(model, model.makeCache(44, Format::f32));
    Batch batch(model);
    for (unsigned i = 0; i < 3; ++i) batch.join(conversations[i], begin(conversations[i], talks[i], false));
    for (unsigned step = 0; batch.running() > 0; ++step) {
        model.model.failAt = model.model.computed.size() + step % batch.running();
        CHECK_THROWS_AS(batch.step(), ValueError);
        for (const auto& c : conversations) checkAgrees(c);
        model.model.failAt.reset();
        batch.step();
    }
    for (unsigned i = 0; i < 3; ++i) checkSame(talks[i], batch.leave(conversations[i]), conversations[i]);
}

}  // namespace
}  // namespace axial::llm
