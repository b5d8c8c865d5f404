// How many multiply-adds each op does, which observers and benchmarks are told. A multiplication or an addition by
// itself counts as one, a comparison, a root or an exponential as none.
#pragma once
#include "axial/tensor/observe.h"

namespace axial::work {

using Count = std::uint64_t;

// So many sums of `length` products each, of integer codes or of floats.
constexpr Work dot(Count sums, Count length, bool ofCodes) { return {sums * length, ofCodes ? sums * length : 0}; }

// Of both, for an op that stands for two.
constexpr Work both(Work one, const Work& other) {
    one.multiplyAdds += other.multiplyAdds;
    one.ofCodes += other.ofCodes;
    return one;
}

// Pointwise ops and those along rows, by the number of their values.
constexpr Work add(Count values) { return {values}; }
constexpr Work multiply(Count values) { return {values}; }
constexpr Work swiglu(Count values) { return {2 * values}; }
constexpr Work rmsNormMul(Count values) { return {3 * values}; }  // square and sum, times the factor, times the weight
constexpr Work rope(Count values) { return {2 * values}; }
constexpr Work rmsNormMulRope(Count values) { return {5 * values}; }
constexpr Work softmax(Count values) { return {3 * values}; }  // minus the largest, the sum, times its inverse
constexpr Work sum(Count values) { return {values}; }

// Pairs of a query and a key that it sees: without a mask all; else the last query sits on the last key and sees those
// up to itself, the last `window` of them if that is not 0.
constexpr Count seenKeys(Count queries, Count keys, bool causal, Count window = 0) {
    if (!causal) return queries * keys;
    const Count first = keys - queries + 1;                                  // that the first query sees
    if (window == 0 || window >= keys) return queries * (first + keys) / 2;  // the numbers from first to keys
    if (first >= window) return queries * window;
    return (window - first) * (first + window - 1) / 2 + (keys - window + 1) * window;
}
// A product with the key and one with the value for each channel of each pair and head.
constexpr Work attention(Count pairs, Count heads, Count channels) { return {2 * pairs * heads * channels}; }

}  // namespace axial::work
