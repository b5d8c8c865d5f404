// Rows by their numbers, and where the largest values are: gather, argmax, topK, routerTopK.
#include <algorithm>
#include <memory>

#include "axial/bench/float_view.h"
#include "axial/bench/op_cases.h"
#include "axial/ops/gather.h"
#include "axial/ops/largest.h"
#include "axial/ops/work.h"
#include "axial/tensor/error.h"
#include "axial/tensor/stored.h"

namespace axial::bench {
namespace {

using namespace axial::axes;
inline constexpr Axis<"embed"> embed;
inline constexpr Axis<"vocab"> vocab;

OpCase choiceCase(std::string op, std::vector<AxisExtent> axes, std::size_t bytes, bool cached) {
    return {.op = std::move(op),
            .layer = {},
            .format = Format::f32,
            .axes = std::move(axes),
            .activations = {},
            .cached = cached,
            .bytes = static_cast<double>(bytes),
            .products = 0,
            .arithmetic = Arithmetic::float32,
            .operandBytes = bytes,
            .prepare = {}};
}

OpCase gatherCase(Format format, std::size_t m, std::size_t vocabulary, std::size_t n, bool cached) {
    OpCase c = choiceCase("gather", {{"seq", m}, {"vocab", vocabulary}, {"embed", n}}, m * bytesOf(format, n), cached);
    c.format = format;
    c.operandBytes = bytesOf(format, vocabulary * n);
    c.prepare = [=](const Memory& memory) {
        // Other rows at each call, all over the table.
        const std::size_t calls = cached ? 1 : 1 + (std::size_t{1} << 16) / m;
        auto ids = std::make_shared<std::vector<std::int32_t>>(calls * m);
        std::uint64_t x = 1;
        for (std::int32_t& id : *ids) {
            x = x * 6364136223846793005ULL + 1442695040888963407ULL;  // Knuth, The Art of Computer Programming 3.3.4
            id = static_cast<std::int32_t>((x >> 33) % vocabulary);
        }
        const Weight<vocab, embed> table(memory.bytes().data(), format, {vocabulary, n});
        return [=, at = std::size_t{0}]() mutable {
            TensorRef ref = dense(Format::i32, names<Axes<seq>>, 1, {m});
            ref.data = ids->data() + at * m;
            at = at + 1 == calls ? 0 : at + 1;
            static_cast<void>(gather(table, vocab, View<const std::int32_t, seq>(ref)));
        };
    };
    return c;
}

OpCase argmaxCase(std::size_t m, std::size_t n, bool cached) {
    OpCase c = choiceCase("argmax", {{"seq", m}, {"vocab", n}}, m * n * sizeof(float), cached);
    c.prepare = [=, bytes = c.operandBytes](const Memory& memory) {
        return [=, places = Places(memory, bytes, cached)]() mutable {
            static_cast<void>(argmax(floatsAt<seq, vocab>(places.next(), {m, n}), vocab));
        };
    };
    return c;
}

OpCase topKCase(std::size_t m, std::size_t n, std::size_t k, bool cached) {
    OpCase c = choiceCase("topK", {{"seq", m}, {"vocab", n}, {"slot", k}}, m * n * sizeof(float), cached);
    c.prepare = [=, bytes = c.operandBytes](const Memory& memory) {
        return [=, places = Places(memory, bytes, cached)]() mutable {
            static_cast<void>(topK(floatsAt<seq, vocab>(places.next(), {m, n}), vocab, slot, k));
        };
    };
    return c;
}

OpCase routerCase(std::size_t m, std::size_t n, std::size_t k, bool cached) {
    OpCase c = choiceCase("routerTopK", {{"seq", m}, {"expert", n}, {"slot", k}}, m * n * sizeof(float), cached);
    c.products = static_cast<double>(work::softmax(m * n).multiplyAdds);
    c.prepare = [=, bytes = c.operandBytes](const Memory& memory) {
        return [=, places = Places(memory, bytes, cached)]() mutable {
            static_cast<void>(routerTopK(floatsAt<seq, expert>(places.next(), {m, n}), expert, k, true));
        };
    };
    return c;
}

}  // namespace

void addChoiceCases(Cases& cases, const Shapes& shapes, const Selection& selection) {
    const std::size_t vocabulary = shapes.vocabulary;
    for (const Format format : shapes.tables)
        if (wholeBlocks("gather", format, shapes.embed, selection))
            for (const std::size_t m : seqOf(selection, {1, 512}))
                cases.push_back(gatherCase(format, m, vocabulary, shapes.embed, selection.cached));
    for (const std::size_t m : seqOf(selection, {1})) {
        cases.push_back(argmaxCase(m, vocabulary, selection.cached));
        // 40: what samplers mostly begin with.
        cases.push_back(topKCase(m, vocabulary, std::min<std::size_t>(40, vocabulary), selection.cached));
    }
    if (shapes.experts == 0) return;
    if (shapes.chosen > shapes.experts)
        throw ShapeError("routerTopK: " + std::to_string(shapes.chosen) + " slots cannot be chosen among " +
                         std::to_string(shapes.experts) + " experts");
    for (const std::size_t m : seqOf(selection, {1, 512}))
        cases.push_back(routerCase(m, shapes.experts, shapes.chosen, selection.cached));
}

}  // namespace axial::bench
