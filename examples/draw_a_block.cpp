// Records one transformer block as it runs, and shows it: as text, and as a drawing for Graphviz (dot -Tsvg block.dot).
#include <fstream>
#include <iostream>
#include <memory>
#include <vector>

#include "axial/ops/attention.h"
#include "axial/ops/dot.h"
#include "axial/ops/elementwise.h"
#include "axial/ops/norm.h"
#include "axial/ops/rope.h"
#include "axial/tensor/graph_drawing.h"
#include "axial/tensor/graph_text.h"

using namespace axial;
using namespace axial::axes;

constexpr Axis<"embed"> embed;
constexpr Axis<"ff"> ff;

using Stream = Tensor<float, seq, embed>;

namespace {

// The weights of a block, named as in a GGUF file.
struct Layer {
    Weight<embed> attn_norm;
    Weight<head, channel, embed> attn_q;
    Weight<kvHead, channel, embed> attn_k, attn_v;
    Weight<embed, head, channel> attn_output;
    Weight<embed> ffn_norm;
    Weight<ff, embed> ffn_gate, ffn_up;
    Weight<embed, ff> ffn_down;
};

// A weight of small numbers that look random, where a model would borrow one from a mapped file.
template <class... X>
Weight<X{}...> weight(std::string name, At<X>... extent) {
    auto numbers = std::make_shared<std::vector<float>>((extent.value * ...));
    unsigned seed = unsigned(name.size());
    for (float& value : *numbers) {
        seed = seed * 1664525 + 1013904223;
        value = (float(seed >> 8) / float(1 << 23) - 1) / 8;
    }
    const void* data = numbers->data();
    return {data, Format::f32, Extents{extent.value...}, std::move(numbers), std::move(name)};
}

Stream attentionBlock(Stream&& x, const Layer& w, const RopeTable& rope) {
    Scope scope("attention");
    const auto h = rmsNormMul(x, w.attn_norm, 1e-6f);
    auto q = dot(h, w.attn_q, embed);        // [seq, head, channel]
    auto k = dot(h, w.attn_k, embed);        // [seq, kvHead, channel]
    const auto v = dot(h, w.attn_v, embed);  // [seq, kvHead, channel]

    q = ropeHalf(std::move(q), rope);
    k = ropeHalf(std::move(k), rope);

    const auto mixed = groupedAttention(q, k.rename(seq, key), v.rename(seq, key));  // [seq, head, channel]
    return add(std::move(x), dot(mixed, w.attn_output, head, channel));
}

Stream feedForwardBlock(Stream&& x, const Layer& w) {
    Scope scope("ffn");
    const auto h = rmsNormMul(x, w.ffn_norm, 1e-6f);
    auto gate = dot(h, w.ffn_gate, embed);  // [seq, ff]
    const auto up = dot(h, w.ffn_up, embed);
    const auto inner = swiglu(std::move(gate), up);
    return add(std::move(x), dot(inner, w.ffn_down, ff));
}

}  // namespace

int main(int count, char** arguments) {
    const Layer w{weight("blk.0.attn_norm", embed(64)),
                  weight("blk.0.attn_q", head(4), channel(16), embed(64)),
                  weight("blk.0.attn_k", kvHead(2), channel(16), embed(64)),
                  weight("blk.0.attn_v", kvHead(2), channel(16), embed(64)),
                  weight("blk.0.attn_output", embed(64), head(4), channel(16)),
                  weight("blk.0.ffn_norm", embed(64)),
                  weight("blk.0.ffn_gate", ff(192), embed(64)),
                  weight("blk.0.ffn_up", ff(192), embed(64)),
                  weight("blk.0.ffn_down", embed(64), ff(192))};
    RopeParameters rotation;
    rotation.channels = 16;
    const RopeTable rope = Rope(rotation).table(0, 5);  // positions 0 to 4
    Stream x = zeros<float>(seq(5), embed(64));
    for (float& value : x.values()) value = 1;

    Graph graph;
    {
        Watch watch(graph);
        Scope scope("layer", 0);
        x.replace(attentionBlock, w, rope);
        x.replace(feedForwardBlock, w);
    }
    writeText(std::cout, graph);

    const std::string file = count > 1 ? arguments[1] : "block.dot";
    std::ofstream drawing(file);
    writeDrawing(drawing, graph, "A transformer block");
    std::cout << "drawing: " << file << '\n';
    return drawing ? 0 : 1;
}
