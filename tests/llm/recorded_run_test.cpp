// A run that is recorded is the run that happens when nobody watches.
#include <map>
#include <optional>

#include "axial/llm/load.h"
#include "axial/tensor/observe.h"
#include "axial/tensor/parallel.h"
#include "oracle.h"

using namespace axial;
using namespace axial::llm;

namespace {

class Events : public Observer {
  public:
    explicit Events(Interest interest) : Observer(interest) {}
    void onOp(const OpEvent& e) override {
        ++calls[std::string(e.op)];
        work += e.work;
    }
    std::map<std::string, std::size_t> calls;
    Work work = Work::none();
};

struct Run {
    std::vector<float> logits;
    std::map<std::string, std::size_t> calls;
    Work work;
};

// Conversations that have read different numbers of tokens read one more each, in one step.
Run step(const LoadedModel& loaded, std::size_t conversations, Observer* observer) {
    std::vector<KvCache> caches;
    for (std::size_t i = 0; i < conversations; ++i) {
        caches.push_back(loaded.model->makeCache(16, Format::f16));
        const std::vector<TokenId> before(3 + i % 2, static_cast<TokenId>(i + 1));
        (void)loaded.model->forward(caches.back(), before, LogitsOf::last);
    }
    const TokenId next = 7;
    std::vector<Continuation> all;
    for (KvCache& cache : caches) all.push_back({cache, std::span(&next, 1)});
    std::optional<Watch> watch;
    if (observer) watch.emplace(*observer);
    const Logits logits = loaded.model->forward(all);
    return {{logits.values().begin(), logits.values().end()}, {}, {}};
}
Run step(const LoadedModel& loaded, std::size_t conversations, Observer::Interest interest) {
    Events events(interest);
    Run run = step(loaded, conversations, &events);
    run.calls = events.calls;
    run.work = events.work;
    return run;
}

}  // namespace

TEST_CASE("a recorded step has the bits of one that nobody watches, and the ops that really ran") {
    const LoadedModel loaded = loadBundled();
    const std::size_t layers = loaded.model->hyperparameters().layers;
    ThreadTeam team(3);
    const UseTeam use(team);
    for (const std::size_t conversations : {1, 2, 6}) {
        CAPTURE(conversations);
        const Run alone = step(loaded, conversations, nullptr);
        const Run real = step(loaded, conversations, Observer::Interest::whatRuns);
        const Run every = step(loaded, conversations, Observer::Interest::everyValue);
        CHECK(real.logits == alone.logits);
        CHECK(every.logits == alone.logits);
        CHECK(real.calls.at("dotAll") == layers);
        CHECK(real.calls.at("swigluDot") == layers);
        CHECK(real.calls.at("addDot") == 2 * layers);
        CHECK(every.calls.count("dotAll") == 0);
        CHECK(every.calls.at("groupedAttention") == conversations * layers);
        // Six conversations on three threads take one each: one op, which says what all of them cost.
        CHECK(real.calls.count("attendEach") == (conversations == 6 ? 1 : 0));
        CHECK(real.calls.at(conversations == 6 ? "attendEach" : "groupedAttention") ==
              (conversations == 6 ? layers : conversations * layers));
        CHECK(real.work.multiplyAdds == every.work.multiplyAdds);
        CHECK(real.work.ofCodes == every.work.ofCodes);
        CHECK(real.work.bytesRead < every.work.bytesRead);
    }
}
