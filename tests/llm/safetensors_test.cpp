#include "axial/llm/safetensors.h"

#include <doctest/doctest.h>

#include <bit>
#include <nlohmann/json.hpp>

#include "axial/ops/structure.h"
#include "axial/tensor/error.h"
#include "axial/tensor/half.h"
#include "oracle.h"
#include "safetensors_bytes.h"
#include "temporary_folder.h"

using namespace axial;
using namespace axial::llm;
using namespace axial::llm::test;

namespace {

const std::string good =
    R"({"__metadata__":{"format":"pt"},"b":{"dtype":"F32","shape":[2,3],"data_offsets":[8,32]},)"
    R"("a":{"dtype":"F16","shape":[4],"data_offsets":[0,8]},"empty":{"dtype":"F32","shape":[0,7],"data_offsets":[32,32]},)"
    R"("one":{"dtype":"I64","shape":[],"data_offsets":[32,40]}})";

void refused(const std::string& header, std::size_t data, const std::string& text) {
    CAPTURE(header);
    CHECK_THROWS_WITH_AS(parsedSafetensors(safetensorsOf(header, data)), doctest::Contains(text.c_str()), FileError);
}

}  // namespace

TEST_CASE("safetensors: names, shapes, formats and places") {
    const Safetensors file = parsedSafetensors(safetensorsOf(good, 40));
    REQUIRE(file.tensors().size() == 4);
    CHECK(file.tensors()[0].name == "a");
    const StoredTensor* b = file.find("b");
    REQUIRE(b);
    CHECK(b->format == Format::f32);
    CHECK(b->extent == std::vector<std::size_t>{2, 3});
    CHECK(b->bytes == 24);
    CHECK(static_cast<int>(b->data[0]) == 8);
    CHECK(file.find("one")->extent.empty());
    CHECK(file.find("empty")->bytes == 0);
    CHECK(file.find("c") == nullptr);
    CHECK(file.find("__metadata__") == nullptr);
}

TEST_CASE("safetensors: numbers that do not lie at a multiple of their size are copied to one that does") {
    for (std::size_t pad = 0; pad < 8; ++pad) {
        const Safetensors file = parsedSafetensors(safetensorsOf(good + std::string(pad, ' '), 40));
        const StoredTensor* b = file.find("b");
        CHECK(reinterpret_cast<std::uintptr_t>(b->data) % 4 == 0);
        for (int i = 0; i < 24; ++i) CHECK(static_cast<int>(b->data[i]) == 8 + i);
    }
}

TEST_CASE("safetensors: a file that contradicts itself is refused by name") {
    const auto a = [](const std::string& entry) { return R"({"a":)" + entry + "}"; };
    refused("[]", 0, "does not begin with \"{\"");
    refused("{\"a\":", 0, "not JSON at byte");
    refused(" {}", 0, "does not begin with \"{\" at offset 8");
    refused("{\"a\xff\":1}", 0, "not JSON");
    refused(a("7"), 0, "tensor a: its entry is not a JSON object");
    refused(a("[]"), 0, "tensor a: its entry is not a JSON object");
    refused(a("{}"), 0, "tensor a: its entry has no dtype");
    refused(a(R"({"dtype":"F32","shape":[1]})"), 4, "tensor a: its entry has no data_offsets");
    refused(a(R"({"dtype":"F32","shape":[1],"data_offsets":[0,4],"dtype":"F16"})"), 4, "the key dtype twice");
    refused(a(R"({"dtype":"F32","shape":[1],"data_offsets":[0]})"), 4, "a list of two numbers");
    refused(a(R"({"dtype":"F32","shape":[1],"data_offsets":[4,0]})"), 4, "data_offsets are 4 and 0");
    refused(a(R"({"dtype":"F32","shape":[1],"data_offsets":[0,8]})"), 8, "takes 4 bytes, but its data_offsets 0 and 8");
    refused(a(R"({"dtype":"F32","shape":[1],"data_offsets":[0,4]})"), 3, "the data have 3 bytes");
    refused(a(R"({"dtype":"F32","shape":[1],"data_offsets":[0,4]})"), 5, "end at 4, but the file has 5 bytes");
    refused(a(R"({"dtype":"F32","shape":[1],"data_offsets":[4,8]})"), 8, "overlap or leave a gap");
    refused(a(R"({"dtype":"F32","shape":[-1],"data_offsets":[0,4]})"), 4, "shape has -1");
    refused(a(R"({"dtype":"F32","shape":[1.5],"data_offsets":[0,4]})"), 4, "shape has 1.5");
    refused(a(R"({"dtype":"F32","shape":[1e999],"data_offsets":[0,4]})"), 4, "a number is beyond");
    refused(a(R"({"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,4]})"), 4, "its shape overflows");
    refused(a(R"({"dtype":"F32","shape":[1,1,1,1,1,1,1,1,1],"data_offsets":[0,4]})"), 4, "it has 9 axes");
    refused(
        R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})",
        8, "tensor a: the header has it twice");
    refused(
        R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"b":{"dtype":"F32","shape":[1],"data_offsets":[2,6]}})",
        6, "tensor b: its data begin at 2, but those before end at 4");
    refused(a("[[[[[[[[[[[[1]]]]]]]]]]]]"), 0, "nested more than 8 deep");
    CHECK_THROWS_WITH_AS(parsedSafetensors(std::string(7, 'x')), doctest::Contains("fewer than the 8"), FileError);
    CHECK_THROWS_WITH_AS(parsedSafetensors("\xff\xff\xff\xff\xff\xff\xff\x7f{}"),
                         doctest::Contains("does not fit into the file"), FileError);
    CHECK_THROWS_AS(Safetensors::open("no/such.safetensors"), FileError);
}

TEST_CASE("safetensors: a thousand truncations are refused") {
    const std::string whole = safetensorsOf(good, 40);
    for (std::size_t length = 0; length < whole.size(); ++length) {
        CAPTURE(length);
        CHECK_THROWS_AS(parsedSafetensors(whole.substr(0, length)), FileError);
    }
    if (!oracle::present()) return;
    std::ifstream in(oracle::path("models/tiny-qwen2-hf-BF16/model.safetensors"), std::ios::binary);
    const std::string model{std::istreambuf_iterator<char>(in), {}};
    CHECK_NOTHROW(parsedSafetensors(model));
    for (std::size_t i = 0; i < 1000; ++i) {
        const std::size_t length = model.size() * i / 1000;
        CAPTURE(length);
        CHECK_THROWS_AS(parsedSafetensors(model.substr(0, length)), FileError);
    }
}

TEST_CASE("safetensors: bfloat16 as it stands, and back (ST-02)") {
    if (!oracle::present()) return;
    std::ifstream in(oracle::path("reports.jsonl"));
    for (std::string line; std::getline(in, line);) {
        const auto row = nlohmann::json::parse(line);
        if (row["id"] != "ST-02") continue;
        const std::string hex = row["input"]["load"];
        std::string bytes;
        for (std::size_t i = 0; i < hex.size(); i += 2)
            bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
        const Safetensors file = parsedSafetensors(bytes);
        const StoredTensor* a = file.find("a");
        REQUIRE(a);
        CHECK(a->format == Format::bf16);
        const Weight<Axis<"row">{}, Axis<"column">{}> stored(a->data, a->format, Extents{2, 2}, a->mapping, "a");
        const auto values = copy(stored);
        CHECK(values.values()[0] == 1.0f);
        CHECK(values.values()[1] == 2.0f);
        CHECK(std::isnan(values.values()[2]));
        CHECK(values.values()[3] == -INFINITY);
        const auto bits = [](const nlohmann::json& hex) {
            return static_cast<std::uint32_t>(std::stoul(hex.get<std::string>(), nullptr, 16));
        };
        const auto &floats = row["input"]["f32_bits"], &rounded = row["expected"]["bf16_bits"];
        REQUIRE(floats.size() == rounded.size());
        for (std::size_t i = 0; i < floats.size(); ++i)
            CHECK(f32ToBf16(std::bit_cast<float>(bits(floats[i]))) == bits(rounded[i]));
        return;
    }
    FAIL("there is no report ST-02");
}

TEST_CASE("safetensors: a model in several files (ST-03)") {
    const TemporaryFolder folder;
    const auto one = [](const std::string& name, int first) {
        std::string file = safetensorsOf(R"({")" + name + R"(":{"dtype":"I8","shape":[1],"data_offsets":[0,1]}})", 1);
        file.back() = static_cast<char>(first);
        return file;
    };
    folder.write("model-00001-of-00002.safetensors", one("a", 1));
    folder.write("model-00002-of-00002.safetensors", one("b", 2));
    folder.write("model.safetensors", one("a", 9));
    const auto open = [&](const std::string& map) {
        folder.write("model.safetensors.index.json", R"({"metadata":{"total_size":2},"weight_map":)" + map + "}");
        return Safetensors::open(folder.path());
    };
    const Safetensors both = open(R"({"a":"model-00001-of-00002.safetensors","b":"model-00002-of-00002.safetensors"})");
    REQUIRE(both.tensors().size() == 2);
    CHECK(static_cast<int>(both.find("a")->data[0]) == 1);
    CHECK(static_cast<int>(both.find("b")->data[0]) == 2);
    const std::pair<const char*, const char*> bad[] = {
        {R"({"a":"../evil.safetensors"})", "not the plain name"},
        {R"({"a":"/etc/passwd"})", "not the plain name"},
        {R"({"a":"sub/x.safetensors"})", "not the plain name"},
        {R"({"a":"..\\x.safetensors"})", "not the plain name"},
        {R"({"a":".."})", "not the plain name"},
        {R"({"a":"model-00003-of-00002.safetensors"})", "is not there"},
        {R"({"a":""})", "not the plain name"},
        {R"({"a":5})", "is not a text"},
        {R"({"a":["model.safetensors"]})", "is not a text"},
        {R"({"a":"model-00002-of-00002.safetensors"})", "does not hold the tensor a"},
        {R"({"a":"model-00001-of-00002.safetensors","a":"model.safetensors"})", "has tensor a twice"},
        {"{}", "no weight_map"},
        {"[]", "weight_map"},
    };
    for (const auto& [map, text] : bad) {
        CAPTURE(map);
        CHECK_THROWS_WITH_AS(open(map), doctest::Contains(text), FileError);
    }
    const TemporaryFolder outside;
    std::filesystem::create_symlink(outside.write("secret.safetensors", one("a", 3)),
                                    folder.path() / "linked.safetensors");
    CHECK_THROWS_WITH_AS(open(R"({"a":"linked.safetensors"})"), doctest::Contains("leaves the folder"), FileError);
    // As Hugging Face's cache has it: snapshots/<revision>/<name> -> ../../blobs/<hash>.
    const auto snapshot = outside.path() / "snapshots" / "main";
    std::filesystem::create_directories(snapshot);
    std::filesystem::create_directories(outside.path() / "blobs");
    std::filesystem::copy_file(outside.path() / "secret.safetensors", outside.path() / "blobs" / "0123");
    std::filesystem::create_symlink("../../blobs/0123", snapshot / "x.safetensors");
    std::ofstream(snapshot / "model.safetensors.index.json") << R"({"weight_map":{"a":"x.safetensors"}})";
    CHECK(static_cast<int>(Safetensors::open(snapshot).find("a")->data[0]) == 3);
}
