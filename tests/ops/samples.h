// Random tensors, and how far two rows of numbers are apart.
#pragma once
#include <cmath>
#include <cstring>
#include <random>
#include <span>
#include <vector>

#include "axial/tensor/tensor.h"

namespace axial {

inline std::vector<float> randomValues(std::size_t n, unsigned seed, float size = 1) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal(0, size);
    std::vector<float> values(n);
    for (float& v : values) v = normal(random);
    return values;
}

// A tensor of normally distributed values.
template <class... X>
Tensor<float, X{}...> randomTensor(unsigned seed, At<X>... extent) {
    auto t = uninitialized<float>(extent...);
    const std::vector<float> values = randomValues(t.size(), seed);
    std::copy(values.begin(), values.end(), t.values().begin());
    return t;
}

// The numbers of a tensor, which may be a temporary: for use within one expression.
template <auto... A>
std::span<const float> numbers(const Tensor<float, A...>& t) {
    return t.values();
}
inline std::span<const float> numbers(std::span<const float> values) { return values; }

template <class A, class B>
double largestDifference(const A& got, const B& want) {
    if (std::size(got) != std::size(want)) return INFINITY;
    double largest = 0;
    for (std::size_t i = 0; i < std::size(want); ++i) {
        const double difference = std::abs(static_cast<double>(got[i]) - static_cast<double>(want[i]));
        largest = std::isnan(difference) ? INFINITY : std::max(largest, difference);
    }
    return largest;
}
template <auto... A, class B>
double largestDifference(const Tensor<float, A...>& got, const B& want) {
    return largestDifference(got.values(), want);
}
template <class A>
double largestMagnitude(const A& values) {
    double largest = 0;
    for (const auto v : values) largest = std::max(largest, std::abs(static_cast<double>(v)));
    return largest;
}

template <class A, class B>
bool sameBits(const A& left, const B& right) {
    const std::span<const float> a = numbers(left), b = numbers(right);
    return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size_bytes()) == 0);
}

}  // namespace axial
