// Attention's weights against the reference's (models/ref/trace/*/attn_probs.npy), and against what they mix.
#include "axial/llm/attention_probabilities.h"

#include <algorithm>
#include <map>
#include <random>

#include "axial/llm/load.h"
#include "axial/ops/activations.h"
#include "axial/ops/dot.h"
#include "axial/ops/structure.h"
#include "axial/tensor/observe.h"
#include "oracle.h"

using namespace axial;
using namespace axial::llm;

namespace {

const std::vector<std::string> models{"tiny-qwen3-F32", "tiny-qwen2-F32", "tiny-llama-F32"};

// The probabilities of every call, and the largest difference between what they mix of the values and what the call
// gave. An Observer must not throw, so an error is kept.
class Probabilities : public Observer {
  public:
    void onOp(const OpEvent& event) override {
        if (event.op != "groupedAttention") return;
        try {
            auto p = attentionProbabilities(event);
            const std::size_t heads = p.extent(head), kvHeads = event.in[2].extent[0];
            const UseActivations exact(Activations::float32);
            const auto values = axial::copy(Stored<kvHead, key, channel>(event.in[2]));
            const View<const float, seq, head, channel> out(event.out);
            for (std::size_t h = 0; h < heads; ++h) {
                const auto mixed = dot(p(head(h)), values(kvHead(h / (heads / kvHeads))), key);  // [seq, channel]
                for (std::size_t i = 0; i < mixed.extent(seq); ++i)
                    for (std::size_t c = 0; c < mixed.extent(channel); ++c)
                        difference = std::max(difference,
                                              std::abs(mixed(seq(i), channel(c)) - out(seq(i), head(h), channel(c))));
            }
            calls.push_back(std::move(p));
            scopes.push_back(event.scope);
        } catch (const std::exception& e) {
            error = e.what();
        }
    }
    std::vector<AttentionProbabilities> calls;
    std::vector<std::string> scopes;
    float difference = 0;
    std::string error;
};

// The plain definition, in float64: p[head][query][key].
std::vector<double> defined(const std::vector<float>& q, const std::vector<float>& k, std::size_t queries,
                            std::size_t keys, std::size_t heads, std::size_t kvHeads, std::size_t channels,
                            const AttentionOptions& options) {
    std::vector<double> p(heads * queries * keys, 0.0);
    for (std::size_t h = 0; h < heads; ++h)
        for (std::size_t i = 0; i < queries; ++i) {
            const std::size_t at = keys - queries + i, end = options.causal ? at + 1 : keys,
                              begin = options.window && end > options.window ? end - options.window : 0;
            double sum = 0;
            for (std::size_t j = begin; j < end; ++j) {
                double score = 0;
                for (std::size_t c = 0; c < channels; ++c)
                    score += static_cast<double>(q[(i * heads + h) * channels + c]) *
                             k[(h / (heads / kvHeads) * keys + j) * channels + c];
                sum += p[(h * queries + i) * keys + j] =
                    std::exp(score * options.scale.value_or(1 / std::sqrt(static_cast<float>(channels))));
            }
            for (std::size_t j = begin; j < end; ++j) p[(h * queries + i) * keys + j] /= sum;
        }
    return p;
}

template <class F>
std::string errorOf(F&& f) {
    try {
        f();
    } catch (const Error& e) {
        return e.what();
    }
    return "";
}

}  // namespace

TEST_CASE("attention probabilities are the reference's") {
    if (!oracle::present()) return;
    const UseActivations exact(Activations::float32);
    const auto sequences = oracle::json("models/ref/sequences.json");
    const std::vector<TokenId> tokens = sequences.at("sequences")[sequences.at("trace_sequence").get<std::size_t>()];
    for (const std::string& name : models) {
        CAPTURE(name);
        const LoadedModel loaded = load(oracle::path("models/" + name + ".gguf"));
        const auto want = oracle::readNpy(oracle::path("models/ref/trace/" + name + "/attn_probs.npy"));
        for (const std::size_t step : {tokens.size(), std::size_t{3}, std::size_t{1}}) {
            CAPTURE(step);
            KvCache cache = loaded.model->makeCache(tokens.size(), Format::f32);
            Probabilities seen;
            {
                const Watch watch(seen);
                for (std::size_t i = 0; i < tokens.size(); i += step)
                    (void)loaded.model->forward(cache, std::span(tokens).subspan(i, std::min(step, tokens.size() - i)),
                                                LogitsOf::all);
            }
            REQUIRE(seen.error.empty());
            CHECK(seen.difference < 1e-5f);
            const std::string layer = "layer " + std::to_string(sequences.at("trace_layer").get<int>()) + "/";
            std::size_t first = 0;
            for (std::size_t call = 0; call < seen.calls.size(); ++call) {
                if (!seen.scopes[call].starts_with(layer)) continue;
                const AttentionProbabilities& p = seen.calls[call];
                for (std::size_t h = 0; h < p.extent(head); ++h)
                    for (std::size_t i = 0; i < p.extent(seq); ++i)
                        for (std::size_t j = 0; j < p.extent(key); ++j)
                            CHECK(std::abs(p(head(h), seq(i), key(j)) -
                                           want.values[(h * tokens.size() + first + i) * tokens.size() + j]) < 1e-5);
                first += p.extent(seq);
            }
            CHECK(first == tokens.size());
        }
    }
}

TEST_CASE("attention probabilities mix the values to what attention gives, for every format of the cache") {
    if (!oracle::present()) return;
    const std::vector<TokenId> tokens = oracle::json("models/ref/sequences.json").at("sequences")[0];
    bool blocksCovered = false;
    for (const std::string& name : models)
        for (const Format format : {Format::f32, Format::f16, Format::q8_0}) {
            CAPTURE(name);
            CAPTURE(nameOf(format));
            const LoadedModel loaded = load(oracle::path("models/" + name + ".gguf"));
            if (format == Format::q8_0 && loaded.model->hyperparameters().channels % 32 != 0) continue;
            blocksCovered |= format == Format::q8_0;
            KvCache cache = loaded.model->makeCache(tokens.size(), format);
            Probabilities seen;
            const Watch watch(seen);
            for (std::size_t i = 0; i < tokens.size(); i += 5)
                (void)loaded.model->forward(
                    cache, std::span(tokens).subspan(i, std::min<std::size_t>(5, tokens.size() - i)), LogitsOf::all);
            CHECK(seen.error.empty());
            CHECK(seen.difference < 2e-5f);
            CHECK(seen.calls.size() == (tokens.size() + 4) / 5 * cache.layers());
        }
    CHECK(blocksCovered);
}

TEST_CASE("attention probabilities: windows, scales and past keys, against the plain definition") {
    std::mt19937 random(7);
    std::normal_distribution<float> normal;
    constexpr std::size_t heads = 6, kvHeads = 2, channels = 8;
    for (const std::size_t queries : {1, 4, 9})
        for (const std::size_t past : {0, 5})
            for (const AttentionOptions& options : {AttentionOptions{}, AttentionOptions{.scale = 1.5f},
                                                    AttentionOptions{.causal = false}, AttentionOptions{.window = 3}}) {
                const std::size_t keys = past + queries;
                std::vector<float> qs(queries * heads * channels), ks(keys * kvHeads * channels);
                for (float& x : qs) x = normal(random);
                for (float& x : ks) x = normal(random);
                const auto q = tensor<float>(qs, seq(queries), head(heads), channel(channels));
                const auto k = tensor<float>(ks, kvHead(kvHeads), key(keys), channel(channels));
                const auto p = attentionProbabilities(q, Stored<kvHead, key, channel>(k), options);
                const auto want = defined(qs, ks, queries, keys, heads, kvHeads, channels, options);
                CHECK(oracle::distance(p.values(), want).largest < 1e-6);
            }
}

TEST_CASE("attention probabilities: errors say what disagrees") {
    const auto q = zeros<float>(seq(3), head(4), channel(8));
    const auto k = zeros<float>(kvHead(3), key(3), channel(8));
    CHECK(errorOf([&] { (void)attentionProbabilities(q, Stored<kvHead, key, channel>(k)); }) ==
          "attentionProbabilities: axis head is 4, which is no multiple of axis kvHead, 3");
    const auto few = zeros<float>(kvHead(2), key(2), channel(8));
    CHECK(errorOf([&] { (void)attentionProbabilities(q, Stored<kvHead, key, channel>(few)); }) ==
          "attentionProbabilities: axis seq is 3 and axis key is 2, but the last query sits on the last key");
    CHECK(errorOf([&] {
              (void)attentionProbabilities(q, Stored<kvHead, key, channel>(few), {.causal = false, .window = 1});
          }) == "attentionProbabilities: a window of 1 needs causal");
    OpEvent event;
    event.op = "dot";
    CHECK(errorOf([&] { (void)attentionProbabilities(event); }) ==
          "attentionProbabilities: a call of dot with 0 operands; groupedAttention without a bias has 3 and is wanted");
}
