// Whatever saves work leaves the text as it is: speculative, batched, prefix-reused, forked and restored-from-disk
// replies are those of plain decoding, token for token, on models of several families and formats and with every format
// of the cache.
#include <cstdlib>
#include <memory>
#include <random>

#include "axial/llm/batch.h"
#include "axial/llm/cache_file.h"
#include "axial/llm/load.h"
#include "axial/llm/speculator.h"
#include "axial/tensor/parallel.h"
#include "llm/fake_drafter.h"
#include "oracle.h"
#include "temporary_folder.h"

using namespace axial;
using namespace axial::llm;

namespace {

using Talk = Conversation<Model>;
using Tokens = std::vector<TokenId>;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::uint64_t every = 7;  // a sanitizer needs twenty times as long
#else
constexpr std::uint64_t every = 1;
#endif

struct NoText {
    std::string push(TokenId) { return {}; }
    std::string finish() { return {}; }
};

// What a seed asks for: a model's prompt, sampling and cache, and a length of reply.
struct Run {
    const Model& model;
    std::uint64_t seed;
    std::size_t length;
    std::mt19937 draw;
    Tokens prompt;
    SamplerSettings settings;
    CacheFormats formats;

    Run(const Model& model, std::uint64_t seed, std::size_t longestPrompt, std::size_t length)
        : model(model), seed(seed), length(length), draw(static_cast<unsigned>(seed)), formats(formatsOf(seed)) {
        prompt = tokens(1 + draw() % longestPrompt);
        settings.temperature = seed % 2 == 0 ? 0.0 : 0.8;
        settings.seed = seed;
        if (seed % 3 == 0) settings.topK = 20;
        if (seed % 5 == 0) settings.penalties = {.repeat = 1.2, .presence = 0.5, .window = 16};
    }
    static CacheFormats formatsOf(std::uint64_t seed) {
        const CacheFormats all[] = {
            Format::f16, Format::f32, Format::q8_0, {Format::q8_0, Format::f16}, {Format::f32, Format::q8_0}};
        return all[seed / 2 % std::size(all)];
    }
    // A piece of it comes again: text that speculation can use.
    Tokens tokens(std::size_t count) {
        Tokens all(count);
        for (std::size_t i = 0; i < count; ++i)
            all[i] = i >= 12 && draw() % 8 != 0 ? all[i - 12]
                                                : static_cast<TokenId>(draw() % model.hyperparameters().vocabulary);
        return all;
    }
    std::size_t capacity() const { return prompt.size() + length + 20; }
    Talk talk() const { return Talk(model, model.makeCache(capacity(), formats)); }
    ReplyOptions options(Drafter* drafter = nullptr) const {
        return {.maxTokens = static_cast<std::int64_t>(length), .batch = 1 + seed % 40, .drafter = drafter};
    }
    Reply reply(Talk& talk, const Tokens& tokens, Drafter* drafter = nullptr) const {
        Sampler sampler(settings);
        return talk.reply(tokens, sampler, NoText(), options(drafter), [](std::string_view) {});
    }
};

struct Totals {
    std::size_t runs = 0, drafted = 0, accepted = 0, reused = 0;
};

void checkSpeculative(Run& run, const Tokens& want, Totals& totals) {
    const auto vocabulary = static_cast<TokenId>(run.model.hyperparameters().vocabulary);
    Tokens text = run.prompt;
    text.insert(text.end(), want.begin(), want.end());
    SpeculationSettings always;
    always.gated = false;
    Speculator speculator(always);
    speculator.addReference(std::make_shared<const ReferenceText>(want));
    FakeDrafter right(rightGuesses(text, 7)), wild(wildGuesses(run.seed, vocabulary)),
        mixed(mixedGuesses(text, run.seed, vocabulary));
    for (Drafter* drafter : std::initializer_list<Drafter*>{&speculator, &right, &wild, &mixed}) {
        Talk talk = run.talk();
        const Reply reply = run.reply(talk, run.prompt, drafter);
        CHECK(reply.tokens == want);
        CHECK(talk.history().size() == run.prompt.size() + run.length - 1);
        if (drafter == &right) CHECK(reply.acceptedTokens == reply.draftedTokens);
        if (drafter == &speculator) totals.drafted += reply.draftedTokens, totals.accepted += reply.acceptedTokens;
    }
}

// Between two to five others, which come and go, and some of which speculate.
void checkBatched(Run& run, const Tokens& want) {
    struct Other {
        Run run;
        Talk talk;
        Sampler sampler;
        FakeDrafter drafter;
    };
    std::vector<std::unique_ptr<Other>> others;
    Batch<Model> batch(run.model, 1 + run.draw() % 60);
    const auto joinAnother = [&] {
        Run other(run.model, run.draw(), 40, 1 + run.draw() % run.length);
        Talk talk = other.talk();
        others.push_back(std::make_unique<Other>(
            Other{other, std::move(talk), Sampler(other.settings),
                  FakeDrafter(wildGuesses(other.seed, static_cast<TokenId>(run.model.hyperparameters().vocabulary)))}));
        Other& o = *others.back();
        batch.join(o.talk,
                   o.talk.begin(o.run.prompt, o.sampler, NoText(),
                                o.run.options(o.run.seed % 2 == 0 ? &o.drafter : nullptr), [](std::string_view) {}));
    };
    for (std::size_t i = 0; i < 2; ++i) joinAnother();
    Talk talk = run.talk();
    Sampler sampler(run.settings);
    batch.join(talk, talk.begin(run.prompt, sampler, NoText(), run.options(), [](std::string_view) {}));
    for (bool over = false; !over;) {
        for (Talk* ended : batch.step()) {
            over = over || ended == &talk;
            const Reply reply = batch.leave(*ended);
            if (ended == &talk) CHECK(reply.tokens == want);
        }
        if (others.size() < 5 && run.draw() % 8 == 0) joinAnother();
    }
}

// In a conversation whose cache was saved and loaded.
void checkRestored(Run& run, const Talk& talk, const Tokens& want) {
    const test::TemporaryFolder folder;
    const ModelIdentity identity{"a model", 1};
    saveCache(folder.path() / "cache", identity, talk.history(), talk.cache());
    SavedCache saved = loadCache(folder.path() / "cache", identity, run.model, run.capacity());
    Talk restored(run.model, std::move(saved.cache), std::move(saved.tokens));
    CHECK(run.reply(restored, run.prompt).tokens == want);
}

// After another prompt that begins in the same way, in a fork of such a conversation, and in one restored from disk.
void checkReused(Run& run, const Tokens& want, Totals& totals) {
    const std::size_t common = run.draw() % run.prompt.size();
    Tokens other(run.prompt.begin(), run.prompt.begin() + static_cast<std::ptrdiff_t>(common));
    const Tokens rest = run.tokens(1 + run.draw() % 10);
    other.insert(other.end(), rest.begin(), rest.end());
    Talk talk = run.talk();
    ReplyOptions some = run.options();
    some.maxTokens = 5;
    Sampler sampler(run.settings);
    talk.reply(other, sampler, NoText(), some, [](std::string_view) {});
    Talk branch = talk.fork(common, run.capacity());
    CHECK(run.reply(branch, run.prompt).tokens == want);
    checkRestored(run, talk, want);
    const Reply reply = run.reply(talk, run.prompt);
    CHECK(reply.tokens == want);
    CHECK(reply.reusedTokens >= std::min(common, run.prompt.size() - 1));
    totals.reused += reply.reusedTokens;
}

void check(Run run, Totals& totals) {
    CAPTURE(run.seed);
    Talk talk = run.talk();
    const Tokens want = run.reply(talk, run.prompt).tokens;
    REQUIRE(want.size() == run.length);
    checkSpeculative(run, want, totals);
    checkBatched(run, want);
    checkReused(run, want, totals);
    ++totals.runs;
}

}  // namespace

TEST_CASE("lossless: 200 seeded runs on tiny models") {
    if (!oracle::present()) return;
    ThreadTeam one(1);
    const UseTeam use(one);
    std::vector<LoadedModel> models;
    for (const char* name : {"tiny-qwen3-F32", "tiny-qwen3-Q8_0", "tiny-qwen3-256-Q4_K_M", "tiny-llama-F32",
                             "tiny-qwen2-Q8_0", "tiny-qwen3moe-Q8_0"})
        models.push_back(load(oracle::path("models/" + std::string(name) + ".gguf")));
    Totals totals;
    for (std::uint64_t seed = 0; seed < 200; seed += every)
        check(Run(*models[seed / 10 % models.size()].model, seed, 60, 24), totals);
    CHECK(totals.accepted > 0);
    CHECK(totals.reused > 0);
    MESSAGE(totals.runs << " runs; " << totals.accepted << " of " << totals.drafted << " drafted tokens accepted");
}

// As many runs as AXIAL_LOSSLESS_RUNS says (else 20) on the model that AXIAL_LOSSLESS_MODEL names.
TEST_CASE("lossless: seeded runs on a model of one's own") {
    const char* const file = std::getenv("AXIAL_LOSSLESS_MODEL");
    if (!file) {
        MESSAGE("skipped: AXIAL_LOSSLESS_MODEL does not name a model");
        return;
    }
    const char* const runs = std::getenv("AXIAL_LOSSLESS_RUNS");
    const LoadedModel loaded = load(file);
    Totals totals;
    for (std::uint64_t seed = 0; seed < (runs ? std::strtoull(runs, nullptr, 10) : 20); ++seed)
        check(Run(*loaded.model, seed, 60, 24), totals);
    MESSAGE(totals.runs << " runs; " << totals.accepted << " of " << totals.drafted << " drafted tokens accepted");
}

TEST_CASE("context shift: a real model says what it says behind the tokens that stay, computed anew") {
    if (!oracle::present()) return;
    const LoadedModel loaded = load(oracle::path("models/tiny-qwen3-256-Q4_K_M.gguf"));
    const Model& model = *loaded.model;
    constexpr std::size_t room = 40, keep = 4;
    for (const CacheFormats& formats : {CacheFormats(Format::f16), CacheFormats(Format::q8_0, Format::f16)}) {
        Tokens known = {7, 8, 9, 10, 11, 12}, want;
        const Tokens prompt = known;
        while (want.size() < 90) {
            KvCache cache = model.makeCache(room, formats);
            const Logits logits = model.forward(cache, known, LogitsOf::last);
            want.push_back(best(logits.values()));
            known.push_back(want.back());
            if (known.size() > room) known.erase(known.begin() + keep, known.begin() + keep + (room - keep) / 2);
        }
        SamplerSettings greedy;
        greedy.temperature = 0;
        FakeDrafter wild(wildGuesses(3, static_cast<TokenId>(model.hyperparameters().vocabulary)));
        for (Drafter* drafter : std::initializer_list<Drafter*>{nullptr, &wild}) {
            Talk talk(model, model.makeCache(room, formats));
            Sampler sampler(greedy);
            const ReplyOptions options{.maxTokens = 90, .batch = 11, .keepFirst = keep, .drafter = drafter};
            const Reply reply = talk.reply(prompt, sampler, NoText(), options, [](std::string_view) {});
            CHECK(reply.tokens == want);
            CHECK(reply.droppedTokens > room);
        }
    }
}

TEST_CASE("BATCH-01: the same 64 greedy tokens in one call, in pieces, beside others, on 1 to 4 threads") {
    if (!oracle::present()) return;
    nlohmann::json row;
    std::ifstream file(oracle::path("reports.jsonl"));
    for (std::string line; std::getline(file, line);)
        if (line.find("\"BATCH-01\"") != std::string::npos) row = nlohmann::json::parse(line);
    for (const char* name : {"tiny-qwen3-256-Q4_K_M", "tiny-qwen3-F32"}) {
        CAPTURE(name);
        const LoadedModel loaded = load(oracle::path("models/" + std::string(name) + ".gguf"));
        const Model& model = *loaded.model;
        Tokens prompt = row.at("input").at("prompt_tokens");
        for (TokenId& token : prompt) token %= static_cast<TokenId>(model.hyperparameters().vocabulary);
        SamplerSettings greedy;
        greedy.temperature = 0;
        const auto alone = [&](std::size_t piece) {
            Talk talk(model, model.makeCache(80, Format::f16));
            Sampler sampler(greedy);
            return talk.reply(prompt, sampler, NoText(), {.maxTokens = 64, .batch = piece}, [](std::string_view) {})
                .tokens;
        };
        const Tokens want = alone(512);
        CHECK(want.size() == 64);
        for (const std::size_t piece : {1, 2, 3}) CHECK(alone(piece) == want);
        for (const std::size_t threads : {1, 2, 4}) {
            ThreadTeam team(threads);
            const UseTeam use(team);
            CHECK(alone(512) == want);
        }
        std::vector<Talk> talks;
        std::vector<Sampler> samplers;
        Batch<Model> batch(model);
        for (std::size_t i = 0; i < 4; ++i) {
            talks.emplace_back(model, model.makeCache(120, Format::f16));
            samplers.emplace_back(greedy);
        }
        for (std::size_t i = 0; i < 4; ++i) {  // the third has the prompt
            const Tokens other(5 + 7 * i, static_cast<TokenId>(11 * i));
            batch.join(talks[i], talks[i].begin(i == 2 ? prompt : other, samplers[i], NoText(), {.maxTokens = 64},
                                                [](std::string_view) {}));
        }
        while (batch.running() > 0) batch.step();
        CHECK(batch.leave(talks[2]).tokens == want);
    }
}
