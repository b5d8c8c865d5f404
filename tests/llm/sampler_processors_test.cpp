// Checks the sampler's logit processors: their place in the chain, one commit() for each token returned, going back,
// faults anywhere, and look-ahead.
#include <doctest/doctest.h>

#include <functional>
#include <limits>
#include <stdexcept>
#include <type_traits>

#include "axial/llm/sampler.h"
#include "axial/llm/sampler_random.h"
#include "axial/tensor/error.h"

namespace axial::llm {
namespace {

constexpr float forbidden = -std::numeric_limits<float>::infinity();
constexpr std::size_t vocabulary = 12;

std::vector<float> someLogits(std::uint64_t row) {
    std::vector<float> logits(vocabulary);
    for (std::size_t i = 0; i < vocabulary; ++i)
        logits[i] = static_cast<float>(4 * uniformAt(99, row * vocabulary + i));
    return logits;
}

// What its processors were asked, by every one of them.
struct Journal {
    std::vector<TokenId> committed;
    int resets = 0;
    int throwAt = -1;  // the how manyth call from now on throws
    void step() {
        if (throwAt == 0) throw std::runtime_error("a fault");
        if (throwAt > 0) --throwAt;
    }
};

// A rule with a state: the token after token t is one of t + 1, t + 2, t + 3 (modulo the vocabulary), at first any
// below 3.
class Steps : public LogitProcessor {
  public:
    explicit Steps(Journal& journal, TokenId at = -1) : journal_(journal), start_(at), at_(at) {}
    void process(std::span<float> logits, std::span<const TokenId>) override {
        journal_.step();
        for (std::size_t i = 0; i < logits.size(); ++i)
            if (!allows(at_, static_cast<TokenId>(i))) logits[i] = forbidden;
    }
    void commit(TokenId token) override {
        journal_.step();
        CHECK(allows(at_, token));
        journal_.committed.push_back(token);
        at_ = token;
    }
    void reset() override {
        journal_.step();
        ++journal_.resets;
        journal_.committed.clear();
        at_ = start_;
    }
    std::unique_ptr<LogitProcessor> clone() const override { return std::make_unique<Steps>(journal_, start_); }
    std::size_t validPrefix(std::span<const TokenId> draft) const override {
        TokenId at = at_;
        std::size_t n = 0;
        while (n < draft.size() && allows(at, draft[n])) at = draft[n++];
        return n;
    }

  private:
    static bool allows(TokenId at, TokenId token) {
        const TokenId step = (token - at + static_cast<TokenId>(vocabulary)) % static_cast<TokenId>(vocabulary);
        return step >= 1 && step <= 3;
    }
    Journal& journal_;
    TokenId start_, at_;
};

// Any other rule, without a state.
struct Rule : LogitProcessor {
    std::function<void(std::span<float>, std::span<const TokenId>)> change;
    std::vector<TokenId> forces;
    void process(std::span<float> logits, std::span<const TokenId> history) override {
        if (change) change(logits, history);
    }
    void commit(TokenId) override {}
    void reset() override {}
    std::unique_ptr<LogitProcessor> clone() const override { return std::make_unique<Rule>(*this); }
    std::vector<TokenId> forced() const override { return forces; }
};

template <class... P>
std::vector<std::unique_ptr<LogitProcessor>> processors(P... p) {
    std::vector<std::unique_ptr<LogitProcessor>> list;
    (list.push_back(std::make_unique<P>(std::move(p))), ...);
    return list;
}

SamplerSettings seeded(std::uint64_t seed = 5, double temperature = 1.2) {
    SamplerSettings s;
    s.temperature = temperature;
    s.seed = seed;
    return s;
}

std::vector<TokenId> more(Sampler& sampler, std::size_t count) {
    std::vector<TokenId> tokens;
    for (std::size_t i = 0; i < count; ++i) {
        const std::vector<float> logits = someLogits(sampler.choices());
        tokens.push_back(sampler.next(logits, {}));
    }
    return tokens;
}

TEST_CASE("sampler: a processor sees the model's own logits, before bias and penalties, and the history") {
    std::vector<float> seen;
    std::vector<TokenId> past;
    Rule look, forbid;
    look.change = [&](std::span<float> logits, std::span<const TokenId> history) {
        seen.assign(logits.begin(), logits.end());
        past.assign(history.begin(), history.end());
    };
    forbid.change = [](std::span<float> logits, std::span<const TokenId>) { logits[1] = forbidden; };
    SamplerSettings s = seeded(1, 0);
    s.bias = {{2, 3}};
    s.penalties.presence = 8;
    const std::vector<float> logits = {1, 9, 2, 7};
    const std::vector<TokenId> history = {3, 0};
    Sampler sampler(s, processors(look, forbid));
    CHECK(sampler.next(logits, history) == 2);  // 9 is forbidden, 7 is penalised
    CHECK(seen == logits);
    CHECK(past == history);
    // In the order of the list: now the other's work is seen.
    Sampler turned(s, processors(forbid, look));
    CHECK(turned.next(logits, history) == 2);
    CHECK(seen == std::vector<float>{1, forbidden, 2, 7});
    CHECK(logits == std::vector<float>{1, 9, 2, 7});
}

TEST_CASE("sampler: a processor that forbids everything is an error that says so, and nothing is chosen") {
    Rule all;
    all.change = [](std::span<float> logits, std::span<const TokenId>) {
        for (float& logit : logits) logit = forbidden;
    };
    for (const double temperature : {0.0, 1.0}) {
        Sampler sampler(seeded(1, temperature), processors(all));
        CHECK_THROWS_WITH_AS(sampler.next(someLogits(0), {}),
                             "sampler: no token can be chosen: all 12 logits are minus infinity. Every token is "
                             "forbidden: loosen the grammar or other logit processor, or the logit bias",
                             ValueError);
        CHECK(sampler.choices() == 0);
    }
}

TEST_CASE("sampler: commit() once for each token returned, in order; candidates() and look-ahead commit nothing") {
    Journal journal;
    Sampler sampler(seeded(), processors(Steps(journal)));
    sampler.begin();
    CHECK(journal.resets == 1);
    std::vector<TokenId> tokens;
    for (std::size_t i = 0; i < 20; ++i) {
        const auto candidates = sampler.candidates(someLogits(i), tokens);
        CHECK(candidates.size() == 3);
        const std::vector<TokenId> draft = {0, 1, 2};
        sampler.validPrefix(draft);
        CHECK(journal.committed == tokens);
        tokens.push_back(sampler.next(someLogits(i), tokens));
        CHECK(journal.committed == tokens);
        CHECK(sampler.choices() == i + 1);
    }
    CHECK(journal.resets == 1);
    sampler.begin();
    CHECK(journal.resets == 2);
    CHECK(sampler.choices() == 20);
    CHECK(more(sampler, 1).front() < 3);
}

TEST_CASE("sampler: the draws are those of a sampler without processors") {
    Journal journal;
    Sampler plain(seeded()), looking(seeded(), processors(Rule()));
    CHECK(more(plain, 50) == more(looking, 50));
    CHECK(plain.choices() == 50);
}

TEST_CASE("sampler: going back to a mark repeats what followed it, with a processor's state too") {
    for (const bool constrained : {false, true}) {
        CAPTURE(constrained);
        Journal journal;
        Sampler sampler(seeded(), constrained ? processors(Steps(journal)) : processors());
        sampler.begin();
        more(sampler, 7);
        sampler.begin();
        const std::uint64_t start = sampler.choices();
        CHECK(start == 7);
        const std::vector<TokenId> reply = more(sampler, 10);
        for (const std::size_t kept : {10, 9, 4, 0}) {
            CAPTURE(kept);
            sampler.rewindTo(start + kept);
            CHECK(sampler.choices() == start + kept);
            CHECK(more(sampler, 10 - kept) == std::vector<TokenId>(reply.begin() + std::ptrdiff_t(kept), reply.end()));
            if (constrained) CHECK(journal.committed == reply);
        }
        // Into the reply before it: the numbers of that place, processors at the beginning of a reply.
        sampler.rewindTo(3);
        CHECK(sampler.choices() == 3);
        if (constrained) CHECK(more(sampler, 1).front() < 3);
        CHECK_THROWS_WITH_AS(sampler.rewindTo(20),
                             constrained ? "sampler: cannot go to choice 20: only 4 were made; give what choices() was"
                                         : "sampler: cannot go to choice 20: only 3 were made; give what choices() was",
                             ValueError);
        sampler.rewindTo(0);
        sampler.begin();
        CHECK(more(sampler, 7).size() == 7);
    }
}

TEST_CASE("sampler: a turn that failed can be taken back, and the next is as if it had not begun") {
    Journal journal, other;
    Sampler plain(seeded(), processors(Steps(journal))), failing(seeded(), processors(Steps(other)));
    for (Sampler* s : {&plain, &failing}) {
        s->begin();
        more(*s, 5);
    }
    const std::uint64_t mark = failing.choices();
    failing.begin();
    more(failing, 4);
    failing.rewindTo(mark);
    for (Sampler* s : {&plain, &failing}) s->begin();
    CHECK(more(plain, 9) == more(failing, 9));
}

TEST_CASE("sampler: a fault in any call of any processor leaves the sampler as it was") {
    Journal calm, calmToo;
    Sampler wanted(seeded(), processors(Steps(calm), Steps(calmToo)));
    const std::vector<TokenId> want = more(wanted, 12);
    int faults = 0;
    for (int at = 0; at < 60; ++at) {
        Journal first, second;
        (at % 2 ? first : second).throwAt = at / 2;
        Sampler sampler(seeded(), processors(Steps(first), Steps(second)));
        std::vector<TokenId> got;
        while (got.size() < want.size()) {
            const std::uint64_t before = sampler.choices();
            try {
                got.push_back(more(sampler, 1).front());
                CHECK(first.committed == got);
                CHECK(second.committed == got);
            } catch (const std::runtime_error&) {
                ++faults;
                CHECK(sampler.choices() == before);
                // Another fault while it is put right.
                CHECK_THROWS_AS(more(sampler, 1), std::runtime_error);
                first.throwAt = second.throwAt = -1;
            }
        }
        CHECK(got == want);
    }
    CHECK(faults > 40);
}

TEST_CASE("sampler: forced tokens are the longest that all processors let pass; a draft is cut to what all let pass") {
    Journal journal;
    Rule one, longer;
    one.forces = {1};
    longer.forces = {1, 4, 5, 11};
    CHECK(Sampler(seeded()).forced().empty());
    CHECK(Sampler(seeded(), processors(one)).forced() == std::vector<TokenId>{1});
    CHECK(Sampler(seeded(), processors(one, longer)).forced() == longer.forces);
    CHECK(Sampler(seeded(), processors(longer, Steps(journal))).forced() == std::vector<TokenId>{1, 4, 5});
    const std::vector<TokenId> draft = {2, 5, 7, 11, 0};
    CHECK(Sampler(seeded()).validPrefix(draft) == 5);
    Sampler stepping(seeded(), processors(one, Steps(journal)));
    CHECK(stepping.validPrefix(draft) == 3);
    // As things stand after what was committed, and after going back.
    const std::vector<TokenId> history = {stepping.next(std::vector<float>{9, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0}, {})};
    const std::vector<TokenId> after = {static_cast<TokenId>(history.front() + 3)};
    CHECK(stepping.validPrefix(after) == 1);
    CHECK(stepping.validPrefix(std::vector<TokenId>{history.front()}) == 0);
    stepping.rewindTo(0);
    CHECK(stepping.validPrefix(history) == 1);
}

TEST_CASE("sampler: each conversation has its own processors; reply 0 says what it says alone") {
    static_assert(!std::is_copy_constructible_v<Sampler> && !std::is_copy_assignable_v<Sampler>);
    static_assert(std::is_nothrow_move_constructible_v<Sampler>);
    Journal journal;
    Sampler first(seeded(), processors(Steps(journal)));
    const std::vector<TokenId> alone = more(first, 10);
    Sampler again = first.forReply(0), second = first.forReply(1), third = first.forReply(2);
    CHECK(again.choices() == 0);
    CHECK(again.seed() == first.seed());
    CHECK(more(again, 10) == alone);
    const std::vector<TokenId> two = more(second, 10), three = more(third, 10);
    CHECK(two != alone);
    CHECK(three != alone);
    CHECK(three != two);
    Sampler secondAgain = first.forReply(1);
    CHECK(more(secondAgain, 10) == two);
    CHECK(first.choices() == 10);
    // A seed of its own making is shared, too.
    SamplerSettings unseeded = seeded();
    unseeded.seed.reset();
    Sampler fresh(unseeded);
    CHECK(fresh.forReply(0).seed() == fresh.seed());
}

TEST_CASE("sampler: a null processor is refused") {
    std::vector<std::unique_ptr<LogitProcessor>> list(1);
    CHECK_THROWS_WITH_AS(Sampler(seeded(), std::move(list)), "sampler: logit processor 0 of 1 is null; leave it out",
                         ValueError);
}

}  // namespace
}  // namespace axial::llm
