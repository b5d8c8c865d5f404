// Matrix products of rows of activations with rows of stored weights: the work below dot and its fused forms.
#pragma once
#include <cstddef>
#include <cstdint>

#include "axial/tensor/format.h"

namespace axial {
class FormSlot;
}
namespace axial::erased {

// Rows of activations: row t holds k floats from data + t * stride on. With an index, from data + index[t] * stride on,
// and -1 is no row, which no product asks for.
struct ActivationRows {
    const float* data;
    std::ptrdiff_t stride;
    std::size_t rows, k;
    const std::int32_t* index = nullptr;

    const float* row(std::size_t t) const {
        const auto at = index ? static_cast<std::ptrdiff_t>(index[t]) : static_cast<std::ptrdiff_t>(t);
        return at < 0 ? nullptr : data + at * stride;
    }
};

// A product of more rows of activations than these is fastest if its first row is a multiple of 16.
inline constexpr std::size_t fewActivations = 4;

// Rows of weights: row j holds k values of a format from data + j * rowBytes on.
struct WeightRows {
    Format format;
    const std::byte* data;
    std::ptrdiff_t rowBytes;
    FormSlot* slot = nullptr;                // of the weight that they are, or are a part of
    const std::byte* interleaved = nullptr;  // set by multiply
};

// out[t * outStride + j] = sum over k of x[firstRow + t] * w[j], for t < m and j < n.
struct RowsProduct {
    WeightRows w;
    std::size_t n;
    std::size_t firstRow, m;
    float* out;
    std::ptrdiff_t outStride;
    const float* add = nullptr;  // if there: add[t * addStride + j] is added; it may be out itself
    std::ptrdiff_t addStride = 0;
    const WeightRows* up = nullptr;  // if there: out = swiglu(product with w, product with up), and nothing is added
};

// Whether weights of a format meet integer codes in the arithmetic that this thread is in.
bool meetsCodes(Format format);

// Computes all the products in one go: each row of activations is quantised once, if any of the weights wants that,
// and then the work on all weights is handed to the current team in strips of weight rows. In which arithmetic is said
// by ops/activations.h. No bit of an output depends on which other rows and products are computed with it, nor on the
// number of threads.
void multiply(const ActivationRows&, const RowsProduct*, std::size_t count);

}  // namespace axial::erased
