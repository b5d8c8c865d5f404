// A whole run beside saved values.
#include "axial/llm/compare_run.h"

#include <doctest/doctest.h>

#include "axial/llm/load.h"
#include "axial/ops/activations.h"
#include "oracle.h"

using namespace axial;
using namespace axial::llm;

namespace {

const std::vector<TokenId> question{379, 285, 284, 553, 30};  // What is an axis?

ReferenceValues savedValues() {
    return ReferenceValues::open(std::filesystem::path(AXIAL_TEST_DATA) / "bundled_values.safetensors");
}

}  // namespace

TEST_CASE("the bundled model's values are those of transformers") {
    const LoadedModel loaded = loadBundled();
    const UseActivations exact(Activations::float32);
    const RunComparison run = compareRun(*loaded.model, question, savedValues(), 1e-5);
    CHECK(run.firstDeparture() == nullptr);
    CHECK(run.values.size() > 20);
    INFO(textOf(run));
    CHECK(textOf(run).starts_with("all "));
}

TEST_CASE("a run's first departure is the first in the order of computation") {
    const LoadedModel loaded = loadBundled();
    const UseActivations exact(Activations::float32);
    ReferenceValues reference = savedValues();
    // Two numbers are altered, the later value first.
    for (const char* name : {"model.layers.1.input_layernorm", "model.layers.0.self_attn.v_proj"})
        for (ReferenceValue& value : reference.values)
            if (value.saved == name) {
                auto numbers = std::make_shared<std::vector<float>>(value.tensor.bytes / sizeof(float));
                std::memcpy(numbers->data(), value.tensor.data, value.tensor.bytes);
                (*numbers)[130] = 12;  // seq 1, kvHead 0, channel 2
                value.tensor.data = reinterpret_cast<const std::byte*>(numbers->data());
                value.tensor.mapping = std::move(numbers);
            }
    const RunComparison run = compareRun(*loaded.model, question, reference, 1e-4);
    const ComparedValue* first = run.firstDeparture();
    REQUIRE(first);
    CHECK(first->path == "0/v");
    CHECK(first->difference.at == std::vector<std::size_t>{1, 0, 2});
    const std::string text = textOf(run);
    CHECK(text.starts_with("0/v is the first to depart from the reference, model.layers.0.self_attn.v_proj\n"));
    CHECK(text.find("at seq 1, kvHead 0, channel 2 got ") != text.npos);
    CHECK(text.find("wanted 12\n") != text.npos);
    CHECK(text.find("1 of 640 numbers depart, the first at seq 1, kvHead 0, channel 2\n") != text.npos);
    CHECK(text.find("\n1/attn_norm ") != text.npos);
}

TEST_CASE("a reference of nothing in the run, and a run of nothing in the reference, are listed") {
    const LoadedModel loaded = loadBundled();
    ReferenceValues reference = savedValues();
    std::erase_if(reference.values, [](const ReferenceValue& value) { return value.saved != "model.layers.1"; });
    ReferenceValue odd = reference.values.front();
    odd.saved = "model.layers.1.mlp.act_fn";
    odd.name = valueNameOf(odd.saved);
    reference.values.push_back(odd);
    reference.unread.emplace_back("a mask of bits");
    const RunComparison run = compareRun(*loaded.model, question, reference, 0.01);
    REQUIRE(run.values.size() == 1);
    CHECK(run.values[0].path == "1/layer_out");
    CHECK(run.notInRun == std::vector<std::string>{"model.layers.1.mlp.act_fn"});
    CHECK(run.withoutReference.front() == "tokens");
    CHECK(run.withoutReference.back() == "logits");
    const std::string text = textOf(run);
    CHECK(text.find("all outside of the layers, all of layer 0, 1/layer_in, ") != text.npos);
    CHECK(text.find("saved, but no value of this run:\n  model.layers.1.mlp.act_fn\n") != text.npos);
    CHECK(text.find("saved in a way that is not compared:\n  a mask of bits\n") != text.npos);
}

TEST_CASE("the values of a block are the reference's, by name (models/ref/trace)") {
    if (!oracle::present()) return;
    const UseActivations exact(Activations::float32);
    const auto sequences = oracle::json("models/ref/sequences.json");
    const std::vector<TokenId> tokens = sequences.at("sequences")[sequences.at("trace_sequence").get<std::size_t>()];
    for (const std::string model : {"tiny-qwen3-F32", "tiny-qwen2-F32", "tiny-llama-F32"}) {
        CAPTURE(model);
        const LoadedModel loaded = load(oracle::path("models/" + model + ".gguf"));
        const auto reference = ReferenceValues::open(oracle::path("models/ref/trace/" + model),
                                                     sequences.at("trace_layer").get<std::size_t>());
        const RunComparison run = compareRun(*loaded.model, tokens, reference, 1e-5);
        CHECK(run.firstDeparture() == nullptr);
        CHECK(run.values.size() == 12);
        CHECK(run.notInRun.empty());
    }
}
