// What ops tell an observer that they cost, and that ops which stand for several are one event to whoever wants that.
#include "axial/ops/work.h"

#include <cstring>
#include <doctest/doctest.h>
#include <rapidcheck.h>

#include "axial/ops/attention.h"
#include "axial/ops/dot_fused.h"
#include "axial/ops/gather.h"
#include "axial/ops/largest.h"
#include "axial/ops/norm.h"
#include "axial/ops/rope.h"
#include "axial/ops/structure.h"
#include "ops/samples.h"
#include "ops/stored_blocks.h"

using namespace axial;
using namespace axial::axes;

namespace {

constexpr Axis<"embed"> embed;
constexpr Axis<"ff"> ff;
constexpr Axis<"vocab"> vocab;

class Events : public Observer {
  public:
    explicit Events(Interest interest) : Observer(interest) {}
    void onOp(const OpEvent& e) override { list.push_back(e); }
    std::vector<OpEvent> list;
    Work all() const {
        Work sum = Work::none();
        for (const OpEvent& e : list) sum += e.work;
        return sum;
    }
};

template <class T>
bool same(const T& l, const T& r) {
    return l.size() == r.size() && std::memcmp(l.data(), r.data(), l.size() * sizeof(float)) == 0;
}

// What the three ops give, and who saw it.
struct Layer {
    Tensor<float, seq, ff> gated;
    Tensor<float, seq, embed> stream;
    std::vector<OpEvent> events;
    Work work;
};
Layer layer(Observer::Interest interest) {
    const auto up = randomBlocks(Format::q8_0, 96 * 64, 3), gate = randomBlocks(Format::q4_0, 96 * 64, 4),
               down = randomBlocks(Format::q8_0, 64 * 96, 5);
    const Weight<ff, embed> g(gate.data(), Format::q4_0, {96, 64}), u(up.data(), Format::q8_0, {96, 64}),
        other(gate.data(), Format::q4_0, {96, 64});
    const Weight<embed, ff> d(down.data(), Format::q8_0, {64, 96});
    const auto x = randomTensor(7, seq(3), embed(64));
    Layer out;
    Events events(interest);
    const Watch watch(events);
    auto [first, second] = dotAll(x, embed, g, u);
    CHECK(first.extent(ff) == second.extent(ff));
    out.gated = swigluDot(x, g, other, embed);
    out.stream = addDot(randomTensor(7, seq(3), embed(64)), out.gated, d, ff);
    out.events = events.list;
    out.work = events.all();
    return out;
}

}  // namespace

TEST_CASE(
    "ops that stand for several are those or one, as the observer wants, with the same bits and the same products") {
    const Layer plain = layer(Observer::Interest::everyValue), fused = layer(Observer::Interest::whatRuns);
    const auto names = [](const Layer& l) {
        std::vector<std::string_view> list;
        for (const OpEvent& e : l.events) list.push_back(e.op);
        return list;
    };
    CHECK(names(plain) == std::vector<std::string_view>{"dot", "dot", "dot", "dot", "swiglu", "dot", "add"});
    REQUIRE(names(fused) == std::vector<std::string_view>{"dotAll", "swigluDot", "addDot"});
    CHECK(same(plain.gated, fused.gated));
    CHECK(same(plain.stream, fused.stream));
    CHECK(plain.work.multiplyAdds == fused.work.multiplyAdds);
    CHECK(fused.events[0].work.multiplyAdds == 2 * 3 * 96 * 64);
    CHECK(fused.events[1].work.multiplyAdds == 2 * 3 * 96 * 64 + 2 * 3 * 96);
    CHECK(fused.events[2].work.multiplyAdds == 3 * 64 * 96 + 3 * 64);
    // What the values in between would have been written and read again is saved; weights are read once either way.
    CHECK(fused.work.bytesWritten < plain.work.bytesWritten);
    CHECK(fused.events[0].work.bytesRead ==
          3 * 64 * 4 + bytesOf(Format::q4_0, 96 * 64) + bytesOf(Format::q8_0, 96 * 64));

    const OpEvent& both = fused.events[0];
    REQUIRE(both.moreOut.size() == 1);
    CHECK(both.in.size() == 3);
    CHECK(both.out.id != 0);
    CHECK(both.moreOut[0].id != both.out.id);
    const OpEvent& add = fused.events[2];
    CHECK(add.in[1].id == fused.events[1].out.id);
    CHECK(add.in[0].data != nullptr);  // as it was before its buffer went over to the result
}

TEST_CASE("with nobody watching, results have no number") {
    const auto x = randomTensor(1, seq(2), embed(8));
    const auto w = randomTensor(2, embed(8));
    CHECK(rmsNormMul(x, w, 1e-6f).ref().id == 0);
}

TEST_CASE("pairs of queries and keys are those that the mask leaves") {
    CHECK(rc::check([] {
        const std::size_t keys = *rc::gen::inRange<std::size_t>(0, 40);
        const std::size_t queries = *rc::gen::inRange<std::size_t>(0, keys + 1);
        const std::size_t window = *rc::gen::inRange<std::size_t>(0, 45);
        std::size_t seen = 0;
        for (std::size_t q = 0; q < queries; ++q)
            for (std::size_t k = 0; k < keys; ++k) {
                const std::size_t self = keys - queries + q;
                if (k <= self && (window == 0 || k + window > self)) ++seen;
            }
        RC_ASSERT(work::seenKeys(queries, keys, true, window) == seen);
        RC_ASSERT(work::seenKeys(queries, keys, false) == queries * keys);
    }));
}

TEST_CASE("what ops say they cost") {
    Events events(Observer::Interest::whatRuns);
    const Watch watch(events);
    const auto x = randomTensor(1, seq(3), embed(32));

    (void)rmsNormMul(x, randomTensor(2, embed(32)), 1e-6f);
    CHECK(events.list.back().work.multiplyAdds == 3 * 3 * 32);
    CHECK(events.list.back().work.bytesRead == (3 * 32 + 32) * 4);
    CHECK(events.list.back().work.bytesWritten == 3 * 32 * 4);

    // Two queries of four heads on five keys see four and five of them.
    const auto q = randomTensor(3, seq(2), head(4), channel(8));
    const auto k = randomTensor(4, kvHead(2), key(5), channel(8));
    (void)groupedAttention(q, k, k);
    CHECK(events.list.back().work.multiplyAdds == 2 * 9 * 4 * 8);

    // A part of the channels turns.
    RopeParameters rotation;
    rotation.channels = 4;
    (void)ropeHalf(q, Rope(rotation).table(0, 2));
    CHECK(events.list.back().work.multiplyAdds == 2 * 2 * 4 * 4);

    // Rows of a table, not the table.
    const auto bytes = randomBlocks(Format::q8_0, 100 * 32, 3);
    const Weight<vocab, embed> table(bytes.data(), Format::q8_0, {100, 32});
    const auto ids = tensor<std::int32_t>({5, 99}, seq(2));
    (void)gather(table, vocab, ids);
    CHECK(events.list.back().work.multiplyAdds == 0);
    CHECK(events.list.back().work.bytesRead == bytesOf(Format::q8_0, 2 * 32) + 8);
    CHECK(events.list.back().work.bytesWritten == 2 * 32 * 4);

    const auto top = topK(x, embed, slot, 4);
    CHECK(events.list.back().out.id == top.value.ref().id);
    REQUIRE(events.list.back().moreOut.size() == 1);
    CHECK(events.list.back().moreOut[0].id == top.index.ref().id);

    auto wide = zeros<float>(seq(5), embed(32));
    copy(x, wide.edit().narrow(seq, 1, 3));
    CHECK(events.list.back().inPlace);
    CHECK(events.list.back().work.bytesWritten == 3 * 32 * 4);
}
