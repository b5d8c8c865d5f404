// Ops along the rows of activations: rmsNormMul, ropeHalf, both in one, softmax.
#include <memory>

#include "axial/bench/float_view.h"
#include "axial/bench/op_cases.h"
#include "axial/ops/norm.h"
#include "axial/ops/rope.h"
#include "axial/ops/softmax.h"
#include "axial/ops/work.h"

namespace axial::bench {
namespace {

using namespace axial::axes;
inline constexpr Axis<"embed"> embed;
inline constexpr Axis<"vocab"> vocab;
constexpr float epsilon = 1e-6f;

// Everything but the op itself, whose work is said by the number of values.
OpCase rowCase(std::string op, std::vector<AxisExtent> axes, Work (*work)(work::Count), bool cached) {
    const std::size_t bytes = sizeOf(axes) * sizeof(float);
    return {.op = std::move(op),
            .layer = {},
            .format = Format::f32,
            .axes = std::move(axes),
            .activations = {},
            .cached = cached,
            .bytes = static_cast<double>(bytes),
            .products = static_cast<double>(work(bytes / sizeof(float)).multiplyAdds),
            .arithmetic = Arithmetic::float32,
            .operandBytes = bytes,
            .prepare = {}};
}

OpCase normCase(std::size_t m, std::size_t n, bool cached) {
    OpCase c = rowCase("rmsNormMul", {{"seq", m}, {"embed", n}}, work::rmsNormMul, cached);
    c.prepare = [=, bytes = c.operandBytes](const Memory& memory) {
        const auto w = floatsAt<embed>(memory.bytes().data(), {n});
        return [=, places = Places(memory, bytes, cached)]() mutable {
            static_cast<void>(rmsNormMul(floatsAt<seq, embed>(places.next(), {m, n}), w, epsilon));
        };
    };
    return c;
}

// Of a head's queries; fused with their norm or not.
OpCase ropeCase(bool fused, std::size_t m, std::size_t heads, std::size_t channels, bool cached) {
    OpCase c = rowCase(fused ? "rmsNormMulRopeHalf" : "ropeHalf", {{"seq", m}, {"head", heads}, {"channel", channels}},
                       fused ? work::rmsNormMulRope : work::rope, cached);
    c.prepare = [=, bytes = c.operandBytes](const Memory& memory) {
        const auto w = floatsAt<channel>(memory.bytes().data(), {channels});
        RopeParameters parameters;
        parameters.channels = channels;
        const auto table = std::make_shared<RopeTable>(Rope(parameters).table(0, m));
        return [=, places = Places(memory, bytes, cached)]() mutable {
            const auto x = floatsAt<seq, head, channel>(places.next(), {m, heads, channels});
            if (fused)
                static_cast<void>(rmsNormMulRopeHalf(x, w, *table, epsilon));
            else
                static_cast<void>(ropeHalf(x, *table));
        };
    };
    return c;
}

OpCase softmaxCase(std::size_t m, std::size_t n, bool cached) {
    OpCase c = rowCase("softmax", {{"seq", m}, {"vocab", n}}, work::softmax, cached);
    c.prepare = [=, bytes = c.operandBytes](const Memory& memory) {
        return [=, places = Places(memory, bytes, cached)]() mutable {
            static_cast<void>(softmax(floatsAt<seq, vocab>(places.next(), {m, n}), vocab));
        };
    };
    return c;
}

}  // namespace

void addRowCases(Cases& cases, const Shapes& shapes, const Selection& selection) {
    for (const std::size_t m : seqOf(selection, {1, 512})) cases.push_back(normCase(m, shapes.embed, selection.cached));
    for (const bool fused : {false, true})
        for (const std::size_t m : seqOf(selection, {1, 512}))
            if (shapes.channels % 2 == 0)
                cases.push_back(ropeCase(fused, m, shapes.heads, shapes.channels, selection.cached));
    for (const std::size_t m : seqOf(selection, {1}))
        cases.push_back(softmaxCase(m, shapes.vocabulary, selection.cached));
}

}  // namespace axial::bench
