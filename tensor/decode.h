// Stored values to float: the plain definition that every faster decoder is tested against.
#pragma once
#include <cstddef>

#include "axial/tensor/format.h"
#include "axial/tensor/half.h"

namespace axial {

// out[0..elements): the values of `elements` consecutive stored values, each as ggml's ggml-quants.c defines it, bit
// for bit. F64 and the integers are rounded to the nearest float. `blocks` is little-endian, as in a file, with no
// alignment; it holds bytesOf(format, elements) bytes.
// ShapeError if `elements` is not a whole number of the format's blocks.
void decode(Format format, const std::byte* blocks, std::size_t elements, float* out);

}  // namespace axial
