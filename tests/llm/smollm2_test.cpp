// Real weights: SmolLM2-135M-Instruct in Q4_1, from the file that AXIAL_SMOLLM2 names (scripts/fetch_peers.sh).
#include <algorithm>
#include <cstdlib>
#include <map>

#include "axial/llm/load.h"
#include "axial/llm/tokenizer.h"
#include "axial/ops/activations.h"
#include "oracle.h"

using namespace axial;
using namespace axial::llm;

namespace {

const LoadedModel* smollm2() {
    static const char* const file = std::getenv("AXIAL_SMOLLM2");
    if (!file) {
        MESSAGE("skipped: AXIAL_SMOLLM2 does not name SmolLM2-135M-Instruct.Q4_1.gguf");
        return nullptr;
    }
    static const LoadedModel loaded = load(file);
    return &loaded;
}

TokenId best(std::span<const float> logits) {
    return static_cast<TokenId>(std::max_element(logits.begin(), logits.end()) - logits.begin());
}

std::vector<TokenId> greedy(const Model& model, std::vector<TokenId> next, std::size_t count) {
    KvCache cache = model.makeCache(next.size() + count, Format::f16);
    std::vector<TokenId> ids;
    while (ids.size() < count) {
        const Logits logits = model.forward(cache, next, LogitsOf::last);
        next = {best(logits.values())};
        ids.push_back(next[0]);
    }
    return ids;
}

}  // namespace

TEST_CASE("SmolLM2: token ids, best logits and the greedy answer are the reference's") {
    const LoadedModel* loaded = smollm2();
    if (!loaded || !oracle::present()) return;
    const UseActivations exact(Activations::float32);
    const auto reference = oracle::json("smollm2/smollm2-135m-q4_1.json");
    const std::vector<TokenId> ids = reference.at("ids");
    CHECK(loaded->tokenizer->encode(reference.at("prompt").get<std::string>(), SpecialTokens::parse) == ids);

    KvCache cache = loaded->model->makeCache(ids.size(), Format::f32);
    const Logits logits = loaded->model->forward(cache, ids, LogitsOf::all);
    for (std::size_t i = 0; i < ids.size(); ++i) {
        CAPTURE(i);
        const std::vector<TokenId> top = reference.at("top_ids")[i];
        const std::vector<double> want = reference.at("top_logits")[i];
        std::vector<float> got;
        for (const TokenId id : top) got.push_back(logits(seq(i), vocab(static_cast<std::size_t>(id))));
        CHECK(oracle::distance(got, want).relativeRms <= 5e-6);
    }
    CHECK(greedy(*loaded->model, ids, 24) == reference.at("greedy_ids").get<std::vector<TokenId>>());
}

TEST_CASE("SmolLM2, as it is run by default, says that the capital of France is Paris") {
    const LoadedModel* loaded = smollm2();
    if (!loaded || !oracle::present()) return;
    const std::vector<TokenId> ids = oracle::json("smollm2/smollm2-135m-q4_1.json").at("ids");
    CHECK(loaded->tokenizer->decode(greedy(*loaded->model, ids, 24)).find("capital of France is Paris") !=
          std::string::npos);
}
