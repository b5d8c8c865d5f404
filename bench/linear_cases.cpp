// dot: linear layers, by format, shape and the number of positions computed together.
#include <algorithm>

#include "axial/bench/float_view.h"
#include "axial/bench/op_cases.h"
#include "axial/ops/axes.h"
#include "axial/ops/dot.h"
#include "axial/ops/linear_codes.h"
#include "axial/tensor/stored.h"

namespace axial::bench {
namespace {

inline constexpr Axis<"row"> row;        // of the matrix of weights, whatever its axes are
inline constexpr Axis<"column"> column;  // what is summed over

OpCase linearCase(const LinearLayer& layer, std::size_t m, std::optional<Activations> activations, bool cached) {
    const Format format = layer.format;
    const std::size_t n = sizeOf(layer.out), k = sizeOf(layer.in), bytes = bytesOf(format, n * k);
    OpCase c{.op = "dot",
             .layer = layer.name,
             .format = format,
             .axes = {{"seq", m}},
             .activations = activations,
             .cached = cached,
             .bytes = static_cast<double>(bytes),
             .products = static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k),
             .arithmetic = activations == Activations::int8    ? Arithmetic::int8
                           : activations == Activations::int16 ? Arithmetic::int16
                                                               : Arithmetic::float32,
             .operandBytes = std::max(bytes, m * k * sizeof(float)),
             .prepare = {}};
    c.axes.insert(c.axes.end(), layer.out.begin(), layer.out.end());
    c.axes.insert(c.axes.end(), layer.in.begin(), layer.in.end());
    c.prepare = [=](const Memory& memory) {
        const auto x = floatsAt<axes::seq, column>(memory.bytes().data(), {m, k});
        return [=, weights = Places(memory, bytes, cached)]() mutable {
            const UseActivations use(activations.value_or(Activations::float32));
            static_cast<void>(dot(x, Weight<row, column>(weights.next(), format, {n, k}), column));
        };
    };
    return c;
}

}  // namespace

void addLinearCases(Cases& cases, const Shapes& shapes, const Selection& selection) {
    for (const LinearLayer& layer : shapes.layers) {
        if (!wholeBlocks("dot with " + layer.name, layer.format, sizeOf(layer.in), selection)) continue;
        for (const std::size_t m :
             seqOf(selection, layer.isHead ? std::vector<std::size_t>{1} : std::vector<std::size_t>{1, 8, 512})) {
            if (kernels::codeFormOf(layer.format).group == 0)
                cases.push_back(linearCase(layer, m, std::nullopt, selection.cached));
            else
                for (const Activations activations : selection.activations)
                    cases.push_back(linearCase(layer, m, activations, selection.cached));
        }
    }
}

}  // namespace axial::bench
