// Folders as Hugging Face publishes models: config.json, and what the tensors are called.
#include "axial/llm/hugging_face.h"

#include <doctest/doctest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "axial/llm/load.h"
#include "axial/tensor/error.h"
#include "oracle.h"
#include "temporary_folder.h"

using namespace axial;
using namespace axial::llm;
using axial::llm::test::TemporaryFolder;
using Json = nlohmann::json;

namespace {

Json small() {
    return {{"model_type", "qwen3"},  {"hidden_size", 64},           {"intermediate_size", 96},
            {"num_hidden_layers", 2}, {"num_attention_heads", 4},    {"num_key_value_heads", 2},
            {"head_dim", 32},         {"vocab_size", 100},           {"max_position_embeddings", 4096},
            {"rms_norm_eps", 1e-6},   {"rope_theta", 1000000.0},     {"rope_scaling", nullptr},
            {"hidden_act", "silu"},   {"tie_word_embeddings", true}, {"use_sliding_window", false},
            {"attention_bias", false}};
}

HuggingFaceConfig read(const Json& json) {
    const TemporaryFolder folder;
    return readConfig(folder.write("config.json", json.dump()));
}

// A copy of a folder of the reference models.
void copyFolder(const std::filesystem::path& from, const TemporaryFolder& to) {
    for (const auto& entry : std::filesystem::directory_iterator(from))
        std::filesystem::copy_file(entry.path(), to.path() / entry.path().filename());
}

}  // namespace

TEST_CASE("hugging face: tensors by the names that GGUF has for them") {
    CHECK(ggufNameOf("model.embed_tokens.weight") == "token_embd.weight");
    CHECK(ggufNameOf("embed_tokens.weight") == "token_embd.weight");  // of a base model
    CHECK(ggufNameOf("lm_head.weight") == "output.weight");
    CHECK(ggufNameOf("model.norm.weight") == "output_norm.weight");
    CHECK(ggufNameOf("model.layers.0.input_layernorm.weight") == "blk.0.attn_norm.weight");
    CHECK(ggufNameOf("model.layers.27.self_attn.q_proj.bias") == "blk.27.attn_q.bias");
    CHECK(ggufNameOf("model.layers.3.post_attention_layernorm.weight") == "blk.3.ffn_norm.weight");
    CHECK(ggufNameOf("model.layers.3.mlp.down_proj.weight") == "blk.3.ffn_down.weight");
    for (const char* other :
         {"", "weight", "model.layers.x.mlp.up_proj.weight", "model.layers.1", "model.layers..a.weight",
          "model.layers.1.self_attn.rotary_emb.inv_freq", "visual.norm.weight"})
        CHECK(ggufNameOf(other) == other);
}

TEST_CASE("hugging face: config.json") {
    const HuggingFaceConfig config = read(small());
    const Hyperparameters& h = config.hyperparameters;
    CHECK(h.architecture == "qwen3");
    CHECK(h.layers == 2);
    CHECK(h.heads == 4);
    CHECK(h.kvHeads == 2);
    CHECK(h.channels == 32);
    CHECK(h.ropeChannels == 32);
    CHECK(h.contextLength == 4096);
    CHECK(h.normEpsilon == 1e-6f);
    CHECK(h.ropeTheta == 1e6);
    CHECK(config.tiedHead);
    CHECK(h.ropeScaling.kind == RopeScaling::Kind::none);

    Json json = small();
    json.erase("head_dim");
    json.erase("num_key_value_heads");
    json.erase("tie_word_embeddings");
    json.erase("rope_theta");
    json["rope_scaling"] = {{"rope_type", "yarn"}, {"factor", 4.0}, {"original_max_position_embeddings", 1024}};
    const HuggingFaceConfig other = read(json);
    CHECK(other.hyperparameters.channels == 16);
    CHECK(other.hyperparameters.kvHeads == 4);
    CHECK_FALSE(other.tiedHead);
    CHECK(other.hyperparameters.ropeTheta == 10000);
    CHECK(other.hyperparameters.ropeScaling.kind == RopeScaling::Kind::yarn);
    CHECK(other.hyperparameters.ropeScaling.originalContext == 1024);

    json = small();
    json.erase("rope_theta");  // as newer files have it
    json["rope_parameters"] = {{"rope_type", "llama3"},   {"rope_theta", 5e5},
                               {"factor", 8.0},           {"low_freq_factor", 1.0},
                               {"high_freq_factor", 4.0}, {"original_max_position_embeddings", 8192}};
    const Hyperparameters third = read(json).hyperparameters;
    CHECK(third.ropeTheta == 5e5);
    CHECK(third.ropeScaling.kind == RopeScaling::Kind::llama3);
    CHECK(third.ropeScaling.highFrequencyFactor == 4);
}

TEST_CASE("hugging face: a config.json that is wrong, or wants what is not done, is refused by the key's name") {
    const auto wrong = [](const char* key, const Json& value) {
        CAPTURE(key);
        Json json = small();
        json[key] = value;
        CHECK_THROWS_WITH_AS(read(json), doctest::Contains(key), FileError);
    };
    wrong("hidden_size", nullptr);
    wrong("hidden_size", 0);
    wrong("hidden_size", -3);
    wrong("hidden_size", "64");
    wrong("hidden_size", 1u << 25);
    wrong("num_hidden_layers", 2.5);
    wrong("num_key_value_heads", 3);
    wrong("rms_norm_eps", 0);
    wrong("rope_theta", -1.0);
    wrong("rope_scaling", 7);
    wrong("model_type", nullptr);
    wrong("model_type", 3);
    wrong("tie_word_embeddings", "yes");
    const auto unsupported = [](const char* key, const Json& value) {
        CAPTURE(key);
        Json json = small();
        json[key] = value;
        CHECK_THROWS_WITH_AS(read(json), doctest::Contains(key), UnsupportedError);
    };
    unsupported("hidden_act", "gelu");
    unsupported("use_sliding_window", true);
    unsupported("attention_bias", true);
    unsupported("mlp_bias", true);
    unsupported("quantization_config", {{"quant_method", "awq"}});
    unsupported("rope_scaling", {{"type", "dynamic"}, {"factor", 2.0}});
    const TemporaryFolder folder;
    for (const char* text : {"", "[]", "{\"model_type\": 1e999}", "\xff"})
        CHECK_THROWS_AS(readConfig(folder.write("config.json", text)), FileError);
}

TEST_CASE("hugging face: a folder is loaded as a whole or refused") {
    if (!oracle::present()) return;
    const TemporaryFolder folder;
    copyFolder(oracle::path("models/tiny-qwen2-hf-BF16"), folder);
    CHECK(load(folder.path()).notes.empty());
    CHECK_NOTHROW(load(folder.path() / "model.safetensors"));

    const auto config = [&](const char* key, const Json& value) {
        Json json = oracle::json("models/tiny-qwen2-hf-BF16/config.json");
        json[key] = value;
        folder.write("config.json", json.dump());
    };
    config("hidden_size", 64);  // every tensor is then of another size
    CHECK_THROWS_WITH_AS(load(folder.path()),
                         doctest::Contains("tensor token_embd.weight has the extents [512, 128], but the"), FileError);
    config("tie_word_embeddings", false);
    CHECK_THROWS_WITH_AS(load(folder.path()), doctest::Contains("lm_head.weight"), FileError);
    config("model_type", "gpt2");
    CHECK_THROWS_WITH_AS(load(folder.path()), doctest::Contains("architecture \"gpt2\" is not supported"),
                         UnsupportedError);
    config("num_hidden_layers", 1);
    CHECK(load(folder.path()).notes.front() == "12 tensors of the file are not used, the first is blk.1.attn_k.bias");
    config("num_hidden_layers", 3);
    CHECK_THROWS_WITH_AS(load(folder.path()), doctest::Contains("blk.2.attn_norm.weight"), FileError);
    std::filesystem::remove(folder.path() / "config.json");
    CHECK_THROWS_WITH_AS(load(folder.path()), doctest::Contains("a folder without config.json"), FileError);
    CHECK_THROWS_WITH_AS(load(folder.write("model.bin", "PK\x03\x04")), doctest::Contains("not a GGUF file"),
                         UnsupportedError);
}

TEST_CASE("hugging face: generation_config.json advises the sampling") {
    if (!oracle::present()) return;
    const TemporaryFolder folder;
    copyFolder(oracle::path("models/tiny-qwen2-hf-BF16"), folder);
    const ModelFile plain = ModelFile::open(folder.path());
    CHECK(plain.advisedSampling(true).temperature == 0.6);  // the Qwen3 model card's
    folder.write(
        "generation_config.json",
        R"({"do_sample": true, "temperature": 0.9, "top_k": 7, "top_p": 0.5, "typical_p": 0.8, "repetition_penalty": 1.1})");
    const SamplerSettings s = plain.advisedSampling(true);
    CHECK(s.temperature == 0.9);
    CHECK(s.topK == 7);
    CHECK(s.topP == 0.5);
    CHECK(s.typicalP == 0.8);
    CHECK(s.penalties.repeat == 1.1);
    folder.write("generation_config.json", R"({"do_sample": false, "temperature": 0.9})");
    CHECK(plain.advisedSampling(false).temperature == 0);
    folder.write("generation_config.json", R"({"temperature": "hot"})");
    CHECK_THROWS_WITH_AS((void)plain.advisedSampling(false), doctest::Contains("key temperature"), FileError);
}
