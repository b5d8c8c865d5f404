// Runs something on every instruction set, and on the units beyond it.
#pragma once
#include <string>

#include "axial/ops/instruction_set.h"
#include "axial/ops/linear_kernels.h"
#include "ops/each_target.h"

namespace axial {

// The units beyond an instruction set, each of which belongs to one.
constexpr kernels::IntegerUnit unitsBeyond[] = {kernels::IntegerUnit::dotprod, kernels::IntegerUnit::i8mm,
                                                kernels::IntegerUnit::avxVnni, kernels::IntegerUnit::vnni,
                                                kernels::IntegerUnit::amx};

// Every instruction set, and where there are some, the units beyond it.
template <class F>
void forEachUnit(F f) {
    forEachTarget([&](const char* target) {
        kernels::limitIntegerUnit(kernels::IntegerUnit::portable);
        f(std::string(target));
        for (const auto unit : unitsBeyond) {
            kernels::limitIntegerUnit(unit);
            if (kernels::integerUnit() == unit) f(instructionSet());
        }
    });
}

}  // namespace axial
