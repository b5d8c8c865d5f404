// The values of a forward pass by name: "layer 3: attn_norm [seq=7, embed=128]".
//
// A name is said once for all families. What is made with a weight is called like the weight (w.attn_norm, w.ffn_gate,
// ...); what is not, or has another name in the literature, is called by named(...) (tensor/observe.h) in the code
// that the families share: decoder.cpp, step.h, feed_forward.h. In the order of computation, a dense block has
//   layer_in, attn_norm, attn_q, attn_k, attn_v (before bias, norm and rotation, if there are any), q, k, v,
//   attn_probs, attn_heads, attn_out, attn_residual, ffn_norm, ffn_gate, ffn_up, ffn_inner, ffn_out, layer_out
// where attn_probs is computed for who watches (attention_probabilities.h). A block with experts has router_logits,
// router_weights and router_selected in the place of ffn_gate, ffn_up and ffn_inner. Outside of the blocks there are
// tokens, embedding, output_norm and logits.
#pragma once
#include <exception>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "axial/llm/decoder.h"
#include "axial/llm/model.h"
#include "axial/tensor/buffer.h"
#include "axial/tensor/observe.h"

namespace axial::llm {

struct NamedValue {
    std::optional<std::size_t> layer;  // none: outside of the blocks
    std::string name;                  // no other value of the layer has it
    TensorRef value;                   // dense floats, or int32 of tokens and choices; readable during the call only
};

// Where a value is kept in a folder: "3/attn_norm", "logits".
std::string pathOf(const NamedValue&);

// The observer that names values. It hands a layer's values out when the next begins, as named() comes after the op.
class NamedValues final : public Observer {
  public:
    using Take = std::function<void(const NamedValue&)>;
    explicit NamedValues(Take take) : take_(std::move(take)) {}

    void onOp(const OpEvent&) override;
    void onName(std::string_view name, const TensorRef&, const std::string& scope) override;
    // After the pass: hands out what is left, or throws what `take` has thrown (it was not called again since).
    void finish();

  private:
    struct Kept {
        std::string name;
        bool isSaid;  // by named()
        TensorRef value;
        Buffer buffer;  // ops do not write into a buffer that is held here too
    };
    template <class F>
    void guarded(F&& f) noexcept;
    void keep(const std::string& scope, std::string name, bool isSaid, const TensorRef& value);
    void handOut();

    Take take_;
    std::optional<std::size_t> layer_;
    std::vector<Kept> kept_;
    std::exception_ptr error_;
};

// What model.forward(cache, tokens, LogitsOf::all) gives; `take` gets each value on the way, in the order in which they
// are computed. Ops run one by one then, also where they are fused otherwise; the results have the same bits.
// M is a Model, or what forwards to one on its own threads. Throws what forward throws, ValueError if there are more
// tokens than the blocks take at once, and what `take` throws, after the pass; the cache is then as it was.
template <class M>
Logits forwardNamed(const M& model, KvCache& cache, std::span<const TokenId> tokens, NamedValues::Take take) {
    if (tokens.size() > stepPositions)
        throw ValueError("forwardNamed: " + std::to_string(tokens.size()) +
                         " tokens do not go through the blocks at once; give at most " + std::to_string(stepPositions));
    const std::size_t before = cache.length();
    NamedValues values(std::move(take));
    try {
        const Watch watch(values);
        Logits logits = model.forward(cache, tokens, LogitsOf::all);
        values.finish();
        return logits;
    } catch (...) {
        cache.truncate(before);
        throw;
    }
}

}  // namespace axial::llm
