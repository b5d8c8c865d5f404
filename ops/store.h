// Writing floats into a stored format: how new keys and values enter a cache.
#pragma once
#include "axial/tensor/ref.h"

namespace axial::erased {

// into = from, encoded in into's format: F32, F16 (to nearest, ties to even) or Q8_0 (tensor/encode.h). Both carry the
// same axes in the same order; the last one lies without gaps. Throws ShapeError if extents differ, if the last axis
// is not whole blocks, or for another format; ValueError for a number that Q8_0 cannot hold. `into` may then hold some
// of the rows already.
void store(const TensorRef& from, const TensorRef& into);

}  // namespace axial::erased
