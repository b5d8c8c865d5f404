// Saved values are found by the names that people have for them.
#include "axial/llm/reference_values.h"

#include <doctest/doctest.h>

#include "axial/llm/npy.h"
#include "axial/tensor/error.h"
#include "llm/safetensors_bytes.h"
#include "llm/temporary_folder.h"

using namespace axial;
using namespace axial::llm;
using namespace axial::llm::test;

namespace {

std::string spelled(std::string_view saved) {
    const ValueName name = valueNameOf(saved);
    std::string text = name.layer ? std::to_string(*name.layer) + "/" : "";
    for (std::size_t i = 0; i < name.names.size(); ++i) text += (i ? " or " : "") + name.names[i];
    return text;
}

std::vector<std::string> savedNames(const ReferenceValues& all) {
    std::vector<std::string> names;
    for (const ReferenceValue& value : all.values) names.push_back(value.saved + " " + spelled(value.saved));
    return names;
}

}  // namespace

TEST_CASE("references: one value under many names") {
    for (const char* name : {"3/attn_norm", "3.attn_norm", "layers.3.attn_norm", "model.layers.3.attn_norm",
                             "blk.3.attn_norm", "layer_3.attn_norm", "layer3/attn_norm", "layer 3/attn_norm",
                             "model.layers.3.input_layernorm", "layers/3/input_layernorm"})
        CHECK(spelled(name) == "3/attn_norm");
    CHECK(spelled("model.layers.11.self_attn.q_proj") == "11/attn_q_biased or attn_q");
    CHECK(spelled("model.layers.11.self_attn.o_proj") == "11/attn_out");
    CHECK(spelled("model.layers.11.mlp") == "11/ffn_out");
    CHECK(spelled("model.layers.11") == "11/layer_out");
    CHECK(spelled("layers.0.attn_probs") == "0/attn_probs");
    CHECK(spelled("logits") == "logits");
    CHECK(spelled("lm_head") == "logits");
    CHECK(spelled("model.norm") == "output_norm");
    CHECK(spelled("model.embed_tokens") == "embedding");
    CHECK(spelled("q") == "q");
    CHECK(spelled("model.layers.0.self_attn.rotary_emb") == "0/self_attn.rotary_emb");
    for (const char* odd :
         {"", ".", "/", "..", "model", "layers", "layers.", "3", "3/", "99999999999999999999/q", "-1/q"})
        CHECK_NOTHROW((void)valueNameOf(odd));
}

TEST_CASE("references: a folder of .npy files") {
    const TemporaryFolder folder;
    const std::vector<float> values{1, 2};
    const std::size_t extents[] = {2};
    std::filesystem::create_directories(folder.path() / "1");
    std::filesystem::create_directories(folder.path() / "0");
    for (const char* name : {"1/q.npy", "0/q.npy", "0/k.npy", "logits.npy", "attn_norm.npy"})
        writeNpy(folder.path() / name, values, extents);
    folder.write("notes.txt", "no values");
    using Names = std::vector<std::string>;
    const auto all = ReferenceValues::open(folder.path());
    REQUIRE(all.values.size() == 5);
    CHECK(all.values[0].saved == "0/k.npy");
    CHECK(all.values[0].name.layer == 0u);
    CHECK(all.values[0].name.names == Names{"k"});
    CHECK(all.values[3].saved == "attn_norm.npy");
    CHECK_FALSE(all.values[3].name.layer.has_value());
    // With a layer: others are left out, and names without one are its own.
    const auto one = ReferenceValues::open(folder.path(), 1);
    REQUIRE(one.values.size() == 3);
    CHECK(one.values[0].saved == "1/q.npy");
    CHECK(one.values[1].saved == "attn_norm.npy");
    CHECK(one.values[1].name.layer == 1u);
    CHECK(one.values[2].saved == "logits.npy");
    CHECK_FALSE(one.values[2].name.layer.has_value());

    // A name that a terminal would obey is shown in quotes.
    writeNpy(folder.path() / "2\x1b[2J.npy", values, extents);
    CHECK(ReferenceValues::open(folder.path()).values[3].saved == "\"2\\x1b[2J.npy\"");

    folder.write("1/v.npy", "cut off");
    CHECK_THROWS_WITH_AS(ReferenceValues::open(folder.path()), doctest::Contains("v.npy: not a .npy file"), FileError);
    std::filesystem::remove(folder.path() / "1/v.npy");
    const TemporaryFolder empty;
    CHECK_THROWS_WITH_AS(ReferenceValues::open(empty.path()), doctest::Contains("there are no .npy files"), FileError);
    CHECK_THROWS_AS(ReferenceValues::open("no/such/folder"), FileError);
}

TEST_CASE("references: a safetensors file; what cannot be compared is said") {
    const TemporaryFolder folder;
    const std::string header = R"({"logits":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
                               R"("model.layers.2.mlp":{"dtype":"BF16","shape":[2],"data_offsets":[8,12]},)"
                               R"("model.layers.2.mask":{"dtype":"BOOL","shape":[4],"data_offsets":[12,16]}})";
    const auto file = folder.write("values.safetensors", safetensorsOf(header, 16));
    const auto all = ReferenceValues::open(file);
    CHECK(savedNames(all) == std::vector<std::string>{"logits logits", "model.layers.2.mlp 2/ffn_out"});
    REQUIRE(all.unread.size() == 1);
    CHECK(all.unread[0].ends_with("tensor model.layers.2.mask is stored as BOOL"));
    CHECK(ReferenceValues::open(file, 1).values.size() == 1);
    CHECK_THROWS_AS(ReferenceValues::open(folder.write("none.safetensors", safetensorsOf("{}", 0))), FileError);
    CHECK_THROWS_AS(ReferenceValues::open(folder.write("cut.safetensors", "x")), FileError);
}
