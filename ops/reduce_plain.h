// The plain definitions of what makes a number, a position or a distribution out of a row: what the kernels are tested
// against.
#pragma once
#include <cstddef>
#include <cstdint>

namespace axial::plain {

double sum(const float* x, std::size_t n);
// Of n > 0 values; NaN if one of them is.
float max(const float* x, std::size_t n);
// The position of the largest of n > 0 values, none of them NaN; of equals the lowest.
std::size_t argmax(const float* x, std::size_t n);
// The positions of the k largest of n values, largest first; of equals the lowest position first.
void topK(std::int32_t* index, const float* x, std::size_t n, std::size_t k);
// out[i] = e^(x[i] - max(x)) / (the sum of those); zeros if every x[i] is minus infinity.
void softmax(float* out, const float* x, std::size_t n);

// softmax over all n experts, of which the k largest are chosen (topK); of those as many as it takes for topP of their
// sum, the others -1 and 0; their weights, divided by their sum if asked.
void routerTopK(std::int32_t* expert, float* weight, const float* logits, std::size_t n, std::size_t k, bool normalise,
                double topP = 1);

}  // namespace axial::plain
