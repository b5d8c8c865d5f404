#include "axial/llm/named_values.h"

#include <algorithm>
#include <charconv>

#include "axial/llm/attention_probabilities.h"
#include "axial/ops/structure.h"

namespace axial::llm {
namespace {

// Products that are called otherwise than the weight they are made with.
struct ProductName {
    std::string_view weight, product;
};
constexpr ProductName productNames[] = {
    {"attn_output", "attn_out"},
    {"ffn_down", "ffn_out"},
    {"ffn_gate_inp", "router_logits"},
};

// Ops that read weights without having them as operands.
constexpr std::string_view mixtureOp = "mixture", mixtureName = "ffn_out";

// "layer 3/attention" -> 3
std::optional<std::size_t> layerOf(std::string_view scope) {
    constexpr std::string_view word = "layer ";
    if (!scope.starts_with(word)) return std::nullopt;
    std::size_t layer = 0;
    if (std::from_chars(scope.data() + word.size(), scope.data() + scope.size(), layer).ec != std::errc())
        return std::nullopt;
    return layer;
}

bool cut(std::string_view& text, std::string_view suffix) {
    if (!text.ends_with(suffix)) return false;
    text.remove_suffix(suffix.size());
    return true;
}

// After the weight among the operands: "blk.3.attn_q.weight" gives attn_q, "blk.3.attn_q.bias" gives attn_q_biased.
// An op without a weight gives its own name.
std::string nameAfterWeight(const OpEvent& event) {
    std::string_view label;
    for (const TensorRef& operand : event.in)
        if (!operand.label.empty()) label = operand.label;
    if (label.empty()) return std::string(event.op == mixtureOp ? mixtureName : event.op);
    if (label.starts_with("blk.")) label.remove_prefix(std::min(label.size(), label.find('.', 4) + 1));
    if (cut(label, ".bias")) return std::string(label) + "_biased";
    cut(label, ".weight");
    for (const auto& [weight, product] : productNames)
        if (label == weight) return std::string(product);
    return std::string(label);
}

bool sameValue(const TensorRef& a, const TensorRef& b) {
    return a.id != 0 && a.id == b.id && a.data == b.data && a.size() == b.size();
}

}  // namespace

std::string pathOf(const NamedValue& v) { return v.layer ? std::to_string(*v.layer) + "/" + v.name : v.name; }

template <class F>
void NamedValues::guarded(F&& f) noexcept {
    if (error_) return;
    try {
        f();
    } catch (...) {
        error_ = std::current_exception();
        kept_.clear();
    }
}

void NamedValues::onOp(const OpEvent& event) {
    if (event.inPlace) return;  // the cache's copy of keys and values, or rows on their way into a larger value
    guarded([&] {
        if (event.op == "groupedAttention") keep(event.scope, "attn_probs", true, attentionProbabilities(event).ref());
        keep(event.scope, nameAfterWeight(event), false, event.out);
        for (const TensorRef& out : event.moreOut) keep(event.scope, nameAfterWeight(event), false, out);
    });
}

void NamedValues::onName(std::string_view name, const TensorRef& value, const std::string& scope) {
    guarded([&] {
        if (layerOf(scope) == layer_)
            for (Kept& kept : kept_)
                if (!kept.isSaid && sameValue(kept.value, value)) {
                    kept.name = name;
                    kept.isSaid = true;
                    return;
                }
        keep(scope, std::string(name), true, value);
    });
}

void NamedValues::finish() {
    guarded([&] { handOut(); });
    if (error_) std::rethrow_exception(error_);
}

void NamedValues::keep(const std::string& scope, std::string name, bool isSaid, const TensorRef& value) {
    if (const auto layer = layerOf(scope); layer != layer_) {
        handOut();
        layer_ = layer;
    }
    Kept kept{std::move(name), isSaid, value, Buffer::sharing(value.owner)};
    if (!value.owner || !value.isDense()) {  // somebody else's memory may be gone soon
        Owned copied = erased::copyDense(value);
        kept.buffer = std::move(copied.buffer);
        kept.value.data = copied.ref.data;
        kept.value.stride = copied.ref.stride;
    }
    kept_.push_back(std::move(kept));
}

void NamedValues::handOut() {
    std::vector<std::string> used;
    for (Kept& kept : kept_) {
        std::string name = kept.name;
        for (std::size_t n = 2; std::ranges::find(used, name) != used.end(); ++n)
            name = kept.name + "_" + std::to_string(n);
        used.push_back(name);
        take_({layer_, std::move(name), kept.value});
        kept.buffer = {};
    }
    kept_.clear();
}

}  // namespace axial::llm
