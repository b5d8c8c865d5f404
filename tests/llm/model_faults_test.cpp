// A real model whose memory runs out at every allocation of a turn: the conversation goes on as if it had not begun.
#include <new>

#include "axial/llm/conversation.h"
#include "axial/llm/load.h"
#include "axial/tensor/parallel.h"
#include "llm/failing_new.h"
#include "llm/fake_drafter.h"
#include "oracle.h"

using namespace axial;
using namespace axial::llm;

namespace {

using Tokens = std::vector<TokenId>;

struct NoText {
    std::string push(TokenId) { return {}; }
    std::string finish() { return {}; }
};

// Two turns; memory fails in the second one.
struct Scene {
    const Model& model;
    Conversation<Model> conversation{model, model.makeCache(40, Format::q8_0)};
    Sampler sampler{settings()};
    FakeDrafter drafter;
    ReplyOptions options{.maxTokens = 6, .batch = 4};
    Tokens prompt = {5, 6, 7, 8, 9, 10, 11, 12, 13, 14};

    Scene(const Model& m, bool drafts, const Tokens& text) : model(m), drafter(rightGuesses(text, 3)) {
        if (drafts) options.drafter = &drafter;
        options.maxTokens = 2;
        static_cast<void>(turn(Tokens{5, 6, 7, 8}));
        options.maxTokens = 6;
    }
    static SamplerSettings settings() {
        SamplerSettings settings;
        settings.temperature = 0.8;
        settings.seed = 4;
        return settings;
    }
    Tokens turn(const Tokens& tokens) {
        return conversation.reply(tokens, sampler, NoText(), options, [](std::string_view) {}).tokens;
    }
};

}  // namespace

TEST_CASE("faults: every allocation of a real model's turn fails once") {
    if (!oracle::present()) return;
    ThreadTeam one(1);
    const UseTeam use(one);
    for (const bool drafts : {false, true}) {
        // with drafts, of a mixture of experts
        const std::string name = drafts ? "models/tiny-qwen3moe-256-Q4_K.gguf" : "models/tiny-qwen3-256-Q4_K_M.gguf";
        const LoadedModel loaded = load(oracle::path(name));
        CAPTURE(name);
        Tokens text, want;
        {
            Scene scene(*loaded.model, false, {});
            want = scene.turn(scene.prompt);
            text = scene.prompt;
            text.insert(text.end(), want.begin(), want.end());
        }
        std::size_t at = 0;
        for (bool failed = true; failed; ++at) {
            CAPTURE(at);
            Scene scene(*loaded.model, drafts, text);
            const Tokens before(scene.conversation.history().begin(), scene.conversation.history().end());
            const std::uint64_t choices = scene.sampler.choices();
            try {
                const FailingNew failing(at);
                const Tokens said = scene.turn(scene.prompt);
                CHECK(said == want);  // nothing failed, or what can be done without
                failed = FailingNew::hasFailed();
                continue;
            } catch (const std::bad_alloc&) {
            }
            const auto history = scene.conversation.history();
            REQUIRE(history.size() >= 4);  // what the prompt has in common with the first turn
            REQUIRE(history.size() <= before.size());
            CHECK(std::equal(history.begin(), history.end(), before.begin()));
            CHECK(scene.conversation.cache().length() == history.size());
            CHECK(scene.sampler.choices() == choices);
            REQUIRE(scene.turn(scene.prompt) == want);
        }
        CHECK(at > 100);
        MESSAGE(at << " allocations");
    }
}
