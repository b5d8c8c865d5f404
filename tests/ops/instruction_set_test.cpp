#include "axial/ops/instruction_set.h"

#include <doctest/doctest.h>

#include <set>
#include <string>

#include "axial/tensor/error.h"
#include "ops/each_target.h"

using namespace axial;

namespace {
// On 64-bit ARM the kernels are compiled for NEON alone.
constexpr bool severalCompiled = (HWY_TARGETS & (HWY_TARGETS - 1)) != 0;
}  // namespace

TEST_CASE("forEachTarget: each instruction set is really the one that runs") {
    std::set<std::string> seen;
    forEachTarget([&](const char* target) {
        CHECK(instructionSet().starts_with(target));
        CHECK(seen.insert(target).second);
    });
    CHECK(seen.size() > (severalCompiled ? 1 : 0));
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
    REQUIRE(all.size() > (severalCompiled ? 1 : 0));
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
        std::string names;
        for (const std::string& name : all) names += (names.empty() ? "" : ", ") + name;
        CHECK(error.what() == "useInstructionSet: \"AVX4\" is not among those of this machine: " + names);
    }
    CHECK(instructionSet() == all.back());
    useInstructionSet(usual);
}
