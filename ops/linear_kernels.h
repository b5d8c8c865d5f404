// The boundary to the SIMD code of linear layers on integer codes.
#pragma once
#include "axial/ops/linear_codes.h"
#include "axial/ops/quantise_kernels.h"

namespace axial::kernels {

// Up to 16 rows of codes against m quantised rows of activations:
//   out[t * outStride + j] = sum over groups g, in order, of float(isum) * scale[j, g] * scale of x[t] in g,
//                            and after each, if there are minimums, of minimum[j, g] * sum of x[t] in g,
// where isum is the exact integer product of the group's codes. The rule for the float part, the same in every kernel:
//   c = fma(float(isum) * scale[j, g], scale of x, c); c = fma(minimum[j, g], sum of x, c)
// starting at 0 (without the fused rounding on instruction sets that have none). If `add` is there, the result is
// add[t * addStride + j] + c.
struct CodeProduct {
    CodeRows w;
    std::size_t rows;
    CodeForm form;
    const QuantisedRow* layout;
    const std::byte* x;
    std::size_t m;
    float* out;
    std::ptrdiff_t outStride;
    const float* add;
    std::ptrdiff_t addStride;
};
void dotCodes(const CodeProduct&) noexcept;

}  // namespace axial::kernels
