#include "axial/llm/server/inference_loop.h"

#include <doctest/doctest.h>

#include <map>
#include <optional>
#include <random>

#include "axial/llm/server/metrics.h"
#include "slow_model.h"

using namespace axial;
using namespace axial::llm;
using namespace axial::llm::server;
using namespace std::chrono_literals;

namespace {

using Clock = std::chrono::steady_clock;

std::vector<TokenId> promptOf(const std::string& question) {
    return bundled().tokenizer->encode("<|im_start|>user\n" + question + "<|im_end|>\n<|im_start|>assistant\n");
}

GenerationRequest asking(const std::string& question, std::int64_t tokens, std::uint64_t seed = 1) {
    GenerationRequest request;
    request.prompts.push_back(promptOf(question));
    request.maxTokens = tokens;
    request.ignoresEnd = true;
    request.sampling.seed = seed;
    request.events = std::make_shared<EventChannel>();
    return request;
}

struct Heard {
    std::map<std::size_t, std::string> texts;
    std::map<std::size_t, ChoiceEnd> ends;
    std::optional<Failure> failure;
    bool closed = false;
    std::size_t cached() const { return ends.at(0).reusedTokens; }
};

// Takes what comes until the channel closes, or until `enough` characters are there.
Heard hear(EventChannel& events, std::size_t enough = SIZE_MAX, Heard heard = {}) {
    const auto deadline = Clock::now() + 60s;
    while (!heard.closed) {
        REQUIRE_MESSAGE(Clock::now() < deadline, "nothing comes");
        EventChannel::Taken taken = events.take();
        for (Event& event : taken.events) {
            if (auto* piece = std::get_if<Piece>(&event)) heard.texts[piece->choice] += piece->text;
            if (auto* end = std::get_if<ChoiceEnd>(&event)) heard.ends[end->choice] = *end;
            if (auto* failure = std::get_if<Failure>(&event)) heard.failure = *failure;
        }
        heard.closed = taken.closed;
        if (heard.texts[0].size() >= enough) break;
        std::this_thread::sleep_for(1ms);
    }
    return heard;
}

struct Running {
    explicit Running(LoopSettings settings = {}, std::chrono::microseconds pause = {})
        : model(std::make_shared<SlowModel>(pause)), loop(model, bundled().tokenizer, limited(settings), metrics) {}

    std::shared_ptr<EventChannel> start(GenerationRequest request) {
        auto events = request.events;
        REQUIRE(loop.submit(std::move(request)) == InferenceLoop::Admission::accepted);
        return events;
    }
    Heard answer(GenerationRequest request) { return hear(*start(std::move(request))); }
    bool idleWithin(std::chrono::milliseconds time) {
        for (const auto end = Clock::now() + time; Clock::now() < end; std::this_thread::sleep_for(2ms))
            if (metrics.running == 0 && metrics.queued == 0) return true;
        return false;
    }

    Metrics metrics;
    std::shared_ptr<SlowModel> model;
    InferenceLoop loop;

  private:
    static LoopSettings limited(LoopSettings settings) {
        settings.contextSize = std::min<std::size_t>(settings.contextSize, 1024);
        settings.threads = 1;
        return settings;
    }
};

}  // namespace

TEST_CASE("inference loop: SRV-07 every request says what it says alone, whatever runs beside it") {
    std::map<int, std::string> alone;
    {
        Running serial({.parallel = 1, .keptBytes = 0});
        for (int i = 0; i < 16; ++i)
            alone[i] = serial.answer(asking("What is " + std::to_string(i * 7) + "?", 5 + i * 3, 100 + i)).texts[0];
        CHECK(serial.model->largest == 1);
    }
    Running together({.parallel = 4, .stepTokens = 9, .keptBytes = 1 << 20}, 200us);
    std::vector<std::shared_ptr<EventChannel>> channels;
    for (int i = 0; i < 16; ++i)
        channels.push_back(together.start(asking("What is " + std::to_string(i * 7) + "?", 5 + i * 3, 100 + i)));
    for (int i = 0; i < 16; i += 3) {  // every third leaves once it has heard something
        if (i % 2 == 0) hear(*channels[i], 1);
        channels[i]->abandon();
        together.loop.wake();
    }
    for (int i = 0; i < 16; ++i)
        if (i % 3 != 0) {
            Heard heard = hear(*channels[i]);
            CHECK(heard.texts[0] == alone[i]);
            CHECK(heard.ends[0].end == ReplyEnd::length);
            CHECK(heard.ends[0].replyTokens == std::size_t(5 + i * 3));
        }
    CHECK(together.model->largest > 1);
    CHECK(together.idleWithin(5s));
}

TEST_CASE("inference loop: SRV-01 who leaves frees the place within a step, in every state") {
    Running running({.parallel = 1, .stepTokens = 4, .keptBytes = 0}, 4ms);
    SUBCASE("while it is written") {
        auto events = running.start(asking("Tell me a story", 900));
        hear(*events, 3);
        const std::size_t before = running.model->steps;
        events->abandon();
        running.loop.wake();
        CHECK(running.idleWithin(5s));
        CHECK(running.model->steps <= before + 200);  // of 900; this thread may have been slow
    }
    SUBCASE("while the prompt is read") {
        std::string text;
        for (int i = 0; i < 400; ++i) text += "word ";
        REQUIRE(promptOf(text).size() > 600);
        auto events = running.start(asking(text, 10));
        while (running.model->steps == 0) std::this_thread::sleep_for(100us);
        events->abandon();
        running.loop.wake();
        CHECK(running.idleWithin(5s));
        CHECK(running.model->tokens < 300);  // of 800
    }
    SUBCASE("while it waits: the one that runs goes on, and the other never starts") {
        auto first = running.start(asking("Tell me a story", 60));
        hear(*first, 1);
        auto second = running.start(asking("Hello", 5));
        second->abandon();
        running.loop.wake();
        const Heard heard = hear(*first);
        CHECK(heard.ends.at(0).replyTokens == 60);
        CHECK(running.idleWithin(5s));
        CHECK(hear(*running.start(asking("Hello", 5))).ends.size() == 1);
        CHECK(second->take().events.empty());
    }
    SUBCASE("while another waits: that starts at once") {
        auto first = running.start(asking("Tell me a story", 900));
        hear(*first, 1);
        auto second = running.start(asking("Hello", 5));
        first->abandon();
        running.loop.wake();
        CHECK(hear(*second).ends.at(0).replyTokens == 5);
    }
}

TEST_CASE("inference loop: SRV-10 several choices read their prompt once, and the first is what one alone is") {
    Running running({.parallel = 2, .keptBytes = 0});
    GenerationRequest request = asking("What is the capital of France?", 12, 7);
    const std::size_t prompt = request.prompts[0].size();
    request.choicesEach = 5;
    request.sampling.temperature = 3;
    Heard heard = running.answer(std::move(request));
    CHECK(heard.ends.size() == 5);
    GenerationRequest single = asking("What is the capital of France?", 12, 7);
    single.sampling.temperature = 3;
    CHECK(heard.texts[0] == running.answer(std::move(single)).texts[0]);
    CHECK(heard.texts[1] != heard.texts[0]);
    CHECK(heard.ends[0].reusedTokens == 0);
    for (std::size_t i = 1; i < 5; ++i) CHECK(heard.ends[i].reusedTokens == prompt - 1);
}

TEST_CASE("inference loop: a prompt that begins as one before is not computed again, with the same text") {
    std::string long1;
    for (int i = 0; i < 100; ++i) long1 += "one two three ";
    Running fresh({.keptBytes = 0}), running({.keptBytes = 64 << 20});
    CHECK(running.answer(asking(long1 + "first", 10)).cached() == 0);
    Heard second = running.answer(asking(long1 + "second", 10));
    CHECK(second.cached() > 200);
    CHECK(second.texts[0] == fresh.answer(asking(long1 + "second", 10)).texts[0]);
    CHECK(running.metrics.keptCaches >= 1);
    CHECK(running.metrics.cachedTokens == second.cached());
    // A reply that was told is part of the next prompt.
    GenerationRequest next = asking(long1 + "second", 10);
    CHECK(running.answer(std::move(next)).cached() == promptOf(long1 + "second").size() - 1);
}

TEST_CASE("inference loop: those that begin alike and come together compute it once") {
    std::string long1;
    for (int i = 0; i < 100; ++i) long1 += "one two three ";
    Running running({.parallel = 4, .stepTokens = 64, .keptBytes = 0}, 500us);
    std::vector<std::shared_ptr<EventChannel>> channels;
    for (int i = 0; i < 4; ++i) channels.push_back(running.start(asking(long1 + std::to_string(i), 8)));
    std::size_t cached = 0;
    for (auto& channel : channels) cached += hear(*channel).cached();
    CHECK(cached > 3 * 200);
    Running fresh({.keptBytes = 0});
    CHECK(fresh.answer(asking(long1 + "2", 8)).texts[0] == running.answer(asking(long1 + "2", 8)).texts[0]);
}

TEST_CASE("inference loop: a full queue, and a loop that stops, take no more") {
    Running running({.parallel = 1, .queue = 2}, 2ms);
    auto first = running.start(asking("Tell me a story", 900));
    hear(*first, 1);
    auto second = running.start(asking("Hello", 5)), third = running.start(asking("Hello", 5));
    CHECK(running.loop.submit(asking("Hello", 5)) == InferenceLoop::Admission::full);
    CHECK(running.metrics.refused == 1);
    second->abandon();  // whose place in the queue is free then
    auto fourth = running.start(asking("Hello", 5));

    running.loop.stop(Clock::now() + 50ms);
    CHECK(running.loop.submit(asking("Hello", 5)) == InferenceLoop::Admission::stopping);
    for (auto& channel : {first, third, fourth}) {
        const Heard heard = hear(*channel);
        REQUIRE(heard.failure);
        CHECK(heard.failure->kind == Failure::Kind::stopping);
    }
}

TEST_CASE("inference loop: what is running when it stops is finished if there is time") {
    Running running({.parallel = 2}, 1ms);
    auto first = running.start(asking("Tell me a story", 30)), second = running.start(asking("Hello", 5));
    running.loop.stop(Clock::now() + 30s);
    CHECK(hear(*first).ends.at(0).replyTokens == 30);
    CHECK(hear(*second).ends.at(0).replyTokens == 5);
}

TEST_CASE("inference loop: a slow reader waits alone, and what is kept for it is bounded") {
    Running running({.parallel = 2, .keptBytes = 0}, 100us);
    GenerationRequest slow = asking("Tell me a story", 900);
    slow.events = std::make_shared<EventChannel>(400);
    const auto expected = running.answer(asking("Tell me a story", 900)).texts[0];
    auto events = running.start(std::move(slow));
    for (int i = 0; i < 3; ++i) CHECK(running.answer(asking("Hello", 40)).ends.at(0).replyTokens == 40);
    for (const auto end = Clock::now() + 20s; !events->full() && Clock::now() < end;) std::this_thread::sleep_for(1ms);
    std::this_thread::sleep_for(100ms);
    const std::size_t steps = running.model->steps;
    std::this_thread::sleep_for(50ms);
    CHECK(running.model->steps == steps);  // nobody takes anything, so nothing is computed
    Heard heard;
    while (!heard.closed) {
        EventChannel::Taken taken = events->take();
        std::size_t bytes = 0;
        for (Event& event : taken.events)
            if (auto* piece = std::get_if<Piece>(&event)) {
                bytes += piece->text.size();
                heard.texts[0] += piece->text;
            }
        CHECK(bytes < 500);
        heard.closed = taken.closed;
        if (taken.wasFull) running.loop.wake();
        std::this_thread::sleep_for(1ms);
    }
    CHECK(heard.texts[0] == expected);
}

TEST_CASE("inference loop: logprobs are the model's own, one for each token") {
    Running running;
    GenerationRequest request = asking("What is the capital of France?", 20);
    request.logprobs = 3;
    request.sampling.bias.push_back({5, 50.0f});
    auto events = running.start(std::move(request));
    std::vector<TokenLogprob> all;
    for (bool closed = false; !closed; std::this_thread::sleep_for(1ms)) {
        EventChannel::Taken taken = events->take();
        for (Event& event : taken.events)
            if (auto* piece = std::get_if<Piece>(&event))
                all.insert(all.end(), piece->logprobs.begin(), piece->logprobs.end());
        closed = taken.closed;
    }
    REQUIRE(all.size() == 20);
    for (const TokenLogprob& one : all) {
        CHECK(one.chosen.token == 5);
        CHECK(one.chosen.logprob < -1);
        CHECK(one.top.size() == 3);
    }
}

TEST_CASE("inference loop: 200 that leave at any time, and the next is answered") {
    Running running({.parallel = 3, .stepTokens = 16, .queue = 400, .keptBytes = 1 << 20}, 50us);
    std::mt19937 random(5);
    std::vector<std::shared_ptr<EventChannel>> channels;
    for (int i = 0; i < 200; ++i) {
        channels.push_back(running.start(asking("Question " + std::to_string(i % 9), random() % 40)));
        if (random() % 2) channels[random() % channels.size()]->abandon();
        if (random() % 4 == 0) std::this_thread::sleep_for(std::chrono::microseconds(random() % 2000));
        running.loop.wake();
    }
    for (auto& channel : channels)
        if (!channel->abandoned()) CHECK(hear(*channel).closed);
    CHECK(running.idleWithin(5s));
    CHECK(running.answer(asking("Hello", 5)).ends.at(0).replyTokens == 5);
    CHECK(running.metrics.keptBytes <= 1 << 20);
}
