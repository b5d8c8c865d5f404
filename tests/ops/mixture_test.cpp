#include "axial/ops/mixture.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <set>

#include "axial/ops/activations.h"
#include "axial/ops/elementwise.h"
#include "axial/ops/interleaved.h"
#include "axial/ops/mixture_kernels.h"
#include "axial/ops/mixture_plain.h"
#include "axial/ops/structure.h"
#include "axial/tensor/error.h"
#include "axial/tensor/observe.h"
#include "axial/tensor/parallel.h"
#include "ops/each_unit.h"
#include "ops/samples.h"
#include "ops/stored_blocks.h"

using namespace axial;

namespace {

constexpr Axis<"seq"> seq;
constexpr Axis<"embed"> embed;
constexpr Axis<"ff"> ff;
constexpr Axis<"slot"> slot;

using Source = ExpertSource<ff, embed>;

// Experts of random weights, given in parts of some size, the last first.
class RandomExperts final : public Source {
  public:
    RandomExperts(Format format, std::size_t experts, std::size_t outer, std::size_t inner) {
        for (std::size_t e = 0; e < experts; ++e) {
            const auto seed = static_cast<unsigned>(3 * e);
            for (unsigned i = 0; i < 3; ++i) bytes_.push_back(randomBlocks(format, outer * inner, seed + i));
            weights_.push_back({{bytes_[3 * e].data(), format, {inner, outer}, {}, "gate", Origin::constant},
                                {bytes_[3 * e + 1].data(), format, {inner, outer}, {}, "up", Origin::constant},
                                {bytes_[3 * e + 2].data(), format, {outer, inner}, {}, "down", Origin::constant}});
            for (unsigned i = 0; i < 3; ++i) values_.push_back(decoded(format, bytes_[3 * e + i]));
        }
        for (const Weights& w : weights_) experts_.push_back({w.gate, w.up, w.down});
        for (std::size_t e = 0; e < experts; ++e)
            plain_.push_back({values_[3 * e].data(), values_[3 * e + 1].data(), values_[3 * e + 2].data()});
    }
    std::size_t count() const override { return experts_.size(); }
    void forEach(std::span<const std::int32_t> wanted, const Use& use) const override {
        CHECK(std::is_sorted(wanted.begin(), wanted.end(), std::less_equal()));
        asked.assign(wanted.begin(), wanted.end());
        std::vector<Given> given;
        for (std::size_t i = wanted.size(); i-- > 0;) {
            given.push_back({wanted[i], &experts_[static_cast<std::size_t>(wanted[i])]});
            if (given.size() < together && i != 0) continue;
            use(given);
            given.clear();
        }
    }
    const plain::ExpertValues* plainly() const { return plain_.data(); }

    std::size_t together = 1000;
    mutable std::vector<std::int32_t> asked;

  private:
    struct Weights {
        Weight<ff, embed> gate, up;
        Weight<embed, ff> down;
    };
    std::vector<std::vector<std::byte>> bytes_;
    std::vector<std::vector<float>> values_;
    std::vector<Weights> weights_;
    std::vector<Expert<ff, embed>> experts_;
    std::vector<plain::ExpertValues> plain_;
};

// Every row goes to `slots` experts, of which the low numbers are chosen more often.
Routing<seq, slot> randomRouting(std::size_t rows, std::size_t slots, std::size_t experts, unsigned seed) {
    Routing<seq, slot> routing{uninitialized<std::int32_t>(seq(rows), slot(slots)),
                               randomTensor(seed, seq(rows), slot(slots))};
    std::mt19937 random(seed);
    for (std::size_t t = 0; t < rows; ++t) {
        std::set<std::size_t> taken;
        for (std::size_t s = 0; s < slots; ++s) {
            std::size_t e;
            do e = random() % (random() % experts + 1);
            while (!taken.insert(e).second);
            routing.expert(seq(t), slot(s)) = static_cast<std::int32_t>(e);
        }
    }
    return routing;
}

constexpr Format formatsHere[] = {Format::f32,  Format::f16,  Format::bf16, Format::q8_0,  Format::q4_0,
                                  Format::q4_k, Format::q5_k, Format::q6_k, Format::mxfp4, Format::iq2_s};

}  // namespace

TEST_CASE("mixture: the plain definition, in every kind of format, on every instruction set") {
    constexpr std::size_t rows = 21, slots = 3, experts = 6, outer = 256, inner = 256;
    for (const Format format : formatsHere) {
        CAPTURE(nameOf(format));
        const RandomExperts source(format, experts, outer, inner);
        const auto x = randomTensor(1, seq(rows), embed(outer));
        auto routing = randomRouting(rows, slots, experts, 2);
        routing.expert(seq(4), slot(2)) = -1;
        std::vector<float> want(rows * outer);
        for (std::size_t t = 0; t < rows; ++t)
            plain::mixture(want.data() + t * outer, x.data() + t * outer, routing.expert.data() + t * slots,
                           routing.weight.data() + t * slots, slots, source.plainly(), outer, inner);
        const double most = largestMagnitude(want);
        forEachUnit([&](const std::string& unit) {
            CAPTURE(unit);
            {
                const UseActivations use(Activations::float32);
                CHECK(largestDifference(mixture(x, routing, source), want) < 3e-6 * most);
            }
            CHECK(largestDifference(mixture(x, routing, source), want) < 1e-3 * most);
            const UseActivations use(Activations::int8);
            CHECK(largestDifference(mixture(x, routing, source), want) < 5e-2 * most);
        });
    }
}

TEST_CASE("mixture: a row has the same bits alone as among others, with experts in any parts, on any threads") {
    constexpr std::size_t rows = 70, slots = 2, experts = 5, outer = 256, inner = 512;
    for (const Format format : formatsHere)
        for (const Activations arithmetic : {Activations::int16, Activations::int8, Activations::float32}) {
            CAPTURE(nameOf(format));
            const UseActivations use(arithmetic);
            RandomExperts source(format, experts, outer, inner);
            const auto x = randomTensor(3, seq(rows), embed(outer));
            const auto routing = randomRouting(rows, slots, experts, 4);
            forEachUnit([&](const std::string& unit) {
                CAPTURE(unit);
                source.together = 1000;
                const auto all = mixture(x, routing, source);
                std::size_t differ = 0;
                for (const std::size_t t : {0, 1, 33, 69}) {
                    const Routing<seq, slot> one{copy(routing.expert.narrow(seq, t, 1)),
                                                 copy(routing.weight.narrow(seq, t, 1))};
                    for (int reading = 0; reading < 4; ++reading)  // the experts are interleaved meanwhile
                        differ += !sameBits(mixture(x.narrow(seq, t, 1), one, source),
                                            all.values().subspan(t * outer, outer));
                }
                for (const std::size_t count : {2, 5, 6, 16, 17, 40}) {
                    const Routing<seq, slot> some{copy(routing.expert.narrow(seq, 7, count)),
                                                  copy(routing.weight.narrow(seq, 7, count))};
                    ThreadTeam team(1 + count % 4);
                    const UseTeam useTeam(team);
                    for (const std::size_t together : {1, 2, 1000}) {
                        source.together = together;
                        differ += !sameBits(mixture(x.narrow(seq, 7, count), some, source),
                                            all.values().subspan(7 * outer, count * outer));
                    }
                }
                CHECK(differ == 0);
            });
        }
}

TEST_CASE("weightedSum: its definition, on every instruction set, whatever stands beside") {
    const auto a = randomValues(101, 5), b = randomValues(101, 6), c = randomValues(101, 7), add = randomValues(101, 8);
    const float weight[] = {0.5f, -1.25f, 3.0f};
    forEachTarget([&](const char*) {
        std::vector<float> whole(101), part(101), plainly(101);
        const float* const from[] = {a.data(), b.data(), c.data()};
        kernels::weightedSum(whole.data(), add.data(), from, weight, 3, 101);
        for (std::size_t i = 0; i < 101; ++i) {
            const float* const at[] = {a.data() + i, b.data() + i, c.data() + i};
            kernels::weightedSum(part.data() + i, add.data() + i, at, weight, 3, 1);
            plainly[i] = add[i] + (weight[0] * a[i] + weight[1] * b[i] + weight[2] * c[i]);
        }
        CHECK(sameBits(std::span<const float>(whole), std::span<const float>(part)));
        CHECK(largestDifference(whole, plainly) < 1e-5);
        kernels::weightedSum(whole.data(), nullptr, from, weight, 0, 101);
        CHECK(largestMagnitude(whole) == 0);
    });
}

TEST_CASE("addMixture: the same bits as add(stream, mixture(...)), in the stream's memory, watched or not") {
    constexpr std::size_t rows = 9, outer = 64, inner = 32;
    const RandomExperts source(Format::q8_0, 4, outer, inner);
    const auto x = randomTensor(9, seq(rows), embed(outer));
    const auto routing = randomRouting(rows, 2, 4, 10);
    const auto sum = add(randomTensor(11, seq(rows), embed(outer)), mixture(x, routing, source));
    auto stream = randomTensor(11, seq(rows), embed(outer));
    const float* const place = stream.data();
    const auto fused = addMixture(std::move(stream), x, routing, source);
    CHECK(fused.data() == place);
    CHECK(sameBits(fused, sum));

    struct Names : Observer {
        std::vector<std::string> ops;
        void onOp(const OpEvent& event) override { ops.emplace_back(event.op); }
    } names;
    {
        const Watch watch(names);
        CHECK(sameBits(addMixture(randomTensor(11, seq(rows), embed(outer)), x, routing, source), sum));
    }
    CHECK(names.ops == std::vector<std::string>{"mixture", "add"});

    struct Cost : Observer {
        Work work;
        Cost() : Observer(Interest::whatRuns) {}
        void onOp(const OpEvent& event) override {
            CHECK(event.op == "addMixture");
            work = event.work;
        }
    } cost;
    {
        const Watch watch(cost);
        CHECK(sameBits(addMixture(randomTensor(11, seq(rows), embed(outer)), x, routing, source), sum));
    }
    const std::size_t products = rows * 2 * 3 * outer * inner, values = rows * outer;
    CHECK(cost.work.ofCodes == products);
    CHECK(cost.work.multiplyAdds == products + rows * 2 * 2 * inner + 2 * values + values);
    CHECK(cost.work.bytesWritten == values * 4);
    CHECK(cost.work.bytesRead ==
          2 * values * 4 + rows * 2 * 8 + source.asked.size() * 3 * bytesOf(Format::q8_0, outer * inner));
}

TEST_CASE("mixture: axes in any order, nothing chosen, nothing at all, and what it refuses") {
    constexpr std::size_t rows = 3, outer = 64, inner = 32;
    const RandomExperts source(Format::q4_0, 4, outer, inner);
    const auto x = randomTensor(12, seq(rows), embed(outer));
    auto routing = randomRouting(rows, 2, 4, 13);
    const auto want = mixture(x, routing, source);

    const auto turned = copy(x.as(embed, seq));
    const Routing<slot, seq> other{copy(routing.expert.as(slot, seq)), copy(routing.weight.as(slot, seq))};
    CHECK(sameBits(mixture(turned, other, source), want));

    Routing<seq, slot> none{uninitialized<std::int32_t>(seq(rows), slot(2)), copy(routing.weight)};
    std::ranges::fill(none.expert.values(), -1);
    CHECK(largestMagnitude(numbers(mixture(x, none, source))) == 0);
    const Routing<seq, slot> empty{copy(routing.expert.narrow(seq, 0, 0)), copy(routing.weight.narrow(seq, 0, 0))};
    CHECK(mixture(x.narrow(seq, 0, 0), empty, source).size() == 0);

    CHECK_THROWS_WITH_AS((void)mixture(x.narrow(seq, 0, 2), routing, source),
                         "mixture: axis seq is 2 on the left and 3 on the right", ShapeError);
    CHECK_THROWS_AS((void)mixture(x.narrow(embed, 0, 32), routing, source), ShapeError);
    auto stream = randomTensor(14, seq(rows), embed(outer));
    routing.expert(seq(2), slot(1)) = 4;
    CHECK_THROWS_WITH_AS((void)addMixture(std::move(stream), x, routing, source),
                         "addMixture: expert 4 is chosen, but there are 4", ValueError);
    CHECK(stream.size() == rows * outer);  // untouched

    // A source that keeps an expert to itself, gives one twice, or one that nobody wants.
    struct Wrong final : Source {
        const RandomExperts& experts;
        std::vector<std::int32_t> gives;
        Wrong(const RandomExperts& e, std::vector<std::int32_t> g) : experts(e), gives(std::move(g)) {}
        std::size_t count() const override { return 4; }
        void forEach(std::span<const std::int32_t>, const Use& use) const override {
            const std::int32_t any = 0;
            experts.forEach({&any, 1}, [&](std::span<const Given> given) {
                for (const std::int32_t e : gives) {
                    const Given one{e, given[0].matrices};
                    use({&one, 1});
                }
            });
        }
    };
    for (std::size_t t = 0; t < rows; ++t)
        for (std::size_t s = 0; s < 2; ++s) routing.expert(seq(t), slot(s)) = static_cast<std::int32_t>(s);
    CHECK_THROWS_WITH_AS((void)mixture(x, routing, Wrong(source, {0})), "mixture: expert 1 was asked for and not given",
                         ValueError);
    CHECK_THROWS_WITH_AS((void)mixture(x, routing, Wrong(source, {1, 1})),
                         "mixture: expert 1 was given and not asked for", ValueError);
    CHECK_THROWS_WITH_AS((void)mixture(x, routing, Wrong(source, {0, 99})),
                         "mixture: expert 99 was given and not asked for", ValueError);
}
