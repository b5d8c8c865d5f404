// add and swiglu.
#include "axial/bench/float_view.h"
#include "axial/bench/op_cases.h"
#include "axial/ops/axes.h"
#include "axial/ops/elementwise.h"
#include "axial/ops/work.h"

namespace axial::bench {
namespace {

using axes::seq;
inline constexpr Axis<"embed"> embed;
inline constexpr Axis<"ff"> ff;

// An op of two tensors [seq, X].
template <auto X, class Op>
OpCase pairCase(std::string name, std::size_t m, std::size_t n, const Work& work, bool cached, Op op) {
    const std::size_t bytes = m * n * sizeof(float), half = (bytes + 127) / 128 * 128;
    return {.op = std::move(name),
            .layer = {},
            .format = Format::f32,
            .axes = {{"seq", m}, {std::string(X.name), n}},
            .activations = {},
            .cached = cached,
            .bytes = 2 * static_cast<double>(bytes),
            .products = static_cast<double>(work.multiplyAdds),
            .arithmetic = Arithmetic::float32,
            .operandBytes = 2 * half,
            .prepare = [=](const Memory& memory) {
                return [=, places = Places(memory, 2 * half, cached)]() mutable {
                    const std::byte* place = places.next();
                    static_cast<void>(op(floatsAt<seq, X>(place, {m, n}), floatsAt<seq, X>(place + half, {m, n})));
                };
            }};
}

}  // namespace

void addPointwiseCases(Cases& cases, const Shapes& shapes, const Selection& selection) {
    for (const std::size_t m : seqOf(selection, {1, 512}))
        cases.push_back(pairCase<embed>("add", m, shapes.embed, work::add(m * shapes.embed), selection.cached,
                                        [](const auto& x, const auto& y) { return add(x, y); }));
    for (const std::size_t m : seqOf(selection, {1, 512}))
        cases.push_back(pairCase<ff>("swiglu", m, shapes.ff, work::swiglu(m * shapes.ff), selection.cached,
                                     [](const auto& x, const auto& y) { return swiglu(x, y); }));
}

}  // namespace axial::bench
