// groupedAttention: decoding (one query) at some depths, and a prompt, by the cache's format.
#include <algorithm>
#include <memory>
#include <utility>

#include "axial/bench/float_view.h"
#include "axial/bench/op_cases.h"
#include "axial/ops/attention.h"
#include "axial/ops/work.h"
#include "axial/tensor/error.h"
#include "axial/tensor/stored.h"

namespace axial::bench {
namespace {

using namespace axial::axes;

OpCase attentionCase(const Shapes& shapes, Format format, std::size_t queries, std::size_t keys, bool cached) {
    const std::size_t heads = shapes.heads, kvHeads = shapes.kvHeads, channels = shapes.channels;
    const std::size_t bytes = bytesOf(format, keys * kvHeads * channels), half = (bytes + 127) / 128 * 128;
    const std::size_t queryValues = queries * heads * channels;
    const Work work = work::attention(work::seenKeys(queries, keys, true), heads, channels);
    return {.op = "groupedAttention",
            .layer = {},
            .format = format,
            .axes = {{"seq", queries}, {"key", keys}, {"head", heads}, {"kvHead", kvHeads}, {"channel", channels}},
            .activations = {},
            .cached = cached,
            .bytes = 2 * static_cast<double>(bytes),
            .products = static_cast<double>(work.multiplyAdds),
            .arithmetic = Arithmetic::float32,
            .operandBytes = std::max(2 * half, queryValues * sizeof(float)),
            .prepare = [=](const Memory& memory) {
                // Scores of about 1, so that the softmax has many keys to weigh: codes of q8_0 are about 100.
                auto q = zeros<float>(seq(queries), head(heads), channel(channels));
                const auto* numbers = reinterpret_cast<const float*>(memory.bytes().data());
                const float factor = format == Format::q8_0 ? 0.01f : 1.0f;
                std::transform(numbers, numbers + queryValues, q.values().begin(), [=](float x) { return factor * x; });
                return [=, q = std::make_shared<decltype(q)>(std::move(q)),
                        places = Places(memory, 2 * half, cached)]() mutable {
                    const std::byte* place = places.next();
                    const Weight<kvHead, key, channel> k(place, format, {kvHeads, keys, channels});
                    const Weight<kvHead, key, channel> v(place + half, format, {kvHeads, keys, channels});
                    static_cast<void>(groupedAttention(*q, k, v));
                };
            }};
}

// Queries and keys: as selected, or one query after 512 and 4096 positions, and a prompt of 512.
std::vector<std::pair<std::size_t, std::size_t>> lengths(const Selection& selection) {
    if (selection.seq.empty() && selection.key.empty()) return {{1, 512}, {1, 4096}, {512, 512}};
    std::vector<std::pair<std::size_t, std::size_t>> list;
    for (const std::size_t queries : seqOf(selection, {1})) {
        if (selection.key.empty()) list.emplace_back(queries, std::max<std::size_t>(queries, 512));
        for (const std::size_t keys : selection.key) list.emplace_back(queries, keys);
    }
    return list;
}

}  // namespace

void addAttentionCases(Cases& cases, const Shapes& shapes, const Selection& selection) {
    if (shapes.heads % shapes.kvHeads != 0)
        throw ShapeError("groupedAttention: " + std::to_string(shapes.heads) + " heads are no multiple of " +
                         std::to_string(shapes.kvHeads) + " kvHeads");
    for (const auto& [queries, keys] : lengths(selection)) {
        if (queries > keys)
            throw ShapeError("groupedAttention: " + std::to_string(queries) + " queries (seq) do not fit on " +
                             std::to_string(keys) + " positions (key)");
        for (const Format format : {Format::f32, Format::f16, Format::q8_0})
            if (wants(selection, format) && wholeBlocks("groupedAttention", format, shapes.channels, selection))
                cases.push_back(attentionCase(shapes, format, queries, keys, selection.cached));
    }
}

}  // namespace axial::bench
