// What dot means, written out.
#pragma once
#include "axial/tensor/ref.h"

namespace axial {

// How many axes each group of a contraction has; see plain::dot.
struct DotShape {
    std::uint8_t batch, m, n, k;
};

namespace plain {

// out[b.., i.., j..] = sum over k.. of a[b.., i.., k..] * b[b.., j.., k..], added up in float64 and rounded once.
// The operands are float and carry their axes in these orders, with any strides.
void dot(const DotShape&, const TensorRef& out, const TensorRef& a, const TensorRef& b);

}  // namespace plain
}  // namespace axial
