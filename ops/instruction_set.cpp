#include "axial/ops/instruction_set.h"

#include "axial/ops/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "axial/ops/instruction_set.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

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
std::string_view instructionSet() {
    using namespace kernels;
    return HWY_DYNAMIC_DISPATCH(targetName)();
}
}  // namespace axial
#endif
