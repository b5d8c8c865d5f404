#include "axial/ops/mixture_plain.h"

#include <cmath>
#include <vector>

namespace axial::plain {
namespace {

double product(const float* row, const float* x, std::size_t n) {
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i) sum += static_cast<double>(row[i]) * static_cast<double>(x[i]);
    return sum;
}

}  // namespace

void mixture(float* out, const float* x, const std::int32_t* expert, const float* weight, std::size_t slots,
             const ExpertValues* experts, std::size_t outer, std::size_t inner) {
    std::vector<double> total(outer, 0.0), between(inner);
    for (std::size_t s = 0; s < slots; ++s) {
        if (expert[s] < 0) continue;
        const ExpertValues& e = experts[expert[s]];
        for (std::size_t j = 0; j < inner; ++j) {
            const double gate = product(e.gate + j * outer, x, outer);
            between[j] = gate / (1 + std::exp(-gate)) * product(e.up + j * outer, x, outer);
        }
        for (std::size_t i = 0; i < outer; ++i) {
            double down = 0;
            for (std::size_t j = 0; j < inner; ++j) down += static_cast<double>(e.down[i * inner + j]) * between[j];
            total[i] += static_cast<double>(weight[s]) * down;
        }
    }
    for (std::size_t i = 0; i < outer; ++i) out[i] = static_cast<float>(total[i]);
}

}  // namespace axial::plain
