// Experts that do not all fit in memory: what is kept, what is read, and that nothing hangs.
#include "axial/llm/expert_store.h"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <random>

#include "axial/llm/use_scores.h"
#include "axial/tensor/error.h"
#include "llm/expert_store_files.h"
#include "llm/temporary_folder.h"

using namespace axial;
using namespace axial::llm;
using namespace axial::llm::test;

namespace {

const std::vector<std::size_t> small{3000, 5000, 700};
using Experts = std::vector<std::int32_t>;

ExpertStoreOptions optionsFor(const std::vector<ExpertPieces>& layers, std::size_t slots, std::size_t used = 2) {
    ExpertStoreOptions options;
    options.budget = slots * slotBytes(layers.front());
    options.used = used;
    options.readers = 3;
    return options;
}
FakeStore storeOf(std::size_t layers, std::size_t experts, std::size_t slots, std::size_t used = 2) {
    auto made = madeLayers(layers, experts, small);
    const ExpertStoreOptions options = optionsFor(made, slots, used);
    return FakeStore(std::move(made), options);
}
Experts sorted(Experts experts) {
    std::ranges::sort(experts);
    return experts;
}

// Which experts are in memory, by the definition: every use is remembered, and the lowest score makes room.
struct PlainCache {
    std::size_t slots, experts;
    UseScores scores;  // tested by itself
    std::vector<std::size_t> in, pinned;

    // Experts of them that are in memory.
    std::size_t fetch(std::size_t layer, const Experts& wanted) {
        scores.beginRound(layer);
        std::vector<std::size_t> items;
        for (const std::int32_t e : wanted) items.push_back(layer * experts + static_cast<std::size_t>(e));
        std::size_t hits = 0;
        for (const std::size_t item : items) {
            scores.use(item);
            hits += std::ranges::count(in, item) != 0;
        }
        for (const std::size_t item : items) {
            if (std::ranges::count(in, item)) continue;
            if (in.size() == slots) {
                auto least = in.end();
                for (auto i = in.begin(); i != in.end(); ++i)
                    if (!std::ranges::count(items, *i) && !std::ranges::count(pinned, *i) &&
                        (least == in.end() || scores.lessWorth(*i, *least)))
                        least = i;
                in.erase(least);
            }
            in.push_back(item);
        }
        return hits;
    }
};

}  // namespace

TEST_CASE("experts come with their bytes, those in memory first, each once") {
    FakeStore f = storeOf(2, 8, 5);
    CHECK(sorted(f.fetch(0, {1, 3})) == Experts{1, 3});
    CHECK(sorted(f.fetch(1, {3, 4})) == Experts{3, 4});
    CHECK(f.store->statistics().resident == 0);
    CHECK(sorted(f.fetch(0, {0, 1})) == Experts{0, 1});
    CHECK(f.store->statistics().resident == 1);
    CHECK(f.store->statistics().read == 5);
    CHECK(f.store->uses()[0] == std::vector<std::uint64_t>{1, 2, 0, 1, 0, 0, 0, 0});
    CHECK(sorted(f.fetch(0, {})) == Experts{});
    // All of a layer, which has more experts than there are places.
    CHECK(sorted(f.fetch(1, {0, 1, 2, 3, 4, 5, 6, 7})) == Experts{0, 1, 2, 3, 4, 5, 6, 7});
    CHECK_THROWS_AS(f.fetch(2, {0}), ValueError);
    CHECK_THROWS_AS(f.fetch(0, {8}), ValueError);
    CHECK_THROWS_AS(f.fetch(0, {-1}), ValueError);
}

TEST_CASE("what is in memory is used while the rest is read") {
    FakeStore f = storeOf(1, 8, 4);
    f.fetch(0, {1});
    f.disk->hold(true);
    std::vector<Experts> parts;
    f.store->forEach(0, Experts{1, 2}, [&](std::span<const ExpertStore::Given> given) {
        parts.emplace_back();
        for (const auto& g : given) parts.back().push_back(g.expert);
        f.disk->hold(false);  // nothing is read before the first part has been used
    });
    CHECK(parts == std::vector<Experts>{{1}, {2}});
}

TEST_CASE("which experts are kept is what the definition says, in any history") {
    CHECK(rc::check("as in the plain cache", [] {
        const std::size_t layers = 3, experts = 6, used = 2;
        const auto slots = *rc::gen::inRange<std::size_t>(used, layers * experts + 1);
        FakeStore f = storeOf(layers, experts, slots, used);
        PlainCache plain{slots, experts, UseScores(std::vector<std::size_t>(layers, experts), 64), {}, {}};
        const auto pins = std::min<std::size_t>(slots - used, *rc::gen::inRange(0, 3));
        for (std::size_t i = 0; i < pins; ++i) {
            f.store->pin(std::vector<std::pair<std::size_t, std::int32_t>>{{i, 1}});
            plain.in.push_back(i * experts + 1);
            plain.pinned.push_back(i * experts + 1);
        }
        std::size_t layer = 0;
        std::uint64_t resident = 0;
        for (const auto& [a, b] : *rc::gen::container<std::vector<std::pair<int, int>>>(
                 rc::gen::pair(rc::gen::inRange(0, 6), rc::gen::inRange(0, 6)))) {
            const Experts wanted = a == b ? Experts{a} : Experts{a, b};
            RC_ASSERT(sorted(f.fetch(layer, wanted)) == sorted(wanted));
            resident += plain.fetch(layer, wanted);
            RC_ASSERT(f.store->statistics().resident == resident);
            layer = (layer + 1) % layers;
        }
    }));
}

TEST_CASE("expected experts are read ahead, and give way to those that somebody waits for") {
    FakeStore f = storeOf(4, 8, 16);
    f.store->expect(1, Experts{5, 6});
    while (f.store->statistics().read < 2) std::this_thread::yield();
    CHECK(sorted(f.fetch(1, {5, 7})) == Experts{5, 7});
    ExpertStatistics s = f.store->statistics();
    CHECK(s.resident == 1);
    CHECK(s.readAhead == 2);
    CHECK(s.aheadUsed == 1);

    // One reader reads ahead at a time, of three: what is wanted finds another.
    f.disk->begun.clear();
    f.disk->hold(true);
    f.store->expect(2, Experts{0, 1, 2, 3});
    f.disk->waitForBegun(1);
    std::thread waiting([&] { CHECK(f.fetch(3, {4}) == Experts{4}); });
    f.disk->waitForBegun(3);
    const auto inLayer = [&](std::uint64_t offset, std::size_t layer) {
        return offset + 4096 > f.layers[layer].pieces.front().offset && offset <= f.layers[layer].pieces.back().offset;
    };
    {
        const std::lock_guard lock(f.disk->mutex);
        CHECK(inLayer(f.disk->begun[0], 2));
        CHECK(inLayer(f.disk->begun[1], 3));
        CHECK(inLayer(f.disk->begun[2], 3));
    }
    // What was expected in vain, and not begun, is not read; what is wanted after all is hurried.
    std::thread another([&] { CHECK(sorted(f.fetch(2, {1})) == Experts{1}); });
    while (f.store->statistics().underWay < 1) std::this_thread::yield();
    f.disk->hold(false);
    waiting.join();
    another.join();
    s = f.store->statistics();
    CHECK(s.readAhead == 4);  // 5, 6, 0 (begun) and 1
    CHECK(s.aheadUsed == 2);
}

TEST_CASE("what is expected, or pinned, leaves the places that one token needs") {
    FakeStore f = storeOf(2, 8, 6);
    f.store->pin(std::vector<std::pair<std::size_t, std::int32_t>>{{0, 0}, {0, 1}, {0, 2}});
    f.store->expect(1, Experts{0, 1, 2, 3, 4, 5, 6, 7});
    while (f.store->statistics().read < 4) std::this_thread::yield();
    CHECK(sorted(f.fetch(0, {6, 7})) == Experts{6, 7});
    CHECK(sorted(f.fetch(0, {4, 5})) == Experts{4, 5});
    CHECK(f.store->statistics().readAhead == 1);
    CHECK(f.fetch(1, {0}) == Experts{0});
    CHECK(sorted(f.fetch(0, {0, 1, 2})) == Experts{0, 1, 2});
    CHECK(f.store->statistics().resident == 4);  // what was expected, and all that is pinned
}

TEST_CASE("an expert that cannot be read is an error of who wants it, and is tried again") {
    FakeStore f = storeOf(2, 8, 6);
    f.fetch(0, {1});
    const std::uint64_t bad = f.layers[0].pieces[2 * 3 + 1].offset / 4096 * 4096;
    f.disk->failWhere([&](std::uint64_t offset) { return offset == bad; });
    std::size_t used = 0;
    const auto count = [&](std::span<const ExpertStore::Given> given) { used += given.size(); };
    for (int i = 0; i < 3; ++i) {
        const Experts wanted{1, 2, 5};
        CHECK_THROWS_AS(f.store->forEach(0, wanted, count), FileError);
    }
    CHECK(used >= 3);  // expert 1 each time
    CHECK(f.fetch(0, {5}) == Experts{5});
    // Nobody waits: no error.
    f.store->expect(0, Experts{2});
    CHECK_THROWS_AS(f.store->pin(std::vector<std::pair<std::size_t, std::int32_t>>{{0, 2}}), FileError);
    f.disk->failWhere([](std::uint64_t) { return false; });
    CHECK(f.fetch(0, {2}) == Experts{2});
    // Every place is still there: six others fit at once.
    CHECK(f.fetch(0, {0, 3, 4, 5, 6, 7}).size() == 6);
    CHECK(f.fetch(1, {0, 1, 2, 3, 4, 5}).size() == 6);
    const std::uint64_t before = f.store->statistics().resident;
    CHECK(f.fetch(1, {0, 1, 2, 3, 4, 5}).size() == 6);
    CHECK(f.store->statistics().resident == before + 6);
}

TEST_CASE("what use() throws is passed on, and the store is as good as before") {
    FakeStore f = storeOf(1, 8, 4);
    struct Stop {};
    for (int i = 0; i < 10; ++i) {
        const Experts wanted{i % 8, (i + 3) % 8};
        CHECK_THROWS_AS(f.store->forEach(0, wanted, [](std::span<const ExpertStore::Given>) { throw Stop(); }), Stop);
    }
    CHECK(f.fetch(0, {0, 1, 2, 3, 4, 5, 6, 7}).size() == 8);
    CHECK_THROWS_AS(
        f.store->pin(std::vector<std::pair<std::size_t, std::int32_t>>{{0, 0}, {0, 1}}, [](double) { throw Stop(); }),
        Stop);
    CHECK(f.fetch(0, {0, 1, 2, 3, 4, 5, 6, 7}).size() == 8);
}

TEST_CASE("a store ends while reads are under way") {
    for (int i = 0; i < 20; ++i) {
        FakeStore f = storeOf(4, 8, 16);
        f.disk->takes = std::chrono::microseconds(200);
        for (std::size_t layer = 0; layer < 4; ++layer) f.store->expect(layer, Experts{0, 1, 2});
        if (i % 2) f.fetch(2, {1});
    }
}

TEST_CASE("many threads, few places, a bad disk: the right bytes or an error, and nobody hangs") {
    FakeStore f = storeOf(3, 8, 5);
    f.disk->failWhere([](std::uint64_t offset) { return (offset * 0x9E3779B97F4A7C15u >> 40) % 16 == 0; });
    std::atomic<std::size_t> good{0}, bad{0}, wrong{0};
    std::vector<std::thread> threads;
    for (unsigned seed = 0; seed < 4; ++seed)
        threads.emplace_back([&, seed] {
            std::mt19937 random(seed);
            for (int i = 0; i < 150; ++i) {
                const std::size_t layer = random() % 3;
                Experts wanted;
                for (std::int32_t e = 0; e < 8; ++e)
                    if (random() % 3 == 0) wanted.push_back(e);
                try {
                    if (i % 5 == 0)
                        f.store->expect(layer, wanted);
                    else if (f.fetch(layer, wanted).size() == wanted.size())
                        ++good;
                    else
                        ++wrong;
                } catch (const FileError&) {
                    ++bad;
                }
            }
        });
    for (std::thread& thread : threads) thread.join();
    CHECK(good > 0);
    CHECK(bad > 0);
    CHECK(wrong == 0);
    f.disk->failWhere([](std::uint64_t) { return false; });
    for (std::size_t layer = 0; layer < 3; ++layer) {
        const Experts all{0, 1, 2, 3, 4, 5, 6, 7};
        std::size_t tries = 0;  // reads that had failed before may be over only now
        for (bool done = false; !done && tries < 9; ++tries) try {
                CHECK(f.fetch(layer, all).size() == 8);
                done = true;
            } catch (const FileError&) {
            }
        CHECK(tries < 9);
    }
}
