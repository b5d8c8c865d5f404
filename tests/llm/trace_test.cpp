// The values inside a block, by name, against the reference's (models/ref/trace).
#include <map>

#include "axial/llm/load.h"
#include "axial/llm/named_values.h"
#include "axial/ops/activations.h"
#include "oracle.h"

using namespace axial;
using namespace axial::llm;

namespace {

struct Traced {
    std::vector<std::size_t> extents;
    std::vector<float> values;
};

// Every value of a pass over the tokens, by path ("1/attn_norm"), and the paths in their order.
struct Trace {
    std::map<std::string, Traced> values;
    std::vector<std::string> order;
    void take(const NamedValue& named) {
        const TensorRef& v = named.value;
        Traced traced{{v.extent.begin(), v.extent.begin() + v.rank}, {}};
        REQUIRE(v.isDense());
        for (std::size_t i = 0; i < v.size(); ++i)
            traced.values.push_back(v.format == Format::i32
                                        ? static_cast<float>(static_cast<const std::int32_t*>(v.data)[i])
                                        : static_cast<const float*>(v.data)[i]);
        order.push_back(pathOf(named));
        CAPTURE(order.back());
        CHECK(values.emplace(order.back(), std::move(traced)).second);
    }
};

struct Traceable {
    LoadedModel loaded;
    std::vector<TokenId> tokens;
    std::string layer;
    explicit Traceable(const std::string& model) : loaded(load(oracle::path("models/" + model + ".gguf"))) {
        const auto sequences = oracle::json("models/ref/sequences.json");
        sequences.at("sequences")[sequences.at("trace_sequence").get<std::size_t>()].get_to(tokens);
        layer = std::to_string(sequences.at("trace_layer").get<int>()) + "/";
    }
};

void check(const std::string& model, const std::string& name, std::span<const float> got) {
    CAPTURE(name);
    const auto want = oracle::readNpy(oracle::path("models/ref/trace/" + model + "/" + name + ".npy"));
    REQUIRE(got.size() == want.values.size());
    double largest = 0;
    for (const double v : want.values) largest = std::max(largest, std::abs(v));
    CHECK(oracle::distance(got, want.values).largest <= 1e-5 * largest);
}

}  // namespace

TEST_CASE("the values inside a block are the reference's, by the reference's names") {
    if (!oracle::present()) return;
    const UseActivations exact(Activations::float32);
    for (const std::string model : {"tiny-qwen3-F32", "tiny-qwen2-F32", "tiny-llama-F32", "tiny-qwen3moe-F32"}) {
        CAPTURE(model);
        const Traceable t(model);
        KvCache cache = t.loaded.model->makeCache(t.tokens.size(), Format::f32);
        Trace trace;
        const Logits logits =
            forwardNamed(*t.loaded.model, cache, t.tokens, [&](const NamedValue& v) { trace.take(v); });
        CHECK(cache.length() == t.tokens.size());
        for (const char* name : {"layer_in", "attn_norm", "q", "k", "v", "attn_probs", "attn_heads", "attn_out",
                                 "attn_residual", "ffn_norm", "ffn_out", "layer_out"}) {
            REQUIRE(trace.values.contains(t.layer + name));
            check(model, name, trace.values.at(t.layer + name).values);
        }
        if (t.loaded.model->hyperparameters().experts.count != 0)
            for (const char* name : {"router_logits", "router_selected", "router_weights"}) {
                REQUIRE(trace.values.contains(t.layer + name));
                check(model, name, trace.values.at(t.layer + name).values);
            }
        CHECK(trace.values.at(t.layer + "attn_probs").extents.size() == 3);
        CHECK(trace.values.at("1/layer_in").values == trace.values.at("0/layer_out").values);
        CHECK(trace.values.at("0/layer_in").values == trace.values.at("embedding").values);
        CHECK(trace.values.at("logits").values == std::vector(logits.values().begin(), logits.values().end()));
        CHECK(trace.values.at("tokens").values == std::vector<float>(t.tokens.begin(), t.tokens.end()));
    }
}

TEST_CASE("every value of a pass has a name, and the same one in every family") {
    if (!oracle::present()) return;
    using Names = std::vector<std::string>;
    const std::map<std::string, Names> projections{
        {"tiny-qwen3-F32", {"attn_q", "attn_k", "v", "q", "k"}},
        {"tiny-qwen2-F32", {"attn_q", "attn_k", "attn_v", "attn_q_biased", "q", "attn_k_biased", "k", "v"}},
        {"tiny-llama-F32", {"attn_q", "attn_k", "v", "q", "k"}},
        {"tiny-qwen3moe-F32", {"attn_q", "attn_k", "v", "q", "k"}}};
    for (const auto& [model, between] : projections) {
        CAPTURE(model);
        const Traceable t(model);
        KvCache cache = t.loaded.model->makeCache(t.tokens.size(), Format::f32);
        Trace trace;
        (void)forwardNamed(*t.loaded.model, cache, t.tokens, [&](const NamedValue& v) { trace.take(v); });
        Names want{"tokens", "embedding"};
        for (std::size_t i = 0; i < t.loaded.model->hyperparameters().layers; ++i) {
            Names layer{"layer_in", "attn_norm"};
            layer.insert(layer.end(), between.begin(), between.end());
            layer.insert(layer.end(), {"attn_probs", "attn_heads", "attn_out", "attn_residual", "ffn_norm"});
            if (t.loaded.model->hyperparameters().experts.count != 0)
                layer.insert(layer.end(), {"router_logits", "router_weights", "router_selected"});
            else
                layer.insert(layer.end(), {"ffn_gate", "ffn_up", "ffn_inner"});
            layer.insert(layer.end(), {"ffn_out", "layer_out"});
            for (const std::string& name : layer) want.push_back(std::to_string(i) + "/" + name);
        }
        want.insert(want.end(), {"output_norm", "logits"});
        CHECK(trace.order == want);
    }
}

TEST_CASE("watching a pass by name changes no bit, and an error of who watches leaves the cache as it was") {
    if (!oracle::present()) return;
    const Traceable t("tiny-qwen3-Q8_0");
    const Model& model = *t.loaded.model;
    KvCache plain = model.makeCache(t.tokens.size(), Format::f16), watched = model.makeCache(600, Format::f16);
    const Logits want = model.forward(plain, t.tokens, LogitsOf::all);
    std::size_t values = 0;
    const auto half = std::span(t.tokens).first(3);
    CHECK_THROWS_WITH((void)forwardNamed(model, watched, t.tokens,
                                         [&](const NamedValue&) {
                                             if (++values == 5) throw std::runtime_error("the disk is full");
                                         }),
                      "the disk is full");
    CHECK(values == 5);
    CHECK(watched.length() == 0);
    (void)model.forward(watched, half, LogitsOf::last);
    const Logits got = forwardNamed(model, watched, std::span(t.tokens).subspan(3), [](const NamedValue&) {});
    CHECK(std::ranges::equal(got.values(), want.values().subspan(3 * want.extent(vocab))));
    const std::vector<TokenId> many(513, 1);
    CHECK_THROWS_AS((void)forwardNamed(model, watched, many, [](const NamedValue&) {}), ValueError);
    CHECK(watched.length() == t.tokens.size());
}
