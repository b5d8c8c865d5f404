// Every intermediate value of a block, as an observer sees it, against the reference's (models/ref/trace).
#include <algorithm>

#include "axial/llm/load.h"
#include "axial/ops/activations.h"
#include "axial/ops/dot.h"
#include "axial/ops/elementwise.h"
#include "axial/ops/softmax.h"
#include "axial/tensor/observe.h"
#include "oracle.h"

using namespace axial;
using namespace axial::llm;

namespace {

// Keeps the float results of one layer's ops, in the order in which they ran.
class LayerValues : public Observer {
  public:
    explicit LayerValues(std::string layer) : layer_(std::move(layer)) {}
    void onOp(const OpEvent& event) override {
        if (event.scope != layer_ && !event.scope.starts_with(layer_ + "/")) return;
        if (event.out.format != Format::f32 || !event.out.isDense()) return;
        const auto* values = static_cast<const float*>(event.out.data);
        results.push_back(
            {event.scope.substr(std::min(event.scope.size(), layer_.size() + 1)) + "/" + std::string(event.op),
             {values, values + event.out.size()}});
        if (results.size() == 1) {
            const auto* in = static_cast<const float*>(event.in.at(0).data);
            input.assign(in, in + event.in[0].size());
        }
    }
    struct Result {
        std::string op;  // "attention/dot"
        std::vector<float> values;
    };
    std::vector<Result> results;
    std::vector<float> input;

  private:
    std::string layer_;
};

void check(const std::string& model, const std::string& name, std::span<const float> got) {
    CAPTURE(name);
    const auto want = oracle::readNpy(oracle::path("models/ref/trace/" + model + "/" + name + ".npy"));
    REQUIRE(got.size() == want.values.size());
    double largest = 0;
    for (const double v : want.values) largest = std::max(largest, std::abs(v));
    CHECK(oracle::distance(got, want.values).largest <= 1e-5 * largest);
}

// [head, seq, key], spelled with named axes from the traced heads.
std::vector<float> probabilities(std::span<const float> q, std::span<const float> k, std::size_t heads,
                                 std::size_t kvHeads) {
    const std::size_t n = 7, channels = q.size() / n / heads;
    const auto queries = tensor<float>(q, seq(n), head(heads), channel(channels));
    const auto keys = tensor<float>(k, key(n), kvHead(kvHeads), channel(channels));
    const auto grouped = queries.split(head, kvHead(kvHeads), group);  // [seq, kvHead, group, channel]
    auto scores =
        scale(dot(grouped, keys, channel), 1 / std::sqrt(static_cast<float>(channels)));  // [kvHead, seq, group, key]
    auto hidden = zeros<float>(seq(n), key(n));
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = i + 1; j < n; ++j) hidden(seq(i), key(j)) = -INFINITY;
    const auto p = softmax(add(std::move(scores), hidden), key);
    std::vector<float> out;
    for (std::size_t h = 0; h < heads; ++h)
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t j = 0; j < n; ++j)
                out.push_back(p(kvHead(h / (heads / kvHeads)), seq(i), group(h % (heads / kvHeads)), key(j)));
    return out;
}

}  // namespace

TEST_CASE("the values inside a block are the reference's") {
    if (!oracle::present()) return;
    const UseActivations exact(Activations::float32);
    const auto sequences = oracle::json("models/ref/sequences.json");
    const std::vector<TokenId> tokens = sequences.at("sequences")[sequences.at("trace_sequence").get<std::size_t>()];
    for (const std::string model : {"tiny-qwen3-F32", "tiny-qwen2-F32", "tiny-llama-F32"}) {
        CAPTURE(model);
        const LoadedModel loaded = load(oracle::path("models/" + model + ".gguf"));
        KvCache cache = loaded.model->makeCache(tokens.size(), Format::f32);
        LayerValues values("layer " + std::to_string(sequences.at("trace_layer").get<int>()));
        {
            const Watch watch(values);
            (void)loaded.model->forward(cache, tokens, LogitsOf::all);
        }
        using Ops = std::vector<std::pair<std::string, std::string>>;  // and what the reference calls their results
        Ops wanted{{"attention/rmsNormMul", "attn_norm"}, {"attention/dot", ""}, {"attention/dot", ""}};
        const Ops turned = model == "tiny-qwen2-F32"
                               ? Ops{{"attention/dot", ""}, {"attention/add", ""},       {"attention/ropeHalf", "q"},
                                     {"attention/add", ""}, {"attention/ropeHalf", "k"}, {"attention/add", "v"}}
                               : Ops{{"attention/dot", "v"}};
        wanted.insert(wanted.end(), turned.begin(), turned.end());
        if (model != "tiny-qwen2-F32")
            for (const char* name : {"q", "k"})
                wanted.emplace_back(
                    model == "tiny-qwen3-F32" ? "attention/rmsNormMulRopeHalf" : "attention/ropeInterleaved", name);
        const Ops rest{{"attention/groupedAttention", "attn_heads"},
                       {"attention/dot", "attn_out"},
                       {"attention/add", "attn_residual"},
                       {"feedForward/rmsNormMul", "ffn_norm"},
                       {"feedForward/dot", ""},
                       {"feedForward/dot", ""},
                       {"feedForward/swiglu", ""},
                       {"feedForward/dot", "ffn_out"},
                       {"feedForward/add", "layer_out"}};
        wanted.insert(wanted.end(), rest.begin(), rest.end());
        check(model, "layer_in", values.input);
        std::vector<LayerValues::Result> results;
        for (auto& result : values.results)
            if (!result.op.ends_with("/store")) results.push_back(result);
        REQUIRE(results.size() == wanted.size());
        std::span<const float> q, k;
        for (std::size_t i = 0; i < wanted.size(); ++i) {
            CHECK(results[i].op == wanted[i].first);
            if (wanted[i].second == "q") q = results[i].values;
            if (wanted[i].second == "k") k = results[i].values;
            if (!wanted[i].second.empty()) check(model, wanted[i].second, results[i].values);
        }
        check(model, "attn_probs",
              probabilities(q, k, loaded.model->hyperparameters().heads, loaded.model->hyperparameters().kvHeads));
    }
}
