#include "axial/ops/instruction_set.h"

#include <doctest/doctest.h>

#include <set>
#include <string>

#include "ops/each_target.h"

using namespace axial;

TEST_CASE("forEachTarget: each instruction set is really the one that runs") {
    std::set<std::string> seen;
    forEachTarget([&](const char* target) {
        CHECK(instructionSet() == target);
        CHECK(seen.insert(target).second);
    });
    CHECK(seen.size() > 1);
    // afterwards the best one is back
    CHECK(seen.count(std::string(instructionSet())) == 1);
    MESSAGE("instruction sets tested: " << [&] {
        std::string all;
        for (const auto& s : seen) all += s + " ";
        return all;
    }() << "; in use: " << instructionSet());
}
