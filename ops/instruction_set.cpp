#include "axial/ops/instruction_set.h"

#include "axial/ops/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "axial/ops/instruction_set.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

#include <algorithm>
#include <utility>

#include "axial/ops/linear_kernels.h"
#include "axial/tensor/error.h"

HWY_BEFORE_NAMESPACE();
namespace axial::kernels::HWY_NAMESPACE {
const char* targetName() { return hwy::TargetName(HWY_TARGET); }
}  // namespace axial::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace axial {
namespace kernels {
HWY_EXPORT(targetName);
}
using kernels::IntegerUnit;
namespace {

constexpr std::pair<IntegerUnit, std::string_view> units[] = {
    {IntegerUnit::amx, "+AMX"},   {IntegerUnit::vnni, "+VNNI"},   {IntegerUnit::avxVnni, "+VNNI"},
    {IntegerUnit::i8mm, "+I8MM"}, {IntegerUnit::dotprod, "+DOT"}, {IntegerUnit::portable, ""}};

void use(std::int64_t target, IntegerUnit most) {
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    kernels::limitIntegerUnit(most);
}

// f(target, unit) for each that this machine can run, the best first, until it returns true. Afterwards nothing is
// limited, unless f has returned true.
template <class F>
bool anyOf(F&& f) {
    use(0, IntegerUnit::amx);
    const std::int64_t available = (hwy::SupportedTargets() | HWY_STATIC_TARGET) & HWY_TARGETS;
    for (std::int64_t rest = available; rest != 0; rest &= rest - 1)  // Highway gives better targets lower bits
        for (const auto& [unit, suffix] : units) {
            use(rest & -rest, unit);
            if (kernels::integerUnit() == unit && f()) return true;
        }
    use(0, IntegerUnit::amx);
    return false;
}

}  // namespace

std::string instructionSet() {
    using namespace kernels;
    const auto* unit = std::find_if(std::begin(units), std::end(units),
                                    [](const auto& u) { return u.first == kernels::integerUnit(); });
    return HWY_DYNAMIC_DISPATCH(targetName)() + std::string(unit->second);
}

std::vector<std::string> instructionSets() {
    const std::string now = instructionSet();
    std::vector<std::string> names;
    anyOf([&] {
        names.push_back(instructionSet());
        return false;
    });
    useInstructionSet(now);
    return names;
}

void useInstructionSet(std::string_view name) {
    const std::string now = instructionSet();
    std::string names;
    if (anyOf([&] {
            names += (names.empty() ? "" : ", ") + instructionSet();
            return instructionSet() == name;
        }))
        return;
    useInstructionSet(now);
    throw ValueError("useInstructionSet: \"" + std::string(name) + "\" is not among those of this machine: " + names);
}

}  // namespace axial
#endif
