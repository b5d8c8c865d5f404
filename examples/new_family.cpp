// A model family of your own: a record of a block's weights, and the block. Here it is Qwen3 once more, spelled with
// plain ops instead of the fused ones that the library uses, on the weights of the bundled model: the logits are equal.
#include <boost/hana/adapt_struct.hpp>
#include <iostream>

#include "axial/llm/bundled_model.h"
#include "axial/llm/family.h"
#include "axial/llm/load.h"
#include "axial/llm/tokenizer.h"
#include "axial/ops/attention.h"
#include "axial/ops/dot.h"
#include "axial/ops/elementwise.h"
#include "axial/ops/largest.h"
#include "axial/ops/norm.h"
#include "axial/ops/rope.h"

namespace plainly {

using namespace axial;
using namespace axial::llm;

// Each field is named as the file names it (attn_q is blk.<i>.attn_q.weight); its axes say how the file's numbers are
// read. A field that the file lacks, or whose extents do not fit, is an error that names both.
struct Layer {
    Weight<embed> attn_norm;
    Weight<head, channel, embed> attn_q;
    Weight<kvHead, channel, embed> attn_k, attn_v;
    Weight<channel> attn_q_norm, attn_k_norm;
    Weight<embed, head, channel> attn_output;
    Weight<embed> ffn_norm;
    Weight<ff, embed> ffn_gate, ffn_up;
    Weight<embed, ff> ffn_down;
};

Stream attention(Stream&& x, const Layer& w, std::size_t layer, Step& step, float epsilon) {
    const auto h = rmsNormMul(x, w.attn_norm, epsilon);
    auto q = dot(h, w.attn_q, embed);        // [seq, head, channel]
    auto k = dot(h, w.attn_k, embed);        // [seq, kvHead, channel]
    const auto v = dot(h, w.attn_v, embed);  // [seq, kvHead, channel]

    q = ropeHalf(rmsNormMul(std::move(q), w.attn_q_norm, epsilon), step.rope);
    k = ropeHalf(rmsNormMul(std::move(k), w.attn_k_norm, epsilon), step.rope);

    // The step may hold rows of several conversations; each one's queries meet its own keys.
    const auto mixed = step.attend(layer, x, q, k, v, [](const auto& q, const auto& keys, const auto& values) {
        return groupedAttention(q, keys, values);  // [seq, head, channel]
    });
    return add(std::move(x), dot(mixed, w.attn_output, head, channel));
}

Stream feedForward(Stream&& x, const Layer& w, float epsilon) {
    const auto h = rmsNormMul(x, w.ffn_norm, epsilon);
    auto gate = dot(h, w.ffn_gate, embed);  // [seq, ff]
    const auto up = dot(h, w.ffn_up, embed);
    const auto inner = swiglu(std::move(gate), up);
    return add(std::move(x), dot(inner, w.ffn_down, ff));
}

Stream block(Stream&& x, const Layer& w, std::size_t layer, Step& step, float epsilon) {
    x.replace(attention, w, layer, step, epsilon);
    return feedForward(std::move(x), w, epsilon);
}

}  // namespace plainly

BOOST_HANA_ADAPT_STRUCT(plainly::Layer, attn_norm, attn_q, attn_k, attn_v, attn_q_norm, attn_k_norm, attn_output,
                        ffn_norm, ffn_gate, ffn_up, ffn_down);

int main() {
    using namespace axial;
    using namespace axial::llm;
    const LoadedModel library = loadBundled();
    WeightSource source(library.file);
    const Family<plainly::Layer, plainly::block> own(library.file.hyperparameters(), source);

    const std::vector<TokenId> tokens = library.tokenizer->encode("<|im_start|>user\nWhat is an axis?<|im_end|>\n");
    KvCache ownCache = own.makeCache(tokens.size(), Format::f32);
    KvCache libraryCache = library.model->makeCache(tokens.size(), Format::f32);
    const Logits ours = own.forward(ownCache, tokens, LogitsOf::all);
    const Logits theirs = library.model->forward(libraryCache, tokens, LogitsOf::all);

    std::size_t different = 0;
    for (std::size_t i = 0; i < ours.size(); ++i) different += ours.values()[i] != theirs.values()[i];
    std::cout << "weights that nobody asked for: " << source.unused().size() << "\nlogits that differ: " << different
              << '\n';
    return different == 0 ? 0 : 1;
}
