// How far a computed value is from a saved one, wherever that came from: other number formats, a batch axis in front,
// axes merged or in another order.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "axial/llm/stored_tensor.h"
#include "axial/tensor/ref.h"

namespace axial::llm {

enum class Verdict {
    within,        // as near as is allowed
    departs,       // farther away
    otherExtents,  // the extents are of another shape in any order of the axes
};

struct ValueDifference {
    Verdict verdict = Verdict::within;
    double largest = 0;              // max |got - wanted|; infinity where one is no number and the other is
    double magnitude = 0;            // max |wanted|, of what is finite
    double allowed = 0;              // what `largest` may be
    std::vector<std::size_t> at;     // where the largest difference is: a position on each axis of `got`
    double got = 0, wanted = 0;      // there
    std::size_t departing = 0;       // how many numbers are farther away than is allowed
    std::vector<std::size_t> first;  // where the first of them is
    // How the saved numbers were read, where their extents leave no other way or a head's channels agree only so:
    // "transposed: head and seq". Empty: as they stand.
    std::string order;
    // Such an order in which the value would agree; their extents do not ask for it, so it departs.
    std::string wouldAgree;
};

// got: dense floats or integers. Numbers agree if they are no farther apart than `tolerance` of the largest wanted one,
// and what rounding to the saved format costs (2^-11 of it for F16, 2^-8 for BF16); integers have to be the same. NaN
// agrees with NaN, an infinity with the same one. Extents of 1 do not count, and neither does whether neighbouring axes
// are merged: [seq=7, head=4, channel=64] meets [1, 7, 256].
ValueDifference compareValue(const TensorRef& got, const StoredTensor& wanted, double tolerance);

// "[1, 7, 256]"; with the names of the axes, "[seq=7, head=4]", where there are as many of them as axes.
std::string describeExtents(const StoredTensor& wanted, const TensorRef& got);

}  // namespace axial::llm
