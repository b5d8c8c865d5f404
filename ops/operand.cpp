#include "axial/ops/operand.h"

#include "axial/ops/structure.h"
#include "axial/tensor/error.h"

namespace axial::erased {

AsFloat::AsFloat(Loan operand, bool dense) : loan_(operand) {
    if (operand.ref->format == Format::f32 && (!dense || operand.ref->isDense())) return;
    copy_ = copyAsFloat(*operand.ref);
    loan_ = {&copy_.ref, &copy_.buffer};
}

void requireSame(std::string_view operation, std::string_view axis, std::size_t left, std::size_t right) {
    if (left != right) failExtent(operation, axis, left, right);
}

Loan unlessShared(Loan x, std::initializer_list<const TensorRef*> others) {
    for (const TensorRef* other : others)
        if (other->owner && other->owner == x.ref->owner) return {x.ref, nullptr};
    return x;
}

}  // namespace axial::erased
