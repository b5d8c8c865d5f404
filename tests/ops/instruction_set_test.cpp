#include "axial/ops/instruction_set.h"

#include <doctest/doctest.h>

#include <set>
#include <string>

#include "axial/tensor/error.h"
#include "ops/each_target.h"

using namespace axial;

TEST_CASE("forEachTarget: each instruction set is really the one that runs") {
    std::set<std::string> seen;
    forEachTarget([&](const char* target) {
        CHECK(instructionSet().starts_with(target));
        CHECK(seen.insert(target).second);
    });
    CHECK(seen.size() > 1);
    // afterwards the best one is back
    CHECK(seen.count(instructionSet().substr(0, instructionSet().find('+'))) == 1);
    MESSAGE("instruction sets tested: " << [&] {
        std::string all;
        for (const auto& s : seen) all += s + " ";
        return all;
    }() << "; in use: " << instructionSet());
}

TEST_CASE("useInstructionSet: each of the list is used, the first is the default, and others are refused") {
    const std::string usual = instructionSet();
    const auto all = instructionSets();
    REQUIRE(all.size() > 1);
    CHECK(instructionSet() == usual);
    CHECK(all.front() == usual);
    for (const std::string& name : all) {
        useInstructionSet(name);
        CHECK(instructionSet() == name);
        CHECK(instructionSets() == all);
        CHECK(instructionSet() == name);
    }
    try {
        useInstructionSet("AVX4");
        FAIL("AVX4 was accepted");
    } catch (const ValueError& error) {
        CHECK(std::string_view(error.what())
                  .starts_with("useInstructionSet: \"AVX4\" is not among those of this machine: " + usual + ", "));
    }
    CHECK(instructionSet() == all.back());
    useInstructionSet(usual);
}
