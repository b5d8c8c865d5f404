#include "axial/ops/largest.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "axial/ops/reduce_kernels.h"
#include "axial/ops/rows.h"
#include "axial/ops/work.h"
#include "axial/tensor/error.h"
#include "axial/tensor/observe.h"

namespace axial::erased {
namespace {

// Up to so many are kept in order while the row is read; more are sorted.
constexpr std::size_t fewEnough = 64;

// "seq=3, head=0": which row of x, for a message.
std::string rowName(const TensorRef& x, const AxisMap& rows, std::size_t row) {
    std::string text;
    for (std::size_t i = rows.rank - 1u; i-- > 0;) {
        const auto axis = static_cast<std::size_t>(rows.from[i]);
        text =
            std::string(x.axis[axis]) + "=" + std::to_string(row % x.extent[axis]) + (text.empty() ? "" : ", ") + text;
        row /= x.extent[axis];
    }
    return text.empty() ? "its only row" : text;
}

// Throws ValueError if a row's largest value is NaN, or, where `finite` is asked for, infinite. Sets `largest`, one a
// row.
void requireOrdered(std::string_view op, const TensorRef& operand, const AxisMap& rows, const TensorRef& x, bool finite,
                    float* largest = nullptr) {
    const std::size_t last = rows.rank - 1u, n = x.extent[last];
    RowWalk<1> walk(last, {&x});
    for (std::size_t row = 0; row < walk.rows(); ++row, walk.next()) {
        const float top = kernels::maxRow(floats(x) + walk.offset()[0], n);
        if (std::isnan(top) || (finite && std::isinf(top)))
            throw ValueError(std::string(op) + ": the values at " + rowName(operand, rows, row) +
                             (std::isnan(top) ? " contain NaN"
                              : top > 0       ? " contain infinity"
                                              : " are all minus infinity"));
        if (largest) largest[row] = top;
    }
}

void requireIndexable(std::string_view op, const TensorRef& operand, const AxisMap& rows) {
    const auto along = static_cast<std::size_t>(rows.from[rows.rank - 1u]);
    if (operand.extent[along] > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()))
        throw ShapeError(std::string(op) + ": axis " + std::string(operand.axis[along]) + " has extent " +
                         std::to_string(operand.extent[along]) + ", more than 32-bit indices can tell apart");
}

void requireK(std::string_view op, const TensorRef& operand, const AxisMap& rows, std::size_t k) {
    const auto along = static_cast<std::size_t>(rows.from[rows.rank - 1u]);
    if (k == 0 || k > operand.extent[along])
        throw ValueError(std::string(op) + ": k is " + std::to_string(k) + ", but axis " +
                         std::string(operand.axis[along]) + " has " + std::to_string(operand.extent[along]) +
                         " positions to choose from");
}

// A few: kept in order, a value goes behind those that are as large. A row is mostly skipped by comparing vectors.
void chooseFew(const float* x, std::size_t n, std::size_t k, std::int32_t* chosen) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < n; ++i) {
        if (count == k) {
            i += kernels::firstAbove(x + i, n - i, x[chosen[k - 1]]);
            if (i == n) return;
        }
        std::size_t at = std::min(count, k - 1);
        for (; at > 0 && x[i] > x[chosen[at - 1]]; --at) chosen[at] = chosen[at - 1];
        chosen[at] = static_cast<std::int32_t>(i);
        count = std::min(count + 1, k);
    }
}
void choose(const float* x, std::size_t n, std::size_t k, std::int32_t* chosen, std::vector<std::int32_t>& order) {
    if (k <= fewEnough) return chooseFew(x, n, k, chosen);
    std::iota(order.begin(), order.end(), 0);
    std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(k), order.end(),
                      [x](std::int32_t a, std::int32_t b) { return x[a] > x[b] || (x[a] == x[b] && a < b); });
    std::copy_n(order.begin(), k, chosen);
}

// choose() for every row of x, and weigh(row, chosen, weights) for what comes with the positions. `names` are in the
// operand's order, where the searched axis has become one of k positions.
template <class F>
std::pair<Owned, Owned> chooseRows(const TensorRef& operand, const AxisMap& rows, const TensorRef& x,
                                   const std::string_view* names, std::size_t k, F&& weigh) {
    const std::size_t last = rows.rank - 1u, n = x.extent[last];
    Extents extent = operand.extent;
    extent[static_cast<std::size_t>(rows.from[last])] = k;
    std::vector<std::int32_t> order(k <= fewEnough ? 0 : n), chosen(k);
    std::vector<float> weights(k);
    std::pair<Owned, Owned> out{allocate(Format::i32, names, operand.rank, extent),
                                allocate(Format::f32, names, operand.rank, extent)};
    const TensorRef indices = arranged(out.first.ref, rows), values = arranged(out.second.ref, rows);
    RowWalk<3> walk(last, {&x, &indices, &values});
    for (std::size_t row = 0; row < walk.rows(); ++row, walk.next()) {
        const auto& at = walk.offset();
        const float* from = floats(x) + at[0];
        choose(from, n, k, chosen.data(), order);
        weigh(from, chosen.data(), weights.data());
        for (std::size_t i = 0; i < k; ++i) {
            const auto step = static_cast<std::ptrdiff_t>(i);
            static_cast<std::int32_t*>(indices.data)[at[1] + step * indices.stride[last]] = chosen[i];
            floats(values)[at[2] + step * values.stride[last]] = weights[i];
        }
    }
    return out;
}

}  // namespace

Owned argmax(const TensorRef& operand, const AxisMap& rows, const std::string_view* names) {
    OpCall call("argmax", {&operand});
    const std::size_t last = rows.rank - 1u;
    const auto along = static_cast<std::size_t>(rows.from[last]);
    const std::size_t n = operand.extent[along];
    if (n == 0) throw ShapeError("argmax: axis " + std::string(operand.axis[along]) + " has no positions");
    requireIndexable("argmax", operand, rows);
    const RowsOf x(operand, rows);
    Owned out = allocate(Format::i32, names, last, x.ref().extent);
    std::vector<float> largest(out.ref.size());
    requireOrdered("argmax", operand, rows, x.ref(), false, largest.data());
    RowWalk<1> walk(last, {&x.ref()});
    for (std::size_t row = 0; row < walk.rows(); ++row, walk.next())
        static_cast<std::int32_t*>(out.ref.data)[row] =
            static_cast<std::int32_t>(kernels::firstEqual(floats(x.ref()) + walk.offset()[0], n, largest[row]));
    call.done(out.ref);
    return out;
}

std::pair<Owned, Owned> topK(const TensorRef& operand, const AxisMap& rows, const std::string_view* names,
                             std::size_t k) {
    OpCall call("topK", {&operand});
    requireK("topK", operand, rows, k);
    requireIndexable("topK", operand, rows);
    const RowsOf x(operand, rows);
    requireOrdered("topK", operand, rows, x.ref(), false);
    auto out = chooseRows(operand, rows, x.ref(), names, k, [k](const float* row, std::int32_t* chosen, float* values) {
        for (std::size_t i = 0; i < k; ++i) values[i] = row[chosen[i]];
    });
    call.also(out.first.ref);
    call.done(out.second.ref);
    return out;
}

std::pair<Owned, Owned> routerTopK(const TensorRef& operand, const AxisMap& rows, const std::string_view* names,
                                   std::size_t k, bool normalise, double topP) {
    OpCall call("routerTopK", {&operand});
    if (!(topP > 0 && topP <= 1))
        throw ValueError("routerTopK: topP is " + std::to_string(topP) + "; it must be above 0 and at most 1");
    requireK("routerTopK", operand, rows, k);
    requireIndexable("routerTopK", operand, rows);
    const RowsOf x(operand, rows);
    requireOrdered("routerTopK", operand, rows, x.ref(), true);
    const std::size_t n = x.ref().extent[rows.rank - 1u];
    std::vector<float> probability(n);
    auto out =
        chooseRows(operand, rows, x.ref(), names, k, [&](const float* row, std::int32_t* chosen, float* weights) {
            kernels::softmaxRow(probability.data(), row, n);
            double all = 0;
            for (std::size_t i = 0; i < k; ++i) {
                weights[i] = probability[static_cast<std::size_t>(chosen[i])];
                all += static_cast<double>(weights[i]);
            }
            if (topP < 1) {
                double kept = 0;
                std::size_t i = 0;
                while (i < k && kept < topP * all) kept += static_cast<double>(weights[i++]);
                for (all = kept; i < k; ++i) chosen[i] = -1, weights[i] = 0;
            }
            if (normalise)
                for (std::size_t i = 0; i < k; ++i)
                    weights[i] = static_cast<float>(static_cast<double>(weights[i]) / all);
        });
    call.also(out.first.ref);
    call.done(out.second.ref, [&] { return work::softmax(operand.size()); });
    return out;
}

}  // namespace axial::erased
