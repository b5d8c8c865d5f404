// dot and swigluDot: linear layers, by format, shape and the number of positions computed together.
#include <algorithm>
#include <map>

#include "axial/bench/float_view.h"
#include "axial/bench/op_cases.h"
#include "axial/ops/axes.h"
#include "axial/ops/dot_fused.h"
#include "axial/ops/interleaved.h"
#include "axial/ops/linear_codes.h"
#include "axial/ops/work.h"
#include "axial/tensor/stored.h"

namespace axial::bench {
namespace {

// Above this no second form is made.
constexpr std::size_t fewRows = 32;

inline constexpr Axis<"row"> row;        // of the matrix of weights, whatever its axes are
inline constexpr Axis<"column"> column;  // what is summed over

// The layer by itself, or a gate and its up in one.
OpCase linearCase(bool gated, const LinearLayer& layer, std::size_t m, std::optional<Activations> activations,
                  bool cached) {
    const Format format = layer.format;
    const std::size_t n = sizeOf(layer.out), k = sizeOf(layer.in), bytes = bytesOf(format, n * k);
    const std::size_t second = (bytes + 127) / 128 * 128, operandBytes = gated ? 2 * second : bytes;
    const double matrices = gated ? 2 : 1;
    OpCase c{.op = gated ? "swigluDot" : "dot",
             .layer = layer.name,
             .format = format,
             .axes = {{"seq", m}},
             .activations = activations,
             .cached = cached,
             .bytes = matrices * static_cast<double>(bytes),
             .products = matrices * static_cast<double>(work::dot(m * n, k, false).multiplyAdds),
             .arithmetic = activations == Activations::int8    ? Arithmetic::int8
                           : activations == Activations::int16 ? Arithmetic::int16
                                                               : Arithmetic::float32,
             .operandBytes = std::max(operandBytes, m * k * sizeof(float)),
             .prepare = {}};
    c.axes.insert(c.axes.end(), layer.out.begin(), layer.out.end());
    c.axes.insert(c.axes.end(), layer.in.begin(), layer.in.end());
    c.prepare = [=](const Memory& memory) {
        const auto x = floatsAt<axes::seq, column>(memory.bytes().data(), {m, k});
        // Weights stay, one of each place, so that those that are read for few rows get their second form, as a model's
        // do.
        struct Operands {
            Weight<row, column> w, up;
        };
        auto call = [=, places = Places(memory, operandBytes, cached),
                     weights = std::map<const std::byte*, Operands>()]() mutable {
            const UseActivations use(activations.value_or(Activations::float32));
            const std::byte* place = places.next();
            auto [at, isNew] = weights.try_emplace(place);
            auto& [w, up] = at->second;
            if (isNew) {
                const Extents extent{n, k};
                w = Weight<row, column>(place, format, extent, {}, {}, Origin::constant);
                if (gated) up = Weight<row, column>(place + second, format, extent, {}, {}, Origin::constant);
            }
            static_cast<void>(gated ? swigluDot(x, w, up, column) : dot(x, w, column));
        };
        erased::interleaveAtReading(1);
        const std::size_t count = cached ? 1 : memory.bytes().size() / std::max<std::size_t>(1, operandBytes) + 1;
        for (std::size_t i = 0; m <= fewRows && i < count; ++i) call();
        return call;
    };
    return c;
}

}  // namespace

void addLinearCases(Cases& cases, const Shapes& shapes, const Selection& selection) {
    const auto add = [&](bool gated, const LinearLayer& layer) {
        if (!wholeBlocks("dot with " + layer.name, layer.format, sizeOf(layer.in), selection)) return;
        std::vector<std::optional<Activations>> arithmetics(selection.activations.begin(), selection.activations.end());
        if (kernels::codeFormOf(layer.format).group == 0) arithmetics = {std::nullopt};
        const std::vector<std::size_t> usual =
            layer.isHead ? std::vector<std::size_t>{1} : std::vector<std::size_t>{1, 8, 512};
        for (const std::size_t m : seqOf(selection, usual))
            for (const auto& activations : arithmetics)
                cases.push_back(linearCase(gated, layer, m, activations, selection.cached));
    };
    for (const LinearLayer& layer : shapes.layers) add(false, layer);
    for (const LinearLayer& layer : shapes.layers)
        if (layer.isGate) add(true, layer);
}

}  // namespace axial::bench
