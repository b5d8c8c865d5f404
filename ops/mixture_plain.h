// What mixture means, written out.
#pragma once
#include <cstddef>
#include <cstdint>

namespace axial::plain {

// The matrices of one expert, row-major: gate and up [inner, outer], down [outer, inner].
struct ExpertValues {
    const float *gate, *up, *down;
};

// out[i] = sum over slots s of weight[s] * (sum over j of down[i, j] * silu(sum over o of gate[j, o] * x[o]) *
// (sum over o of up[j, o] * x[o])) with the matrices of expert[s]; -1 is none. silu(v) = v / (1 + e^-v). In float64.
void mixture(float* out, const float* x, const std::int32_t* expert, const float* weight, std::size_t slots,
             const ExpertValues* experts, std::size_t outer, std::size_t inner);

}  // namespace axial::plain
