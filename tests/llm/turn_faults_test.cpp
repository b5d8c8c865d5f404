// A fault at every step of a turn: each call of model, sampler, decoder, onText, cancelled and drafter, and each
// allocation, throws once. The conversation and its sampler go on as if the turn had not begun.
#include <doctest/doctest.h>

#include <new>

#include "axial/llm/batch.h"
#include "llm/failing_new.h"
#include "llm/fake_drafter.h"
#include "llm/fake_model.h"

namespace axial::llm {
namespace {

struct Fault : std::runtime_error {
    Fault() : std::runtime_error("fault") {}
};

// Counts the places where something may go wrong; number `at` does.
struct Faults {
    std::size_t passed = 0, at = ~std::size_t{0};
    void place() {
        if (passed++ == at) throw Fault();
    }
};

struct FaultyDecoder {
    Faults* faults;
    std::string push(TokenId token) {
        faults->place();
        return Letters().push(token);
    }
    std::string finish() {
        faults->place();
        return Letters().finish();
    }
};

// Forbids the token before, and remembers it in an allocation.
struct FaultyProcessor : LogitProcessor {
    explicit FaultyProcessor(Faults& f) : faults(f) {}
    void process(std::span<float> logits, std::span<const TokenId>) override {
        faults.place();
        if (!seen.empty()) logits[static_cast<std::size_t>(seen.back())] = -1e30f;
    }
    void commit(TokenId token) override {
        faults.place();
        seen.push_back(token);
    }
    void reset() override { seen = {}; }
    std::unique_ptr<LogitProcessor> clone() const override { return std::make_unique<FaultyProcessor>(faults); }
    Faults& faults;
    Tokens seen;
};

struct FaultyDrafter : Drafter {
    FaultyDrafter(Faults& f, FakeDrafter::Guess guess) : faults(f), drafter(std::move(guess)) {}
    std::size_t length() const override { return drafter.length(); }
    void rewind(std::size_t length) override { drafter.rewind(length); }
    void follow(std::span<const TokenId> history) override {
        faults.place();
        drafter.follow(history);
    }
    std::vector<TokenId> propose(std::size_t room, std::span<const TokenId> f, std::size_t others) override {
        faults.place();
        return drafter.propose(room, f, others);
    }
    void observe(std::size_t drafted, std::size_t accepted, double seconds, std::size_t others) override {
        faults.place();
        drafter.observe(drafted, accepted, seconds, others);
    }
    Faults& faults;
    FakeDrafter drafter;
};

// A model whose forward passes are places for faults, too.
struct FaultyModel {
    Faults* faults;
    FakeModel model = {};
    FakeCache makeCache(std::size_t capacity, Format format) const { return model.makeCache(capacity, format); }
    FakeLogits forward(FakeCache& cache, std::span<const TokenId> tokens, LogitsOf which) const {
        faults->place();
        return model.forward(cache, tokens, which);
    }
    FakeLogits forward(std::span<const ContinuationOf<FakeCache>> all) const {
        faults->place();
        return model.forward(all);
    }
};

struct Plan {
    const char* name;
    bool drafts;
    bool edited;  // the prompt does not go on from the history
    std::optional<std::size_t> keepFirst;
};
const Plan plans[] = {{"plain", false, false, {}},
                      {"edited prompt", false, true, {}},
                      {"speculative", true, false, {}},
                      {"context shift", false, false, 3},
                      {"speculative, with a context shift", true, true, 3}};

// A conversation with two turns behind it and the third to come, in which the faults are.
class Scene {
  public:
    explicit Scene(const Plan& plan)
        : plan_(plan),
          model_{&faults},
          conversation(model_, model_.makeCache(plan.keepFirst ? 30 : 64, Format::f32)),
          sampler(settings(), processors()),
          drafter_(faults, plan.drafts ? mixedGuesses(textOf(plan), 2, FakeModel::vocabulary)
                                       : wildGuesses(1, FakeModel::vocabulary)) {
        Tokens first = {1, 2, 3};
        prompt = joined(first, turn(first, 4).reply.tokens);
        prompt = joined(joined(prompt, {5}), turn(joined(prompt, {5}), 3).reply.tokens);
        prompt = joined(prompt, {6, 7, 8, 9, 10});
        if (plan.edited) prompt[5] ^= 1;
        before = tokensOf(conversation.history());
        choices = sampler.choices();
        faults.passed = 0;
    }

    ReplyOptions options() {
        ReplyOptions options{.maxTokens = 20, .stopTexts = {"abcdefgh"}, .batch = 4, .keepFirst = plan_.keepFirst};
        options.cancelled = [this] { return faults.place(), false; };
        if (plan_.drafts) options.drafter = &drafter_;
        return options;
    }
    Turn::OnText onText() {
        return [this](std::string_view piece) {
            faults.place();
            text += piece;
        };
    }
    Turn begin() { return conversation.begin(prompt, sampler, FaultyDecoder{&faults}, options(), onText()); }
    Said turn() { return turn(prompt, 20); }

    // That the third turn has not begun.
    void checkUntouched() {
        const Tokens history = tokensOf(conversation.history());
        // All of it is there, unless it was overwritten: behind an edit, or what a context shift moves.
        const std::size_t least = plan_.keepFirst ? 3 : plan_.edited ? 5 : before.size();
        REQUIRE(history.size() >= least);
        REQUIRE(history.size() <= before.size());
        CHECK(std::equal(history.begin(), history.end(), before.begin()));
        checkAgrees(conversation);
        CHECK(!conversation.busy());
        CHECK(sampler.choices() == choices);
    }

    Faults faults;

  private:
    const Plan& plan_;
    FaultyModel model_;

  public:
    Conversation<FaultyModel> conversation;
    Sampler sampler;
    Tokens prompt, before;
    std::uint64_t choices;
    std::string text;

    const FaultyModel& model() const { return model_; }

  private:
    Said turn(const Tokens& tokens, std::int64_t most) {
        text.clear();
        ReplyOptions o = options();
        o.maxTokens = most;
        Said said;
        said.reply = conversation.reply(tokens, sampler, FaultyDecoder{&faults}, o, onText());
        said.text = std::move(text);  // nothing that could fail behind the turn
        return said;
    }
    std::vector<std::unique_ptr<LogitProcessor>> processors() {
        std::vector<std::unique_ptr<LogitProcessor>> list;
        list.push_back(std::make_unique<FaultyProcessor>(faults));
        return list;
    }
    static SamplerSettings settings() {
        SamplerSettings settings = drawing(0.9, 11);
        settings.penalties = {.repeat = 1.1, .window = 8};
        return settings;
    }
    // What will be said, for drafts that are mostly right.
    static Tokens textOf(const Plan& plan) {
        static std::map<std::string, Tokens> texts;
        if (const auto it = texts.find(plan.name); it != texts.end()) return it->second;
        Plan plain = plan;
        plain.drafts = false;
        plain.keepFirst.reset();
        Scene scene(plain);
        const Reply reply = scene.turn().reply;
        return texts[plan.name] = joined(scene.prompt, reply.tokens);
    }
    FaultyDrafter drafter_;
};

Said referenceOf(const Plan& plan, std::string* next = nullptr) {
    Scene scene(plan);
    const Said said = scene.turn();
    if (next) {
        scene.prompt = joined(scene.prompt, {2, 2});
        *next = scene.turn().text;
    }
    return said;
}

void checkGoesOn(Scene& scene, const Said& want, const std::string& next) {
    const Said again = scene.turn();
    CHECK(again.reply.tokens == want.reply.tokens);
    CHECK(again.text == want.text);
    CHECK(again.reply.droppedTokens == want.reply.droppedTokens);
    scene.prompt = joined(scene.prompt, {2, 2});
    CHECK(scene.turn().text == next);
}

TEST_CASE("faults: every call of a turn throws once") {
    for (const Plan& plan : plans) {
        CAPTURE(plan.name);
        std::string next;
        const Said want = referenceOf(plan, &next);
        CHECK((want.reply.droppedTokens > 0) == plan.keepFirst.has_value());
        std::size_t at = 0;
        for (bool failed = true; failed; ++at) {
            CAPTURE(at);
            Scene scene(plan);
            scene.faults.at = at;
            failed = false;
            try {
                scene.turn();
            } catch (const Fault&) {
                failed = true;
            }
            if (!failed) break;
            scene.checkUntouched();
            checkGoesOn(scene, want, next);
        }
        CHECK(at > 60);  // there are about five calls a token
    }
}

TEST_CASE("faults: every allocation of a turn fails once") {
    for (const Plan& plan : plans) {
        CAPTURE(plan.name);
        std::string next;
        const Said want = referenceOf(plan, &next);
        std::size_t at = 0;
        for (bool failed = true; failed; ++at) {
            CAPTURE(at);
            Scene scene(plan);
            try {
                const FailingNew failing(at);
                scene.turn();
                failed = false;
            } catch (const std::bad_alloc&) {
                failed = true;
            }
            CHECK(failed == FailingNew::hasFailed());
            if (!failed) break;
            scene.checkUntouched();
            checkGoesOn(scene, want, next);
        }
        CHECK(at > 60);
    }
}

// Runs the scene's turn beside another conversation's; the number of attempts that failed.
template <class Attempt>
std::size_t runBatch(Batch<FaultyModel>& batch, Scene& scene, Conversation<FaultyModel>& other, Attempt attempt) {
    std::size_t failures = 0;
    const auto tried = [&](auto&& what) {
        try {
            attempt(what);
            return true;
        } catch (const Fault&) {
        } catch (const std::bad_alloc&) {
        }
        ++failures;
        return false;
    };
    const auto join = [&] {
        scene.text.clear();
        while (!tried([&] { batch.join(scene.conversation, scene.begin()); })) scene.checkUntouched();
    };
    join();
    for (bool done = false; !done;) {
        const Tokens mine = tokensOf(scene.conversation.history()), others = tokensOf(other.history());
        std::vector<Conversation<FaultyModel>*> ended;
        if (!tried([&] { ended = batch.step(); })) {  // before or in the forward pass: nobody has moved
            CHECK(tokensOf(scene.conversation.history()) == mine);
            CHECK(tokensOf(other.history()) == others);
        }
        for (auto* conversation : ended)
            if (conversation == &scene.conversation) {
                try {
                    const Reply reply = batch.leave(*conversation);
                    CHECK(reply.end == ReplyEnd::length);
                    done = true;
                } catch (const std::exception&) {
                    ++failures;
                    scene.checkUntouched();
                    join();
                }
            }
    }
    return failures;
}

// hasFailed(): whether there was a fault that runBatch could not see.
template <class MakeAttempt, class HasFailed>
void checkBatch(MakeAttempt makeAttempt, HasFailed hasFailed) {
    for (const Plan& plan : plans) {
        CAPTURE(plan.name);
        std::string next;
        const Said want = referenceOf(plan, &next);
        std::size_t at = 0;
        for (bool failed = true; failed; ++at) {
            CAPTURE(at);
            Scene scene(plan);
            Conversation other(scene.model(), scene.model().makeCache(100, Format::f32));
            Sampler sampler(drawing(0.7));
            std::string text;
            text.reserve(200);
            Batch batch(scene.model(), 7);
            batch.join(other, other.begin(Tokens(9, 4), sampler, Letters(), {.maxTokens = 60, .batch = 2},
                                          [&](std::string_view s) { text += s; }));
            failed = runBatch(batch, scene, other, makeAttempt(scene, at)) > 0 || hasFailed();
            CHECK(scene.text == want.text);
            scene.faults.at = ~std::size_t{0};
            while (batch.running() > 0) batch.step();
            Said alone;
            {
                FakeModel fake;
                Conversation conversation(fake, fake.makeCache(100, Format::f32));
                alone = say(conversation, Tokens(9, 4), {.maxTokens = 60}, 0.7);
            }
            try {
                const Reply reply = batch.leave(other);
                CHECK(reply.tokens.size() == 60);
                CHECK(text == alone.text);
            } catch (const std::bad_alloc&) {  // it was this one's allocation
                CHECK(alone.text.starts_with(text));
                checkAgrees(other);
                CHECK(sampler.choices() == 0);
            }
            scene.prompt = joined(scene.prompt, {2, 2});
            CHECK(scene.turn().text == next);
        }
        CHECK(at > 60);
    }
}

TEST_CASE("faults: every call of a turn in a batch throws once, and the conversation beside it does not notice") {
    const auto attempts = [](Scene& scene, std::size_t at) {
        scene.faults.at = at;
        return [](auto&& what) { what(); };
    };
    checkBatch(attempts, [] { return false; });
}

TEST_CASE("faults: every allocation of a batch's steps fails once") {
    // The n-th allocation over all attempts: those of each are counted.
    const auto attempts = [](Scene&, std::size_t at) {
        return [left = at, done = false](auto&& what) mutable {
            if (done) return what();
            const FailingNew failing(left);
            try {
                what();
            } catch (...) {
                done = true;
                throw;
            }
            done = FailingNew::hasFailed();
            left -= std::min(left, FailingNew::counted());
        };
    };
    checkBatch(attempts, FailingNew::hasFailed);
}

}  // namespace
}  // namespace axial::llm
