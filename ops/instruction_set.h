// Which of the instruction sets that the kernels are compiled for they run on here.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace axial {

// The instruction set that the kernels use: Highway's name for it ("AVX2", "SSE4", "SCALAR"), and behind a + the unit
// beyond it that integer products are computed with, if there is one: "NEON+DOT", "NEON+I8MM", "AVX2+VNNI",
// "AVX3+VNNI", "AVX3+AMX".
std::string instructionSet();

// All that this machine can run, the one used by default first.
std::vector<std::string> instructionSets();

// From now on all ops use this one. For measurements and tests: not while any op runs. Throws ValueError for a name
// that instructionSets() does not have.
void useInstructionSet(std::string_view name);

}  // namespace axial
