// Runs a piece of a test once for every instruction set that the kernels are built for and this machine has.
#pragma once
#include "axial/ops/targets.h"

#include <doctest/doctest.h>
#include <hwy/highway.h>

#include <string>

namespace axial {

// Calls f(const char* name) with every op that is called inside running on that instruction set; a failing check says
// which it was. Not for concurrent use.
template <class F>
void forEachTarget(F&& f) {
    struct Restore {
        ~Restore() {
            hwy::SetSupportedTargetsForTest(0);
            hwy::GetChosenTarget().DeInit();
        }
    } restore;
    hwy::SetSupportedTargetsForTest(0);
    const std::int64_t available = (hwy::SupportedTargets() | HWY_STATIC_TARGET) & HWY_TARGETS;
    for (std::int64_t rest = available; rest != 0; rest &= rest - 1) {
        const std::int64_t target = rest & -rest;
        hwy::SetSupportedTargetsForTest(target);
        hwy::GetChosenTarget().Update(target);
        INFO("instruction set: ", std::string(hwy::TargetName(target)));
        f(hwy::TargetName(target));
    }
}

}  // namespace axial
