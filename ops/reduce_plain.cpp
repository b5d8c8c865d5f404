#include "axial/ops/reduce_plain.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

namespace axial::plain {

double sum(const float* x, std::size_t n) { return std::accumulate(x, x + n, 0.0); }

float max(const float* x, std::size_t n) {
    float largest = x[0];
    for (std::size_t i = 0; i < n; ++i) {
        if (std::isnan(x[i])) return x[i];
        largest = std::max(largest, x[i]);
    }
    return largest;
}

std::size_t argmax(const float* x, std::size_t n) {
    std::size_t best = 0;
    for (std::size_t i = 1; i < n; ++i)
        if (x[i] > x[best]) best = i;
    return best;
}

void topK(std::int32_t* index, const float* x, std::size_t n, std::size_t k) {
    std::vector<std::int32_t> order(n);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [x](std::int32_t a, std::int32_t b) { return x[a] > x[b]; });
    std::copy_n(order.begin(), k, index);
}

namespace {
std::vector<double> distribution(const float* x, std::size_t n) {
    std::vector<double> weight(n, 0.0);
    const float largest = n ? max(x, n) : 0;
    if (largest == -std::numeric_limits<float>::infinity()) return weight;
    double total = 0;
    for (std::size_t i = 0; i < n; ++i) total += weight[i] = std::exp(static_cast<double>(x[i]) - largest);
    for (double& w : weight) w /= total;
    return weight;
}
}  // namespace

void softmax(float* out, const float* x, std::size_t n) {
    const std::vector<double> weight = distribution(x, n);
    for (std::size_t i = 0; i < n; ++i) out[i] = static_cast<float>(weight[i]);
}

void routerTopK(std::int32_t* expert, float* weight, const float* logits, std::size_t n, std::size_t k, bool normalise,
                double topP) {
    const std::vector<double> all = distribution(logits, n);
    topK(expert, logits, n, k);
    const auto probability = [&](std::size_t i) { return all[static_cast<std::size_t>(expert[i])]; };
    double chosen = 0, kept = 0;
    for (std::size_t i = 0; i < k; ++i) chosen += probability(i);
    std::size_t count = 0;
    while (count < k && (topP == 1 || kept < topP * chosen)) kept += probability(count++);
    for (std::size_t i = 0; i < k; ++i) {
        weight[i] = i < count ? static_cast<float>(probability(i) / (normalise ? kept : 1)) : 0;
        if (i >= count) expert[i] = -1;
    }
}

}  // namespace axial::plain
