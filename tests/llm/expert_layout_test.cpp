// How a budget becomes places for experts.
#include <doctest/doctest.h>
#include <rapidcheck.h>

#include "axial/llm/expert_layout.h"
#include "axial/tensor/error.h"
#include "llm/expert_store_files.h"

using namespace axial;
using namespace axial::llm;
using namespace axial::llm::test;

TEST_CASE("places are whole blocks, wherever a piece begins") {
    for (const std::size_t bytes : {1u, 32u, 4095u, 4096u, 4097u, 884736u})
        for (const std::size_t begin : {0u, 1u, 32u, 4064u, 4095u}) {
            const std::size_t last = (begin + bytes - 1) / 4096;
            CHECK(placeBytes(bytes) >= (last + 1) * 4096);
            CHECK(placeBytes(bytes) % 4096 == 0);
            CHECK(placeBytes(bytes) <= bytes + 2 * 4096);
        }
}

TEST_CASE("any budget from the least on is kept, used up, and shared between sizes") {
    CHECK(rc::check("as promised", [] {
        const auto used = *rc::gen::inRange<std::size_t>(1, 5);
        std::vector<ExpertPieces> layers;
        for (const std::size_t size :
             *rc::gen::container<std::vector<std::size_t>>(rc::gen::inRange<std::size_t>(0, 3))) {
            const auto one = madeLayers(1, 8, {3000 + 9000 * size, 5000, 100});
            layers.push_back(one.front());
        }
        RC_PRE(!layers.empty());
        const std::uint64_t least = leastExpertBytes(layers, used), whole = wholeExpertBytes(layers);
        const std::uint64_t budget = least + *rc::gen::inRange<std::uint64_t>(0, whole - least + 10000);
        const ExpertLayout layout = layOutExperts(layers, used, budget);
        RC_ASSERT(layout.bytes() <= budget);
        RC_ASSERT(layout.poolOfLayer.size() == layers.size());
        double lowest = 1, highest = 0;
        std::uint64_t largest = 0;
        for (std::size_t i = 0; i < layers.size(); ++i) {
            const ExpertLayout::Pool& pool = layout.pools[layout.poolOfLayer[i]];
            RC_ASSERT(pool.slotBytes == slotBytes(layers[i]));
            RC_ASSERT(pool.slots >= used);
            RC_ASSERT(pool.slots <= pool.experts);
            largest = std::max<std::uint64_t>(largest, pool.slotBytes);
            const double share = static_cast<double>(pool.slots) / static_cast<double>(pool.experts);
            if (pool.slots > used) highest = std::max(highest, share);
            lowest = std::min(lowest, share + 1 / static_cast<double>(pool.experts));
        }
        RC_ASSERT(highest <= lowest + 1e-9);  // to one place
        if (budget >= whole) RC_ASSERT(layout.bytes() == whole);
        if (budget < whole) RC_ASSERT(budget - layout.bytes() < largest * layout.pools.size());
    }));
}

TEST_CASE("a budget that is too small is refused with the smallest that works") {
    const auto layers = madeLayers(4, 16, {6000, 6000, 6000});
    const std::uint64_t least = leastExpertBytes(layers, 4);
    CHECK(least == 4 * 3 * 12288);
    CHECK_NOTHROW(layOutExperts(layers, 4, least));
    try {
        layOutExperts(layers, 4, least - 1);
        FAIL("not refused");
    } catch (const ValueError& error) {
        CHECK(std::string(error.what()).find(std::to_string(least)) != std::string::npos);
    }
}
