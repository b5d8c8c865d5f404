// The bits of a position's logits depend on the tokens before it and on nothing else: not on how many positions are
// computed together, how a prompt is cut, which other conversations are in the step, or how many threads work.
#include <algorithm>
#include <memory>
#include <numeric>
#include <random>

#include "axial/llm/load.h"
#include "axial/ops/instruction_set.h"
#include "axial/tensor/parallel.h"
#include "oracle.h"

using namespace axial;
using namespace axial::llm;

namespace {

constexpr std::size_t conversations = 8, longest = 64;

// A model of every format, and of every family.
std::vector<std::string> modelNames() {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(oracle::path("models"))) {
        const std::string name = entry.path().stem().string();
        if (entry.path().extension() == ".gguf") names.push_back(name);
    }
    std::sort(names.begin(), names.end());
    return names;
}

std::vector<TokenId> tokensOf(std::size_t conversation, std::size_t vocabulary) {
    std::mt19937 draw(static_cast<unsigned>(conversation));
    std::vector<TokenId> tokens(longest);
    for (TokenId& token : tokens) token = static_cast<TokenId>(draw() % vocabulary);
    return tokens;
}

struct Subject {
    LoadedModel loaded;
    std::size_t vocabulary = 0;
    std::vector<std::vector<TokenId>> tokens;
    std::vector<std::vector<float>> alone;  // logits of each position, computed one by one on one thread

    explicit Subject(const std::string& name)
        : loaded(load(oracle::path("models/" + name + ".gguf"))),
          vocabulary(loaded.model->hyperparameters().vocabulary) {
        ThreadTeam one(1);
        const UseTeam use(one);
        for (std::size_t i = 0; i < conversations; ++i) {
            tokens.push_back(tokensOf(i, vocabulary));
            KvCache cache = newCache();
            std::vector<float>& logits = alone.emplace_back();
            for (const TokenId& token : tokens[i]) {
                const Logits next = loaded.model->forward(cache, std::span(&token, 1), LogitsOf::last);
                logits.insert(logits.end(), next.values().begin(), next.values().end());
            }
        }
    }
    KvCache newCache() const { return loaded.model->makeCache(longest, Format::f16); }

    // Whether rows of logits are those of the conversation's positions from `position` on.
    bool same(std::span<const float> rows, std::size_t conversation, std::size_t position) const {
        return std::equal(rows.begin(), rows.end(),
                          alone[conversation].begin() + static_cast<std::ptrdiff_t>(position * vocabulary));
    }
};

// A team of one to four threads.
ThreadTeam& team(std::size_t i) {
    static std::vector<std::unique_ptr<ThreadTeam>> teams;
    while (teams.size() < 4) teams.push_back(std::make_unique<ThreadTeam>(teams.size() + 1));
    return *teams[i % teams.size()];
}

// 1 to 64 positions in one step.
void checkTogether(const Subject& subject) {
    KvCache cache = subject.newCache();
    for (std::size_t count = 1; count <= longest; ++count) {
        CAPTURE(count);
        const UseTeam use(team(count));
        cache.truncate(0);
        const std::size_t which = count % conversations;
        const auto start = std::span(subject.tokens[which]).first(count);
        const Logits logits = subject.loaded.model->forward(cache, start, LogitsOf::all);
        CHECK(subject.same(logits.values(), which, 0));
    }
}

// 1 to 8 conversations that come and go, each in pieces of any length.
void checkBeside(const Subject& subject) {
    for (std::size_t together = 1; together <= conversations; ++together) {
        CAPTURE(together);
        std::mt19937 draw(static_cast<unsigned>(together));
        std::vector<KvCache> caches;
        for (std::size_t i = 0; i < together; ++i) caches.push_back(subject.newCache());
        std::size_t steps = 0, unequal = 0;
        std::vector<std::size_t> order(together);
        std::iota(order.begin(), order.end(), std::size_t{0});
        const auto open = [&](const KvCache& cache) { return cache.length() < longest; };
        while (std::any_of(caches.begin(), caches.end(), open)) {
            std::vector<Continuation> step;
            std::shuffle(order.begin(), order.end(), draw);
            for (const std::size_t i : order) {
                if (!open(caches[i]) || (draw() % 4 == 0 && together > 1)) continue;  // some sit a step out
                const std::size_t most = draw() % 2 == 0 ? 1 : 24, rest = longest - caches[i].length();
                const std::size_t count = std::min(rest, 1 + draw() % most);
                step.push_back({caches[i], std::span(subject.tokens[i]).subspan(caches[i].length(), count),
                                draw() % 2 == 0 ? LogitsOf::last : LogitsOf::all});
            }
            if (step.empty()) continue;
            const UseTeam use(team(steps++));
            const Logits logits = subject.loaded.model->forward(step);
            std::size_t row = 0;
            for (const Continuation& one : step) {
                const auto i = static_cast<std::size_t>(&one.cache - caches.data());
                const std::size_t rows = one.which == LogitsOf::all ? one.tokens.size() : 1;
                unequal += !subject.same(logits.values().subspan(row * subject.vocabulary, rows * subject.vocabulary),
                                         i, one.cache.length() - rows);
                row += rows;
            }
            CHECK(row == logits.extent(seq));
        }
        CHECK(unequal == 0);
    }
}

}  // namespace

TEST_CASE("same bits: any number of positions together, on any number of threads, in every format") {
    if (!oracle::present()) return;
    for (const std::string& name : modelNames()) {
        CAPTURE(name);
        checkTogether(Subject(name));
    }
}

TEST_CASE("same bits: beside other conversations that come and go, in pieces of any length, in every format") {
    if (!oracle::present()) return;
    for (const std::string& name : modelNames()) {
        CAPTURE(name);
        checkBeside(Subject(name));
    }
}

TEST_CASE("same bits: on every instruction set of this machine") {
    if (!oracle::present()) return;
    const std::string best = instructionSet();
    for (const std::string& set : instructionSets()) {
        CAPTURE(set);
        useInstructionSet(set);
        for (const std::string name :
             {"tiny-qwen3-256-Q4_K_M", "tiny-qwen3-Q8_0", "tiny-qwen3-F16", "tiny-qwen3moe-256-Q4_K",
              "tiny-qwen3moe-256-Q6_K", "tiny-qwen3moe-MXFP4", "tiny-qwen3moe-Q8_0", "tiny-qwen3moe-F32"}) {
            CAPTURE(name);
            const Subject subject(name);
            checkTogether(subject);
            checkBeside(subject);
        }
    }
    useInstructionSet(best);
}

TEST_CASE("same bits: more tokens than go through the model at once") {
    if (!oracle::present()) return;
    const LoadedModel loaded = load(oracle::path("models/tiny-qwen3-Q8_0.gguf"));
    const Model& model = *loaded.model;
    std::vector<TokenId> lengthy;
    for (std::size_t i = 0; lengthy.size() < 1200; ++i)
        for (const TokenId token : tokensOf(i, 512)) lengthy.push_back(token);
    const std::span<const TokenId> all(lengthy), some = all.subspan(100, 30);
    KvCache first = model.makeCache(lengthy.size(), Format::f16), second = model.makeCache(64, Format::f16),
            third = model.makeCache(lengthy.size(), Format::f16);
    const Logits alone = model.forward(first, all, LogitsOf::last), beside = model.forward(second, some, LogitsOf::all);
    first.truncate(0);
    second.truncate(0);
    const std::vector<Continuation> step{
        {first, all, LogitsOf::last}, {second, some, LogitsOf::all}, {third, all.first(700), LogitsOf::all}};
    const Logits together = model.forward(step);
    REQUIRE(together.extent(seq) == 1 + 30 + 700);
    const auto equal = [](std::span<const float> a, std::span<const float> b) {
        return std::equal(a.begin(), a.end(), b.begin(), b.end());
    };
    CHECK(equal(together.values().first(512), alone.values()));
    CHECK(equal(together.values().subspan(512, 30 * 512), beside.values()));
    third.truncate(0);
    const Logits thirdAlone = model.forward(third, all.first(700), LogitsOf::all);
    CHECK(equal(together.values().subspan(31 * 512), thirdAlone.values()));
    CHECK(first.length() == lengthy.size());
}

TEST_CASE("a step of several conversations that is refused leaves every cache as it was") {
    if (!oracle::present()) return;
    const LoadedModel loaded = load(oracle::path("models/tiny-qwen3-Q8_0.gguf"));
    const Model& model = *loaded.model;
    KvCache a = model.makeCache(8, Format::f16), b = model.makeCache(4, Format::f16);
    const std::vector<TokenId> two{1, 2}, five{1, 2, 3, 4, 5}, none;
    (void)model.forward(a, two, LogitsOf::last);
    const auto refused = [&](std::vector<Continuation> step, const char* text) {
        CHECK_THROWS_WITH_AS((void)model.forward(step), text, ValueError);
        CHECK(a.length() == 2);
        CHECK(b.length() == 0);
    };
    refused({}, "forward: there are no conversations; give at least one");
    refused({{a, two}, {b, none}}, "forward: conversation 1: there are no tokens; give at least one");
    refused({{a, two}, {b, five}}, "forward: conversation 1: 5 tokens do not fit behind the 0 in a context of 4");
    refused({{a, two}, {b, two}, {a, two}},
            "forward: conversation 2: its cache is that of conversation 0; give each its own");
    KvCache other(1, kvHead(2), channel(32), 8, Format::f16);
    refused({{a, two}, {other, two}},
            "forward: conversation 1: the cache has 1 layers and the model 3; make it with makeCache() of this model");
}
