// The families against float64 forward passes that share no code with them (the reference data's models/).
#include <algorithm>

#include "axial/llm/load.h"
#include "axial/ops/activations.h"
#include "axial/ops/split_floats.h"
#include "oracle.h"

using namespace axial;
using namespace axial::llm;

namespace {

std::vector<std::vector<TokenId>> sequences() {
    return oracle::json("models/ref/sequences.json").at("sequences").get<std::vector<std::vector<TokenId>>>();
}

// Every model of the families that run, in GGUF or in a folder with safetensors.
std::vector<std::string> modelNames() {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(oracle::path("models"))) {
        const std::string name = entry.path().stem().string();
        if (name.starts_with("tiny-")) names.push_back(name);
    }
    std::sort(names.begin(), names.end());
    return names;
}

LoadedModel loadOracle(const std::string& name) {
    const bool folder = name.find("-hf-") != name.npos;
    return load(oracle::path("models/" + name + (folder ? "" : ".gguf")));
}

// The logits of all positions of all sequences, each from an empty cache, one after the other.
std::vector<float> allLogits(const Model& model, Format cacheFormat) {
    std::vector<float> all;
    for (const auto& tokens : sequences()) {
        KvCache cache = model.makeCache(tokens.size(), cacheFormat);
        const Logits logits = model.forward(cache, tokens, LogitsOf::all);
        all.insert(all.end(), logits.values().begin(), logits.values().end());
    }
    return all;
}

// Weights of 16 and 32 bits meet activations that are not rounded, but for F16 on some machines, where they are to 16
// bits.
bool meetsFloatActivations(const std::string& name) {
    if (name.ends_with("-F16") && kernels::splitWanted(Format::f16)) return false;
    return name.ends_with("F32") || name.ends_with("F16");
}

}  // namespace

TEST_CASE("logits in float are the reference's, for every format") {
    if (!oracle::present()) return;
    const UseActivations exact(Activations::float32);
    for (const std::string& name : modelNames()) {
        CAPTURE(name);
        const LoadedModel loaded = loadOracle(name);
        const auto want = oracle::readNpy(oracle::path("models/ref/" + name + ".logits.npy"));
        const auto d = oracle::distance(allLogits(*loaded.model, Format::f32), want.values);
        CHECK(d.relativeRms <= 5e-6);
        CHECK(d.largest <= 5e-4);
    }
}

TEST_CASE("logits with a 16-bit cache are within its rounding") {
    if (!oracle::present()) return;
    const UseActivations exact(Activations::float32);
    for (const std::string name :
         {"tiny-qwen3-F32", "tiny-llama-F32", "tiny-qwen2-F32", "tiny-qwen3-256-Q4_K", "tiny-qwen3moe-F32"}) {
        CAPTURE(name);
        const LoadedModel loaded = loadOracle(name);
        const auto want = oracle::readNpy(oracle::path("models/ref/" + name + ".logits.npy"));
        const auto d = oracle::distance(allLogits(*loaded.model, Format::f16), want.values);
        CHECK(d.relativeRms <= 2e-3);
        CHECK(d.relativeRms > 1e-6);  // it is a 16-bit cache
    }
}

TEST_CASE("logits as they are computed by default are nearly exact, and nearer than llama.cpp's, for every format") {
    if (!oracle::present()) return;
    const auto agreement = oracle::json("models/ref/agreement.json");
    for (const std::string& name : modelNames()) {
        CAPTURE(name);
        const LoadedModel loaded = loadOracle(name);
        const auto want = oracle::readNpy(oracle::path("models/ref/" + name + ".logits.npy"));
        const auto d = oracle::distance(allLogits(*loaded.model, Format::f32), want.values);
        CHECK(d.relativeRms <= (meetsFloatActivations(name) ? 5e-6 : name.ends_with("-F16") ? 2e-5 : 3e-4));
        const auto& distances = agreement.at(name);  // of a folder: of llama.cpp on the same weights in F32
        const auto& peers =
            distances.contains("llama_f32_cache") ? distances["llama_f32_cache"] : distances["llama_f32_weights"];
        const double peer = peers.at("rel_rms");
        CHECK(d.relativeRms <= std::max(peer, 1e-6));
    }
}

TEST_CASE("logits with 8-bit activations are within what their rounding costs") {
    if (!oracle::present()) return;
    const UseActivations rounded(Activations::int8);
    for (const std::string& name : modelNames()) {
        CAPTURE(name);
        const LoadedModel loaded = loadOracle(name);
        const auto want = oracle::readNpy(oracle::path("models/ref/" + name + ".logits.npy"));
        const auto d = oracle::distance(allLogits(*loaded.model, Format::f32), want.values);
        // a router's choice may flip
        const double most = name.starts_with("tiny-qwen3moe-") ? 0.12 : name.ends_with("-F16") ? 2e-5 : 0.05;
        CHECK(d.relativeRms <= (meetsFloatActivations(name) ? 5e-6 : most));
    }
}

TEST_CASE("greedy continuations are the reference's where the gap to the second best is wide") {
    if (!oracle::present()) return;
    const UseActivations exact(Activations::float32);
    const auto models = oracle::json("models/ref/models.json");
    for (const std::string& name : modelNames()) {
        CAPTURE(name);
        const auto& reference = models.at(name);
        if (reference.at("greedy_min_gap").get<double>() < 1e-3) continue;
        const LoadedModel loaded = loadOracle(name);
        KvCache cache = loaded.model->makeCache(64, Format::f32);
        std::vector<TokenId> next = reference.at("greedy_prompt"), ids;
        while (ids.size() < 24) {
            const Logits logits = loaded.model->forward(cache, next, LogitsOf::last);
            const auto values = logits.values();
            next = {static_cast<TokenId>(std::max_element(values.begin(), values.end()) - values.begin())};
            ids.push_back(next[0]);
        }
        CHECK(ids == reference.at("greedy_ids").get<std::vector<TokenId>>());
    }
}

TEST_CASE("a forward pass that is refused leaves the cache as it was") {
    if (!oracle::present()) return;
    const LoadedModel loaded = loadOracle("tiny-qwen3-Q8_0");
    KvCache cache = loaded.model->makeCache(8, Format::f16);
    const std::vector<TokenId> some{1, 2, 3};
    const Logits before = loaded.model->forward(cache, some, LogitsOf::last);
    CHECK_THROWS_WITH_AS((void)loaded.model->forward(cache, {}, LogitsOf::last),
                         "forward: there are no tokens; give at least one", ValueError);
    CHECK_THROWS_WITH_AS((void)loaded.model->forward(cache, std::vector<TokenId>{5, 512}, LogitsOf::last),
                         "forward: token 512 is not in the vocabulary of 512", ValueError);
    CHECK_THROWS_WITH_AS((void)loaded.model->forward(cache, std::vector<TokenId>{-1}, LogitsOf::last),
                         "forward: token -1 is not in the vocabulary of 512", ValueError);
    CHECK_THROWS_WITH_AS((void)loaded.model->forward(cache, std::vector<TokenId>(6, 1), LogitsOf::last),
                         "forward: 6 tokens do not fit behind the 3 in a context of 8", ValueError);
    CHECK(cache.length() == 3);
    cache.truncate(0);
    const Logits after = loaded.model->forward(cache, some, LogitsOf::last);
    CHECK(std::equal(before.values().begin(), before.values().end(), after.values().begin()));
}
