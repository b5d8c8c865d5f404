#include "axial/llm/value_statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "axial/ops/structure.h"
#include "axial/tensor/decode.h"
#include "axial/tensor/parallel.h"

namespace axial::llm {
namespace {

struct Sums {
    std::size_t nans = 0, infinite = 0;
    float minimum = std::numeric_limits<float>::infinity(), maximum = -minimum;
    double sum = 0, squares = 0;

    void add(float v) {
        if (std::isnan(v)) {
            ++nans;
        } else if (std::isinf(v)) {
            ++infinite;
        } else {
            minimum = std::min(minimum, v);
            maximum = std::max(maximum, v);
            sum += static_cast<double>(v);
            squares += static_cast<double>(v) * static_cast<double>(v);
        }
    }
    void add(const Sums& other) {
        nans += other.nans;
        infinite += other.infinite;
        minimum = std::min(minimum, other.minimum);
        maximum = std::max(maximum, other.maximum);
        sum += other.sum;
        squares += other.squares;
    }
};

// Values that are decoded and added up by one thread: whole blocks of every format.
constexpr std::size_t partValues = std::size_t{1} << 14;

}  // namespace

ValueStatistics statisticsOf(Format format, const std::byte* data, std::size_t count) {
    std::vector<Sums> parts((count + partValues - 1) / partValues);
    parallelFor(parts.size(), 1, [&](std::size_t begin, std::size_t end) {
        float decoded[partValues];
        for (std::size_t part = begin; part < end; ++part) {
            const std::size_t first = part * partValues, n = std::min(partValues, count - first);
            decode(format, data + bytesOf(format, first), n, decoded);
            for (std::size_t i = 0; i < n; ++i) parts[part].add(decoded[i]);
        }
    });
    Sums all;
    for (const Sums& part : parts) all.add(part);
    ValueStatistics statistics{.count = count, .nans = all.nans, .infinite = all.infinite};
    if (const std::size_t finite = count - all.nans - all.infinite; finite != 0) {
        statistics.minimum = static_cast<double>(all.minimum);
        statistics.maximum = static_cast<double>(all.maximum);
        statistics.mean = all.sum / static_cast<double>(finite);
        statistics.rms = std::sqrt(all.squares / static_cast<double>(finite));
    }
    return statistics;
}

ValueStatistics statisticsOf(const TensorRef& values) {
    if (values.isDense()) return statisticsOf(values.format, static_cast<const std::byte*>(values.data), values.size());
    const Owned copied = erased::copyAsFloat(values);
    return statisticsOf(Format::f32, static_cast<const std::byte*>(copied.ref.data), copied.ref.size());
}

std::vector<float> firstValues(const TensorRef& values, std::size_t most) {
    const std::size_t wanted = std::min(most, values.size()), block = infoOf(values.format).blockElements;
    std::vector<float> first((wanted + block - 1) / block * block);
    if (values.isDense()) {
        decode(values.format, static_cast<const std::byte*>(values.data), first.size(), first.data());
    } else {
        const Owned copied = erased::copyAsFloat(values);
        std::copy_n(static_cast<const float*>(copied.ref.data), wanted, first.begin());
    }
    first.resize(wanted);
    return first;
}

}  // namespace axial::llm
