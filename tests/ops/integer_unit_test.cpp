// The instructions beyond Highway's that integer products are computed with: found where the processor has them.
#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "axial/ops/instruction_set.h"

using namespace axial;

namespace {

// The flags that the system says its first processor has; empty where it says nothing.
std::vector<std::string> processorFlags() {
    std::ifstream info("/proc/cpuinfo");
    for (std::string line; std::getline(info, line);) {
        if (!line.starts_with("flags")) continue;
        std::istringstream words(line.substr(line.find(':') + 1));
        return {std::istream_iterator<std::string>(words), {}};
    }
    return {};
}

}  // namespace

TEST_CASE("integer units: an instruction set is offered with its unit exactly where the processor has both") {
    const auto flags = processorFlags();
    if (flags.empty()) {
        MESSAGE("the system does not say what its processor has: nothing of this is tested");
        return;
    }
    const auto has = [&](const char* flag) { return std::find(flags.begin(), flags.end(), flag) != flags.end(); };
    const auto sets = instructionSets();
    const auto offered = [&](const char* set) { return std::find(sets.begin(), sets.end(), set) != sets.end(); };
    CHECK(offered("AVX2+VNNI") == (offered("AVX2") && has("avx_vnni")));
    CHECK(offered("AVX3+VNNI") == (offered("AVX3") && has("avx512_vnni")));
    CHECK(offered("AVX3+AMX") == (offered("AVX3+VNNI") && has("amx_tile") && has("amx_int8")));
    CHECK(!offered("SSE4+VNNI"));
}
