// Mixtures of experts: what files say of them, dense blocks among sparse ones, and routers gone wrong.
#include "axial/llm/qwen3moe.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <map>

#include "axial/llm/hugging_face.h"
#include "axial/llm/load.h"
#include "axial/llm/tensor_axes.h"
#include "axial/tensor/error.h"
#include "llm/gguf_bytes.h"
#include "oracle.h"
#include "temporary_folder.h"

using namespace axial;
using namespace axial::llm;
using namespace axial::llm::test;
using Json = nlohmann::json;

namespace {

GgufBytes complete() {
    GgufBytes file;
    file.key("general.architecture", "qwen3moe");
    const std::pair<const char*, std::uint32_t> counts[] = {
        {"context_length", 64}, {"block_count", 2},          {"embedding_length", 128},   {"feed_forward_length", 256},
        {"expert_count", 8},    {"attention.head_count", 4}, {"attention.key_length", 64}};
    for (const auto& [key, count] : counts) file.key(std::string("qwen3moe.") + key, count);
    return file.key("qwen3moe.attention.layer_norm_rms_epsilon", 1e-6f);
}

// A folder of safetensors with a config.json of one's own.
struct Folder {
    Json config;
    Json header = Json::object();
    std::string data;
    std::map<std::string, std::string> other;  // files that are copied

    explicit Folder(const std::filesystem::path& from) {
        const auto read = [&](const char* name) {
            std::ifstream in(from / name, std::ios::binary);
            return std::string{std::istreambuf_iterator<char>(in), {}};
        };
        config = Json::parse(read("config.json"));
        const std::string file = read("model.safetensors");
        std::uint64_t length = 0;
        std::memcpy(&length, file.data(), sizeof length);
        const Json all = Json::parse(file.substr(8, length));
        for (const auto& [name, tensor] : all.items())
            if (name != "__metadata__")
                add(name, tensor.at("shape"),
                    file.substr(8 + length + tensor.at("data_offsets")[0].get<std::size_t>(),
                                tensor.at("data_offsets")[1].get<std::size_t>() -
                                    tensor.at("data_offsets")[0].get<std::size_t>()));
        for (const char* name : {"tokenizer.json", "tokenizer_config.json"}) other[name] = read(name);
    }
    void add(const std::string& name, const Json& shape, const std::string& bytes) {
        header[name] = {
            {"dtype", "BF16"}, {"shape", shape}, {"data_offsets", {data.size(), data.size() + bytes.size()}}};
        data += bytes;
    }
    std::string bytes(const std::string& name) const {
        const std::size_t begin = header.at(name).at("data_offsets")[0], end = header.at(name).at("data_offsets")[1];
        return data.substr(begin, end - begin);
    }
    // Without the tensors for which drop(name) is true.
    template <class F>
    void keep(F&& kept) {
        const Folder before = *this;
        header = Json::object();
        data.clear();
        for (const auto& [name, tensor] : before.header.items())
            if (kept(name)) add(name, tensor.at("shape"), before.bytes(name));
    }
    LoadedModel load(const TemporaryFolder& place) const {
        place.write("config.json", config.dump());
        for (const auto& [name, text] : other) place.write(name, text);
        const std::string head = header.dump();
        const std::uint64_t length = head.size();
        std::string file(reinterpret_cast<const char*>(&length), sizeof length);
        place.write("model.safetensors", file + head + data);
        return axial::llm::load(place.path());
    }
};

std::vector<float> logitsOf(const LoadedModel& loaded) {
    const std::vector<TokenId> tokens{1, 30, 100, 7, 7, 250, 3};
    KvCache cache = loaded.model->makeCache(16, Format::f32);
    const Logits logits = loaded.model->forward(cache, tokens, LogitsOf::all);
    return {logits.values().begin(), logits.values().end()};
}

bool isExpert(const std::string& name) { return name.find(".mlp.experts.") != name.npos; }

}  // namespace

TEST_CASE("qwen3moe: what a GGUF file says of its experts") {
    const auto read = [](GgufBytes file) { return readHyperparameters(parsed(file.bytes())).experts; };
    const GgufBytes some =
        complete().key("qwen3moe.expert_used_count", 2u).key("qwen3moe.expert_feed_forward_length", 96u);
    const ExpertParameters e = read(some);
    CHECK(e.count == 8);
    CHECK(e.used == 2);
    CHECK(e.ff == 96);
    CHECK(e.normalise);  // MOE-01: a GGUF file has no key for it
    CHECK(e.topP == 1);
    CHECK(e.in(0));
    CHECK(e.in(1));
    CHECK_FALSE(read(GgufBytes(some).key("qwen3moe.expert_weights_norm", false)).normalise);
    CHECK_THROWS_WITH_AS(read(complete()), doctest::Contains("qwen3moe.expert_used_count"), FileError);
    CHECK_THROWS_WITH_AS(read(complete().key("qwen3moe.expert_used_count", 2u)),
                         doctest::Contains("qwen3moe.expert_feed_forward_length"), FileError);
    CHECK_THROWS_WITH_AS(
        read(complete().key("qwen3moe.expert_used_count", 9u).key("qwen3moe.expert_feed_forward_length", 96u)),
        doctest::Contains("qwen3moe.expert_used_count is 9, more than the 8 experts"), FileError);
    for (const char* key : {"expert_shared_count", "expert_shared_feed_forward_length", "leading_dense_block_count",
                            "expert_group_count", "expert_gating_func", "interleave_moe_layer_step"}) {
        const std::string name = std::string("qwen3moe.") + key;
        CHECK_THROWS_WITH_AS(read(GgufBytes(some).key(name, 2u)), doctest::Contains(name.c_str()), UnsupportedError);
        CHECK(read(GgufBytes(some).key(name, 0u)).count == 8);
    }
    CHECK_THROWS_WITH_AS(read(GgufBytes(some).key("qwen3moe.expert_weights_scale", 2.5f)),
                         doctest::Contains("qwen3moe.expert_weights_scale"), UnsupportedError);
}

TEST_CASE("qwen3moe: experts have axes; architectures without experts refuse them, and the other way round") {
    if (!oracle::present()) return;
    const Hyperparameters h = ModelFile::open(oracle::path("models/tiny-qwen3moe-F32.gguf")).hyperparameters();
    CHECK(axesOfTensor(h, "blk.1.ffn_gate_exps.weight") == "expert=8, ff=96, embed=128");
    CHECK(axesOfTensor(h, "blk.1.ffn_down_exps.3.weight") == "embed=128, ff=96");
    CHECK(axesOfTensor(h, "blk.1.ffn_gate_inp.weight") == "expert=8, embed=128");
    CHECK(axesOfTensor(h, "blk.1.attn_q.weight") == "head=4, channel=64, embed=128");
    CHECK(axesOfTensor(h, "blk.1.ffn_exps.3.weight").empty());

    GgufBytes llama;
    llama.key("general.architecture", "llama").key("llama.expert_count", 8u).key("llama.expert_used_count", 2u);
    for (const char* key : {"context_length", "block_count", "embedding_length", "feed_forward_length",
                            "attention.head_count", "attention.key_length", "expert_feed_forward_length"})
        llama.key(std::string("llama.") + key, 2u);
    llama.key("llama.attention.layer_norm_rms_epsilon", 1e-6f);
    CHECK_THROWS_WITH_AS((void)load(ModelFile(parsed(llama.bytes()))),
                         doctest::Contains("architecture \"llama\" with experts is not supported"), UnsupportedError);
    GgufBytes none;
    none.key("general.architecture", "qwen3moe");
    for (const char* key : {"context_length", "block_count", "embedding_length", "feed_forward_length",
                            "attention.head_count", "attention.key_length"})
        none.key(std::string("qwen3moe.") + key, 2u);
    none.key("qwen3moe.attention.layer_norm_rms_epsilon", 1e-6f).key("qwen3moe.expert_count", 0u);
    CHECK_THROWS_WITH_AS((void)load(ModelFile(parsed(none.bytes()))),
                         doctest::Contains("is a mixture of experts, but the file gives no number of them"), FileError);
}

TEST_CASE("qwen3moe: config.json, and what it may not say") {
    if (!oracle::present()) return;
    const auto folder = oracle::path("models/tiny-qwen3moe-hf-BF16");
    std::ifstream in(folder / "config.json");
    const Json small = Json::parse(in);
    const auto read = [](const Json& json) {
        const TemporaryFolder place;
        return readConfig(place.write("config.json", json.dump())).hyperparameters;
    };
    const Hyperparameters h = read(small);
    CHECK(h.architecture == "qwen3moe");
    CHECK(h.experts.count == 8);
    CHECK(h.experts.used == 2);
    CHECK(h.experts.ff == 96);
    CHECK(h.experts.normalise);
    Json other = small;
    other.erase("norm_topk_prob");
    other["decoder_sparse_step"] = 3;
    other["mlp_only_layers"] = {5, 6};
    const ExpertParameters e = read(other).experts;
    CHECK_FALSE(e.normalise);
    std::vector<std::size_t> sparse;
    for (std::size_t i = 0; i < 12; ++i)
        if (e.in(i)) sparse.push_back(i);
    CHECK(sparse == std::vector<std::size_t>{2, 8, 11});

    const auto refused = [&](const char* key, const Json& value) {
        Json json = small;
        json[key] = value;
        CHECK_THROWS_WITH(read(json), doctest::Contains(key));
    };
    refused("num_experts", 0);
    refused("num_experts_per_tok", 9);
    refused("moe_intermediate_size", nullptr);
    refused("norm_topk_prob", 1);
    refused("decoder_sparse_step", 0);
    refused("mlp_only_layers", 3);
    refused("mlp_only_layers", Json::array({-1}));
    refused("shared_expert_intermediate_size", 96);
    refused("n_group", 2);
    refused("routed_scaling_factor", 2.5);
}

TEST_CASE("qwen3moe: a dense block among sparse ones is a mixture of one expert, bit for bit") {
    if (!oracle::present()) return;
    Folder sparse(oracle::path("models/tiny-qwen3moe-hf-BF16"));
    sparse.config["num_experts"] = 1;
    sparse.config["num_experts_per_tok"] = 1;
    Folder dense = sparse;
    const auto firstExpert = [](const std::string& name) {
        return !isExpert(name) || name.find(".experts.0.") != name.npos;
    };
    const auto withoutRouter = [](const std::string& name) { return !name.ends_with(".mlp.gate.weight"); };
    const std::string router(2 * 128, '\0');  // of one expert, whose weight is 1 whatever it says
    sparse.keep([&](const std::string& name) { return firstExpert(name) && withoutRouter(name); });
    for (const char* layer : {"0", "1"})
        sparse.add(std::string("model.layers.") + layer + ".mlp.gate.weight", {1, 128}, router);

    dense.config["mlp_only_layers"] = {1};
    for (const char* matrix : {"gate_proj", "up_proj", "down_proj"}) {
        const std::string block = "model.layers.1.mlp.", weight = std::string(matrix) + ".weight";
        dense.add(block + weight, dense.header.at(block + "experts.0." + weight).at("shape"),
                  dense.bytes(block + "experts.0." + weight));
    }
    dense.keep([&](const std::string& name) {
        return firstExpert(name) && withoutRouter(name) && !(isExpert(name) && name.find("layers.1.") != name.npos);
    });
    const TemporaryFolder one, two, three;
    CHECK_THROWS_WITH_AS((void)dense.load(one), doctest::Contains("blk.0.ffn_gate_inp.weight"), FileError);
    dense.add("model.layers.0.mlp.gate.weight", {1, 128}, router);
    const auto want = logitsOf(sparse.load(two)), got = logitsOf(dense.load(one));
    CHECK(std::equal(got.begin(), got.end(), want.begin(), want.end()));
    dense.config["mlp_only_layers"] = Json::array();
    CHECK_THROWS_WITH_AS((void)dense.load(three), doctest::Contains("blk.1.ffn_gate_inp.weight"), FileError);
}

TEST_CASE("qwen3moe: safetensors without an expert, or with one of another shape, are refused by its name") {
    if (!oracle::present()) return;
    const Folder whole(oracle::path("models/tiny-qwen3moe-hf-BF16"));
    const TemporaryFolder one, two;
    Folder without = whole;
    without.keep([](const std::string& name) { return name != "model.layers.1.mlp.experts.5.up_proj.weight"; });
    CHECK_THROWS_WITH_AS((void)without.load(one), doctest::Contains("blk.1.ffn_up_exps.5.weight"), FileError);
    Folder turned = whole;
    turned.header["model.layers.1.mlp.experts.6.down_proj.weight"]["shape"] = {96, 128};
    CHECK_THROWS_WITH_AS((void)turned.load(two), doctest::Contains("blk.1.ffn_down_exps.6.weight has the extents"),
                         FileError);
}

TEST_CASE("qwen3moe: a router that gives no numbers is an error that names layer and position") {
    if (!oracle::present()) return;
    Folder folder(oracle::path("models/tiny-qwen3moe-hf-BF16"));
    const std::string name = "model.layers.1.mlp.gate.weight";
    const std::uint16_t notANumber = 0x7fc0;
    std::memcpy(folder.data.data() + folder.header.at(name).at("data_offsets")[0].get<std::size_t>(), &notANumber, 2);
    const TemporaryFolder place;
    const LoadedModel loaded = folder.load(place);
    KvCache cache = loaded.model->makeCache(16, Format::f32);
    const std::vector<TokenId> tokens{1, 2, 3};
    for (const LogitsOf which : {LogitsOf::all, LogitsOf::last}) {
        CHECK_THROWS_WITH_AS((void)loaded.model->forward(cache, tokens, which),
                             doctest::Contains(which == LogitsOf::all ? "layer 1, position 0: the router's logits"
                                                                      : "layer 1, position 2: the router's logits"),
                             ValueError);
        CHECK(cache.length() == 0);
    }
}

TEST_CASE(
    "qwen3moe: top-p over the experts used: at 1 no bit changes, below it fewer run, at almost 0 the best alone") {
    if (!oracle::present()) return;
    const auto path = oracle::path("models/tiny-qwen3moe-Q8_0.gguf");
    const auto with = [&](double topP) {
        LoadOptions options;
        options.expertTopP = topP;
        return load(path, options);
    };
    const auto all = logitsOf(load(path)), same = logitsOf(with(1)), fewer = logitsOf(with(0.6)),
               one = logitsOf(with(1e-9));
    CHECK(std::equal(all.begin(), all.end(), same.begin(), same.end()));
    CHECK_FALSE(std::equal(all.begin(), all.end(), fewer.begin(), fewer.end()));
    CHECK_FALSE(std::equal(one.begin(), one.end(), fewer.begin(), fewer.end()));
    CHECK_THROWS_AS((void)logitsOf(with(0)), ValueError);
}
