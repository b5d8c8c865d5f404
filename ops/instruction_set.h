// Which of the instruction sets that the kernels are compiled for they run on here.
#pragma once
#include <string_view>

namespace axial {

// The instruction set that the kernels use on this machine, by Highway's name for it: "AVX2", "SSE4", "SCALAR".
std::string_view instructionSet();

}  // namespace axial
