#include "axial/llm/qwen3moe.h"

#include <cmath>

#include "axial/llm/family.h"
#include "axial/llm/feed_forward.h"
#include "axial/llm/record_axes.h"
#include "axial/ops/dot.h"
#include "axial/ops/largest.h"
#include "axial/tensor/error.h"

namespace axial::llm {
namespace {

// Which experts each row goes through, and what each counts: [seq, slot]. A router whose numbers are no numbers is an
// error that says where.
Routing<seq, slot> route(const Stream& h, const Qwen3MoeLayer& w, std::size_t layer, const Step& step) {
    const auto logits = dot(h, *w.ffn_gate_inp, embed);  // [seq, expert]
    try {
        auto routing = routerTopK(logits, expert, w.parameters.used, w.parameters.normalise, w.parameters.topP);
        named("router_selected", routing.expert);
        named("router_weights", routing.weight);
        return routing;
    } catch (const ValueError& error) {
        const std::size_t rows = logits.extent(seq), experts = logits.extent(expert);
        for (std::size_t i = 0; i < rows * experts; ++i)
            if (!std::isfinite(logits.values()[i]))
                throw ValueError("layer " + std::to_string(layer) + ", position " +
                                 std::to_string(step.positionOf(i / experts, rows)) +
                                 ": the router's logits are not finite, so the weights may be damaged (" +
                                 error.what() + ")");
        throw;
    }
}

Stream block(Stream&& x, const Qwen3MoeLayer& w, std::size_t layer, Step& step, float epsilon) {
    x.replace(attentionBlock, w, layer, step, epsilon);
    if (w.experts) return mixtureBlock(std::move(x), w, layer, step, epsilon);
    named("attn_residual", x);
    Scope scope("feedForward");
    const auto h = rmsNormMul(x, w.ffn_norm, epsilon);
    const auto inner = named("ffn_inner", swigluDot(h, *w.ffn_gate, *w.ffn_up, embed));  // [seq, ff]
    return addDot(std::move(x), inner, *w.ffn_down, ff);                                 // [seq, embed]
}

void bindBlock(Qwen3MoeLayer& layer, std::size_t index, WeightSource& source, const Hyperparameters& h) {
    const std::string prefix = blockPrefix(index);
    bindRecord(layer, prefix, source, axisSizes(h));
    if (h.experts.in(index)) {
        source.require(prefix + "ffn_gate_inp.weight");
        layer.parameters = h.experts;
        layer.experts = std::make_shared<ResidentExperts>(storedExperts(prefix, source, h));
    } else {
        for (const char* name : {"ffn_gate.weight", "ffn_up.weight", "ffn_down.weight"}) source.require(prefix + name);
    }
}

}  // namespace

Stream mixtureBlock(Stream&& x, const Qwen3MoeLayer& w, std::size_t layer, Step& step, float epsilon) {
    named("attn_residual", x);
    Scope scope("feedForward");
    const auto h = rmsNormMul(x, w.ffn_norm, epsilon);
    const auto routing = route(h, w, layer, step);            // [seq, slot]
    return addMixture(std::move(x), h, routing, *w.experts);  // [seq, embed]
}

std::unique_ptr<Model> makeQwen3Moe(const Hyperparameters& hyperparameters, WeightSource& source) {
    return std::make_unique<Family<Qwen3MoeLayer, block, bindBlock>>(hyperparameters, source);
}

std::string axesOfQwen3Moe(std::string_view tensor, const Hyperparameters& h) {
    const std::string experts = axesOfExperts(tensor, h);
    return experts.empty() ? axesOfRecord<Qwen3MoeLayer>(tensor, axisSizes(h)) : experts;
}

}  // namespace axial::llm
