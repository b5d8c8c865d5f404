// What a row of a table can say of a tensor's numbers.
#pragma once
#include <cstddef>
#include <vector>

#include "axial/tensor/ref.h"

namespace axial::llm {

struct ValueStatistics {
    std::size_t count = 0, nans = 0, infinite = 0;
    // Of the finite values alone, which count - nans - infinite are; 0 if there are none. Sums are of float64.
    double minimum = 0, maximum = 0, mean = 0, rms = 0;
};

// Of a tensor of any format and layout: what is not float32 is decoded. It does not depend on the number of threads.
// Throws ShapeError if the rows of a block format are not whole blocks, std::bad_alloc.
ValueStatistics statisticsOf(const TensorRef&);
// Of `count` values that lie one after the other as in a file (tensor/decode.h).
ValueStatistics statisticsOf(Format, const std::byte* data, std::size_t count);

// The first values in the axes' order, at most `most` of them.
std::vector<float> firstValues(const TensorRef&, std::size_t most);

}  // namespace axial::llm
