#include "axial/ops/attention_plain.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace axial::plain {

void groupedAttention(const Attention& a, float* out, const float* q, const float* k, const float* v,
                      const float* bias) {
    const std::size_t group = a.heads / a.kvHeads;
    for (std::size_t i = 0; i < a.queries; ++i)
        for (std::size_t h = 0; h < a.heads; ++h) {
            const std::size_t position = a.keys - a.queries + i;
            const std::size_t end = a.causal ? position + 1 : a.keys;
            const std::size_t begin = a.window != 0 && end > a.window ? end - a.window : 0;
            const float* query = q + (i * a.heads + h) * a.channels;
            const auto row = [&](const float* x, std::size_t j) {
                return x + (j * a.kvHeads + h / group) * a.channels;
            };

            std::vector<double> score;
            double largest = -std::numeric_limits<double>::infinity();
            for (std::size_t j = begin; j < end; ++j) {
                double product = 0;
                for (std::size_t c = 0; c < a.channels; ++c) product += static_cast<double>(query[c]) * row(k, j)[c];
                score.push_back(product * a.scale + (bias ? bias[(h * a.queries + i) * a.keys + j] : 0.0f));
                largest = std::max(largest, score.back());
            }

            double sum = 0;
            std::vector<double> mixed(a.channels, 0.0);
            for (std::size_t j = begin; j < end; ++j) {
                if (std::isinf(score[j - begin])) continue;  // hidden
                const double weight = std::exp(score[j - begin] - largest);
                sum += weight;
                for (std::size_t c = 0; c < a.channels; ++c) mixed[c] += weight * row(v, j)[c];
            }
            for (std::size_t c = 0; c < a.channels; ++c)
                out[(i * a.heads + h) * a.channels + c] = static_cast<float>(sum == 0 ? 0 : mixed[c] / sum);
        }
}

}  // namespace axial::plain
