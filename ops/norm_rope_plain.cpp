#include "axial/ops/norm_rope_plain.h"

#include <cmath>

namespace axial::plain {

void rmsNormMul(float* out, const float* x, const float* weight, std::size_t n, float eps) {
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i) sum += static_cast<double>(x[i]) * x[i];
    const double factor = 1 / std::sqrt(sum / static_cast<double>(n) + eps);
    for (std::size_t i = 0; i < n; ++i) out[i] = static_cast<float>(x[i] * factor * weight[i]);
}

namespace {
void turn(float* out, const float* x, std::size_t first, std::size_t second, double angle) {
    const double a = x[first], b = x[second];
    out[first] = static_cast<float>(a * std::cos(angle) - b * std::sin(angle));
    out[second] = static_cast<float>(b * std::cos(angle) + a * std::sin(angle));
}
}  // namespace

void ropeHalf(float* out, const float* x, const double* angle, std::size_t pairs, std::size_t n) {
    for (std::size_t i = 0; i < pairs; ++i) turn(out, x, i, i + pairs, angle[i]);
    for (std::size_t i = 2 * pairs; i < n; ++i) out[i] = x[i];
}
void ropeInterleaved(float* out, const float* x, const double* angle, std::size_t pairs, std::size_t n) {
    for (std::size_t i = 0; i < pairs; ++i) turn(out, x, 2 * i, 2 * i + 1, angle[i]);
    for (std::size_t i = 2 * pairs; i < n; ++i) out[i] = x[i];
}

}  // namespace axial::plain
