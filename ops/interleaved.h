// Weights that are read again and again with few rows of activations, in the form of interleaved_kernels.h beside the
// file's: made at the third such reading, with the file's memory given back, so that they are never held twice.
#pragma once
#include <cstddef>

#include "axial/ops/linear.h"

namespace axial::erased {

// Where the n rows of k weights stand interleaved, from the group of their first on, or null. `few`: whether they are
// about to be read for few rows of activations; then they may be interleaved now. Null for weights that are no whole
// weight of a file, for those whose first row begins no group, and where there is no kernel for them or no memory to
// spare.
const std::byte* interleaved(const WeightRows&, std::size_t n, std::size_t k, bool few);

// One row of k weights as it is stored, if it stands interleaved: found in `memory`, which has room for 16 rows. Else
// null.
const std::byte* restoredRow(const WeightRows& row, std::size_t k, std::byte* memory);

// For tests and measurements: the reading at which weights are interleaved; 0: never.
void interleaveAtReading(std::size_t reading) noexcept;

}  // namespace axial::erased
