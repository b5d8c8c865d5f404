// What a file says of a model's shape, and what is said of a file that does not say it.
#include <doctest/doctest.h>

#include <map>
#include <optional>
#include <variant>

#include "axial/llm/hyperparameters.h"
#include "llm/gguf_bytes.h"

using namespace axial;
using namespace axial::llm;
using namespace axial::llm::test;

namespace {

using Number = std::variant<std::uint32_t, float, const char*>;
using Keys = std::map<std::string, Number>;

const Keys complete{{"context_length", 1024u},     {"block_count", 3u},
                    {"embedding_length", 128u},    {"feed_forward_length", 256u},
                    {"attention.head_count", 4u},  {"attention.head_count_kv", 2u},
                    {"attention.key_length", 64u}, {"attention.value_length", 64u},
                    {"rope.freq_base", 1e6f},      {"attention.layer_norm_rms_epsilon", 1e-6f}};

Hyperparameters read(const Keys& keys, const std::string& architecture = "qwen3") {
    GgufBytes file;
    file.key("general.architecture", architecture.c_str()).key("general.name", "a name");
    for (const auto& [key, value] : keys)
        std::visit([&](const auto& v) { file.key(architecture + "." + key, v); }, value);
    return readHyperparameters(parsed(file.bytes()));
}

Keys with(Keys keys, const std::string& key, std::optional<Number> value) {
    if (value)
        keys[key] = *value;
    else
        keys.erase(key);
    return keys;
}

}  // namespace

TEST_CASE("hyperparameters are read under the file's own architecture prefix") {
    for (const std::string architecture : {"qwen3", "llama", "another"}) {
        const Hyperparameters h = read(complete, architecture);
        CHECK(h.architecture == architecture);
        CHECK(h.name == "a name");
        CHECK(h.contextLength == 1024);
        CHECK(h.layers == 3);
        CHECK(h.embed == 128);
        CHECK(h.ff == 256);
        CHECK(h.heads == 4);
        CHECK(h.kvHeads == 2);
        CHECK(h.channels == 64);
        CHECK(h.ropeTheta == 1e6);
        CHECK(h.normEpsilon == 1e-6f);
        CHECK(h.ropeChannels == 64);
        CHECK(h.ropeScaling.kind == RopeScaling::Kind::none);
    }
}

TEST_CASE("a hyperparameter that is missing or zero is an error that names the key") {
    for (const std::string key : {"context_length", "block_count", "embedding_length", "feed_forward_length",
                                  "attention.head_count", "attention.layer_norm_rms_epsilon"}) {
        CAPTURE(key);
        CHECK_THROWS_WITH_AS(read(with(complete, key, std::nullopt)), doctest::Contains(("qwen3." + key).c_str()),
                             FileError);
    }
    for (const auto& [key, value] : complete) {
        CAPTURE(key);
        const Number zero = std::holds_alternative<float>(value) ? Number(0.0f) : Number(0u);
        CHECK_THROWS_WITH_AS(read(with(complete, key, zero)), doctest::Contains(("qwen3." + key + " is 0").c_str()),
                             FileError);
        CHECK_THROWS_WITH_AS(read(with(complete, key, Number("text"))), doctest::Contains(("qwen3." + key).c_str()),
                             FileError);
    }
    CHECK_THROWS_WITH_AS(read(with(complete, "attention.layer_norm_rms_epsilon", Number(-1.0f))),
                         doctest::Contains("must be above 0"), FileError);
}

TEST_CASE("hyperparameters that contradict each other are refused with both values") {
    CHECK_THROWS_WITH_AS(
        read(with(complete, "attention.head_count_kv", Number(3u))),
        "memory.gguf: key qwen3.attention.head_count is 4, not a multiple of qwen3.attention.head_count_kv, which is 3",
        FileError);
    CHECK_THROWS_WITH_AS(read(with(complete, "attention.value_length", Number(32u))),
                         doctest::Contains("values of another size"), UnsupportedError);
    CHECK_THROWS_WITH_AS(read(with(complete, "rope.dimension_count", Number(66u))),
                         doctest::Contains("at most the 64 channels"), FileError);
    CHECK_THROWS_WITH_AS(read(with(complete, "block_count", Number(0xffffffffu))), doctest::Contains("4294967295"),
                         FileError);
    CHECK(read(with(complete, "rope.dimension_count", Number(32u))).ropeChannels == 32);
}

TEST_CASE("GGUF-07: a head's size is key_length, and the quotient only where that is absent") {
    struct Row {
        std::uint32_t embed, heads, kvHeads;
        std::optional<std::uint32_t> keyLength;
        std::size_t channels;
    };
    for (const Row& row : {Row{1024, 16, 8, 128, 128}, Row{2560, 32, 8, 128, 128}, Row{5120, 64, 8, 128, 128},
                           Row{896, 14, 2, {}, 64}}) {
        Keys keys =
            with(with(with(complete, "embedding_length", Number(row.embed)), "attention.head_count", Number(row.heads)),
                 "attention.head_count_kv", Number(row.kvHeads));
        const std::optional<Number> length = row.keyLength ? std::optional<Number>(*row.keyLength) : std::nullopt;
        keys = with(with(keys, "attention.key_length", length), "attention.value_length", length);
        CHECK(read(keys).channels == row.channels);
    }
    const Keys odd = with(with(with(complete, "embedding_length", Number(130u)), "attention.key_length", std::nullopt),
                          "attention.value_length", std::nullopt);
    CHECK_THROWS_WITH_AS(read(odd), doctest::Contains("qwen3.attention.key_length is missing"), FileError);
}

TEST_CASE("GGUF-13: the keys of YaRN and of linear scaling are read") {
    const Keys yarn = with(with(complete, "rope.scaling.type", Number("yarn")), "rope.scaling.factor", Number(4.0f));
    const RopeScaling scaling = read(with(yarn, "rope.scaling.original_context_length", Number(32768u))).ropeScaling;
    CHECK(scaling.kind == RopeScaling::Kind::yarn);
    CHECK(scaling.factor == 4);
    CHECK(scaling.originalContext == 32768);
    CHECK(read(yarn).ropeScaling.originalContext == 1024);
    const RopeScaling more =
        read(with(with(yarn, "rope.scaling.attn_factor", Number(1.5f)), "rope.scaling.yarn_beta_fast", Number(16.0f)))
            .ropeScaling;
    CHECK(more.attentionFactor == 1.5);
    CHECK(more.betaFast == 16);

    CHECK(read(with(with(complete, "rope.scaling.type", Number("linear")), "rope.scaling.factor", Number(2.0f)))
              .ropeScaling.kind == RopeScaling::Kind::linear);
    CHECK(read(with(complete, "rope.scaling.type", Number("none"))).ropeScaling.kind == RopeScaling::Kind::none);
    CHECK_THROWS_WITH_AS(read(with(complete, "rope.scaling.type", Number("yarn"))),
                         doctest::Contains("qwen3.rope.scaling.factor"), FileError);
    CHECK_THROWS_WITH_AS(
        read(with(with(complete, "rope.scaling.type", Number("longrope")), "rope.scaling.factor", Number(2.0f))),
        doctest::Contains("longrope"), UnsupportedError);
}

TEST_CASE("GGUF-13: YaRN's frequencies and amplitude are the report's") {
    const Keys keys = with(
        with(with(with(with(complete, "attention.key_length", Number(128u)), "attention.value_length", Number(128u)),
                  "rope.scaling.type", Number("yarn")),
             "rope.scaling.factor", Number(4.0f)),
        "rope.scaling.original_context_length", Number(32768u));
    const Hyperparameters h = read(keys);
    const Rope rope(RopeParameters{h.ropeChannels, h.ropeTheta, h.ropeScaling, {}});
    CHECK(rope.amplitude() == doctest::Approx(1.138629436).epsilon(1e-8));
    for (const auto& [pair, frequency] : std::map<std::size_t, double>{{0, 1.0},
                                                                       {1, 0.805842188},
                                                                       {22, 0.00865964323},
                                                                       {23, 0.00697830585},
                                                                       {24, 0.00537532149},
                                                                       {30, 0.00106436098},
                                                                       {35, 0.000246258407},
                                                                       {39, 6.49039432e-05},
                                                                       {40, 4.44569853e-05},
                                                                       {63, 3.1023444e-07}})
        CHECK(rope.frequencies()[pair] == doctest::Approx(frequency).epsilon(1e-7));
}
