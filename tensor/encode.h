// Floats to stored blocks: the plain definition that faster encoders are tested against.
#pragma once
#include <cstddef>

namespace axial {

// out: the n values of x as Q8_0 blocks of 32. Per block d = max|x| / 127, stored as binary16, and
// code = x * (1 / d) rounded to the nearest integer, halves away from zero, where d is the float before its rounding
// (ggml's quantize_row_q8_0_ref). A block too small for 1/d to be finite has codes 0; below 2^-25 d is stored as 0.
// `out` holds bytesOf(Format::q8_0, n) bytes.
// ShapeError if n is not a multiple of 32; ValueError for a NaN, an infinity, or a d too large for binary16.
void quantizeQ8_0(const float* x, std::size_t n, std::byte* out);

}  // namespace axial
