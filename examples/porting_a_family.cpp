// Two drafts of a family that are wrong, and what is said of them: the program of docs/porting_a_family.md.
//   porting_a_family binding             what a record that does not fit the file is told
//   porting_a_family 1|2|3 REFERENCE     a draft of the block beside saved values; the third is right
#include <boost/hana/adapt_struct.hpp>
#include <iostream>
#include <string_view>

#include "axial/llm/bundled_model.h"
#include "axial/llm/compare_run.h"
#include "axial/llm/family.h"
#include "axial/llm/feed_forward.h"
#include "axial/ops/activations.h"
#include "axial/ops/attention.h"
#include "axial/ops/dot.h"
#include "axial/ops/elementwise.h"
#include "axial/ops/norm.h"
#include "axial/ops/rope.h"
#include "axial/tensor/error.h"

namespace drafts {

using namespace axial;
using namespace axial::llm;

// The record of a family that looks like Llama: no norms of the heads.
struct LlamaLike {
    Weight<embed> attn_norm;
    Weight<head, channel, embed> attn_q;
    Weight<kvHead, channel, embed> attn_k, attn_v;
    Weight<embed, head, channel> attn_output;
    Weight<embed> ffn_norm;
    Weight<ff, embed> ffn_gate, ffn_up;
    Weight<embed, ff> ffn_down;
};

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

// Records that do not fit the file.
struct WithBias {
    Weight<head, channel, embed> attn_q;
    Weight<head, channel> attn_q_bias;
};
struct Transposed {
    Weight<ff, embed> ffn_down;
};

// first draft
Stream attention(Stream&& x, const LlamaLike& w, std::size_t layer, Step& step, float epsilon) {
    const auto h = rmsNormMul(x, w.attn_norm, epsilon);
    auto q = ropeInterleaved(dot(h, w.attn_q, embed), step.rope);  // [seq, head, channel]
    auto k = ropeInterleaved(dot(h, w.attn_k, embed), step.rope);  // [seq, kvHead, channel]
    const auto v = dot(h, w.attn_v, embed);                        // [seq, kvHead, channel]

    const auto mixed = step.attend(layer, x, q, k, v, [](const auto& q, const auto& keys, const auto& values) {
        return groupedAttention(q, keys, values);  // [seq, head, channel]
    });
    return add(std::move(x), dot(mixed, w.attn_output, head, channel));
}

// second draft
Stream attentionWithNorms(Stream&& x, const Layer& w, std::size_t layer, Step& step, float epsilon) {
    const auto h = rmsNormMul(x, w.attn_norm, epsilon);
    auto q = rmsNormMul(dot(h, w.attn_q, embed), w.attn_q_norm, epsilon);
    auto k = rmsNormMul(dot(h, w.attn_k, embed), w.attn_k_norm, epsilon);
    const auto v = dot(h, w.attn_v, embed);

    q = ropeInterleaved(std::move(q), step.rope);
    k = ropeInterleaved(std::move(k), step.rope);

    const auto mixed = step.attend(layer, x, q, k, v, [](const auto& q, const auto& keys, const auto& values) {
        return groupedAttention(q, keys, values);
    });
    return add(std::move(x), dot(mixed, w.attn_output, head, channel));
}

// third draft
Stream attentionThatIsRight(Stream&& x, const Layer& w, std::size_t layer, Step& step, float epsilon) {
    const auto h = rmsNormMul(x, w.attn_norm, epsilon);
    auto q = rmsNormMul(dot(h, w.attn_q, embed), w.attn_q_norm, epsilon);
    auto k = rmsNormMul(dot(h, w.attn_k, embed), w.attn_k_norm, epsilon);
    const auto v = dot(h, w.attn_v, embed);

    q = ropeHalf(std::move(q), step.rope);
    k = ropeHalf(std::move(k), step.rope);

    const auto mixed = step.attend(layer, x, q, k, v, [](const auto& q, const auto& keys, const auto& values) {
        return groupedAttention(q, keys, values);
    });
    return add(std::move(x), dot(mixed, w.attn_output, head, channel));
}

template <class Record, auto attend>
Stream block(Stream&& x, const Record& w, std::size_t layer, Step& step, float epsilon) {
    x.replace(attend, w, layer, step, epsilon);
    return feedForwardBlock(std::move(x), w, epsilon);
}

}  // namespace drafts

BOOST_HANA_ADAPT_STRUCT(drafts::LlamaLike, attn_norm, attn_q, attn_k, attn_v, attn_output, ffn_norm, ffn_gate, ffn_up,
                        ffn_down);
BOOST_HANA_ADAPT_STRUCT(drafts::Layer, attn_norm, attn_q, attn_k, attn_v, attn_q_norm, attn_k_norm, attn_output,
                        ffn_norm, ffn_gate, ffn_up, ffn_down);
BOOST_HANA_ADAPT_STRUCT(drafts::WithBias, attn_q, attn_q_bias);
BOOST_HANA_ADAPT_STRUCT(drafts::Transposed, ffn_down);

namespace {

using namespace axial;
using namespace axial::llm;

// The record's tensors of the first layer.
template <class Record>
void bind(const ModelFile& file) {
    WeightSource source(file);
    Record record;
    try {
        bindRecord(record, "blk.0.", source, axisSizes(file.hyperparameters()));
    } catch (const Error& error) {
        std::cout << error.what() << '\n';
    }
}

template <class Record, auto attend>
int compare(const ModelFile& file, const ReferenceValues& reference) {
    WeightSource source(file);
    const Family<Record, drafts::block<Record, attend>> family(file.hyperparameters(), source);
    if (const auto unused = source.unused(); !unused.empty())
        std::cout << unused.size() << " tensors of the file are not used, the first is " << unused.front() << "\n\n";
    const UseActivations exact(Activations::float32);
    const std::vector<TokenId> tokens{379, 285, 284, 553, 30};  // What is an axis?
    const RunComparison run = compareRun(family, tokens, reference, 1e-4);
    std::cout << textOf(run);
    return run.firstDeparture() ? 1 : 0;
}

}  // namespace

int main(int count, char** arguments) {
    const std::string_view what = count > 1 ? arguments[1] : "";
    const ModelFile file(bundledModel());
    if (what == "binding") {
        bind<drafts::WithBias>(file);
        bind<drafts::Transposed>(file);
        return 0;
    }
    if (count != 3) {
        std::cerr << "porting_a_family binding | 1|2|3 REFERENCE\n";
        return 2;
    }
    try {
        const auto reference = ReferenceValues::open(arguments[2]);
        if (what == "1") return compare<drafts::LlamaLike, drafts::attention>(file, reference);
        if (what == "2") return compare<drafts::Layer, drafts::attentionWithNorms>(file, reference);
        return compare<drafts::Layer, drafts::attentionThatIsRight>(file, reference);
    } catch (const Error& error) {
        std::cerr << error.what() << '\n';
        return 1;
    }
}
