#include "axial/llm/gguf.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "axial/tensor/decode.h"
#include "llm/gguf_bytes.h"

namespace {

using namespace axial::llm;
using namespace axial::llm::test;
using nlohmann::json;

const std::filesystem::path data = AXIAL_TEST_DATA;
const std::filesystem::path oracle = AXIAL_ORACLE;

MetadataType typeOfGgufPy(const std::string& name) {
    static const std::map<std::string, MetadataType> types = {
        {"UINT8", MetadataType::u8},    {"INT8", MetadataType::i8},      {"UINT16", MetadataType::u16},
        {"INT16", MetadataType::i16},   {"UINT32", MetadataType::u32},   {"INT32", MetadataType::i32},
        {"FLOAT32", MetadataType::f32}, {"BOOL", MetadataType::boolean}, {"STRING", MetadataType::string},
        {"ARRAY", MetadataType::array}, {"UINT64", MetadataType::u64},   {"INT64", MetadataType::i64},
        {"FLOAT64", MetadataType::f64}};
    return types.at(name);
}

// What our reader makes of a value, as gguf-py's dump has it.
json valueOf(const MetadataValue& value) {
    switch (value.type()) {
        case MetadataType::string:
            return std::string(value.string());
        case MetadataType::boolean:
            return value.boolean();
        case MetadataType::f32:
        case MetadataType::f64:
            return value.number();
        case MetadataType::array:
            break;
        default:
            return value.integer();
    }
    json all = json::array();
    if (value.elementType() == MetadataType::string) {
        for (const std::string_view text : value.strings()) all.push_back(std::string(text));
    } else if (value.elementType() == MetadataType::f32 || value.elementType() == MetadataType::f64) {
        all = value.numbers();
    } else if (value.elementType() == MetadataType::boolean) {
        for (const std::int64_t element : value.integers()) all.push_back(element != 0);
    } else {
        all = value.integers();
    }
    return all;
}

std::string hexOf(const std::byte* from, std::size_t bytes) {
    std::string hex;
    for (std::size_t i = 0; i < bytes; ++i) {
        hex += "0123456789abcdef"[static_cast<unsigned>(from[i]) >> 4];
        hex += "0123456789abcdef"[static_cast<unsigned>(from[i]) & 15];
    }
    return hex;
}

}  // namespace

TEST_CASE("gguf: every metadata type and tensor of a file written by gguf-py, as gguf-py reads it") {
    const GgufFile file = GgufFile::open(data / "small.gguf");
    const json reference = json::parse(std::ifstream(data / "small.json"));
    CHECK(file.version() == 3);
    CHECK(file.fileBytes() == std::filesystem::file_size(data / "small.gguf"));
    CHECK(file.path() == data / "small.gguf");

    CHECK(file.metadata().size() == reference.at("keys").size() + 1);  // and array.nested
    for (const json& entry : reference.at("keys")) {
        const std::string key = entry.at("key");
        CAPTURE(key);
        const MetadataValue& value = file.require(key);
        CHECK(value.key() == key);
        CHECK(value.type() == typeOfGgufPy(entry.at("type")));
        if (value.type() == MetadataType::array) {
            CHECK(value.elementType() == typeOfGgufPy(entry.at("element")));
            CHECK(value.size() == entry.at("value").size());
        }
        CHECK(valueOf(value) == entry.at("value"));
    }

    REQUIRE(file.tensors().size() == reference.at("tensors").size());
    const std::byte* const start = file.tensors()[0].data - reference.at("tensors")[0].at("offset").get<std::size_t>();
    for (std::size_t i = 0; i < file.tensors().size(); ++i) {
        const json& entry = reference.at("tensors")[i];
        const StoredTensor& tensor = file.tensors()[i];
        CAPTURE(tensor.name);
        CHECK(tensor.name == entry.at("name").get<std::string>());
        CHECK(axial::nameOf(tensor.format) == entry.at("format").get<std::string>());
        CHECK(tensor.extent == entry.at("extent").get<std::vector<std::size_t>>());
        CHECK(tensor.bytes == entry.at("bytes"));
        CHECK(tensor.data - start == entry.at("offset"));
        CHECK(hexOf(tensor.data, std::min<std::size_t>(tensor.bytes, 16)) == entry.at("start").get<std::string>());
        CHECK(file.findTensor(tensor.name) == &tensor);
    }
    CHECK(file.find("no.such.key") == nullptr);
    CHECK(file.findTensor("no.such.tensor") == nullptr);
    CHECK_THROWS_WITH_AS(
        file.require("no.such.key"),
        ((data / "small.gguf").string() + ": key no.such.key is missing, and this use of the file needs it").c_str(),
        axial::FileError);
}

TEST_CASE("gguf: a value asked for as what it is not is an error that names file, key and both types") {
    const GgufFile file = parsed(GgufBytes()
                                     .key("text", "x")
                                     .key("large", std::uint64_t{1} << 63)
                                     .key("negative", std::int8_t{-1})
                                     .key("half", 0.5f)
                                     .key("yes", true)
                                     .array("words", std::vector<std::string>{"a"})
                                     .array("numbers", std::vector<std::uint64_t>{1, ~std::uint64_t{0}})
                                     .bytes());
    const auto message = [](auto&& ask) -> std::string {
        try {
            (void)ask();
        } catch (const axial::FileError& error) {
            return error.what();
        }
        return "accepted";
    };
    const auto value = [&](const char* key) { return file.require(key); };
    CHECK(message([&] { return value("text").integer(); }) ==
          "memory.gguf: key text has the type string, but an integer is needed");
    CHECK(message([&] { return value("half").integer(); }) ==
          "memory.gguf: key half has the type f32, but an integer is needed");
    CHECK(message([&] { return value("large").integer(); }) ==
          "memory.gguf: key large is 9223372036854775808, which is too large");
    CHECK(message([&] { return value("negative").count(); }) ==
          "memory.gguf: key negative is -1, and must not be negative");
    CHECK(message([&] { return value("yes").number(); }) ==
          "memory.gguf: key yes has the type boolean, but a number is needed");
    CHECK(message([&] { return value("half").boolean(); }) ==
          "memory.gguf: key half has the type f32, but a boolean is needed");
    CHECK(message([&] { return value("words").string(); }) ==
          "memory.gguf: key words has the type array of string, but a string is needed");
    CHECK(message([&] { return value("words").integers(); }) ==
          "memory.gguf: key words has the type array of string, but an array of integers is needed");
    CHECK(message([&] { return value("numbers").strings(); }) ==
          "memory.gguf: key numbers has the type array of u64, but an array of strings is needed");
    CHECK(message([&] { return value("numbers").integers(); }) ==
          "memory.gguf: key numbers has element 1 of 18446744073709551615, which is too large");
    CHECK(message([&] { return value("text").elementType(); }) ==
          "memory.gguf: key text has the type string, but an array is needed");
    CHECK(message([&] { return value("text").size(); }) ==
          "memory.gguf: key text has the type string, but an array is needed");
    CHECK(value("yes").integer() == 1);
    CHECK(value("large").number() == 0x1p63);
    CHECK(value("negative").integer() == -1);
}

TEST_CASE("gguf: nested arrays are walked over, and refused only when they are read") {
    const GgufFile file = GgufFile::open(data / "small.gguf");
    const MetadataValue& nested = file.require("array.nested");
    CHECK(nested.elementType() == MetadataType::array);
    CHECK(nested.size() == 2);
    CHECK_THROWS_WITH(nested.integers(), ((data / "small.gguf").string() +
                                          ": key array.nested has the type array of array, but an array of integers "
                                          "is needed")
                                             .c_str());
    Bytes deep;
    const Bytes level = bytesOfHex("090000000100000000000000");  // an array of one array
    for (int i = 0; i < 100000; ++i) deep.insert(deep.end(), level.begin(), level.end());
    CHECK(refusal(GgufBytes().rawKey("deep", 9, deep).bytes()) ==
          "memory.gguf: key deep (1 of 1): arrays are nested more than 4 deep at offset 88");
}

TEST_CASE("gguf: an array too long to be decoded at once opens, and is refused when read") {
    const std::size_t size = (std::size_t{1} << 21) + 1;
    const GgufFile file = parsed(GgufBytes().array("scores", std::vector<std::uint8_t>(size)).bytes());
    CHECK(file.require("scores").size() == size);
    CHECK_THROWS_WITH_AS(file.require("scores").numbers(),
                         "memory.gguf: key scores has 2097153 elements, and at most 2097152 are read",
                         axial::FileError);
}

TEST_CASE("gguf: a handle's copies and its tensors outlive it") {
    std::weak_ptr<const Bytes> watch;
    StoredTensor tensor;
    std::string_view text;
    {
        auto bytes = std::make_shared<const Bytes>(GgufBytes().key("k", "v").tensor("t", {4}, 0, 0).bytes(16));
        watch = bytes;
        std::optional<GgufFile> file = GgufFile::parse(bytes, *bytes, "memory.gguf");
        bytes.reset();
        const GgufFile copy = *file;
        file.reset();
        text = copy.require("k").string();
        CHECK(text == "v");
        tensor = copy.tensors()[0];
    }
    CHECK(!watch.expired());
    CHECK(tensor.data[15] == std::byte{15});
    tensor = {};
    CHECK(watch.expired());
}

TEST_CASE("gguf: alignment is the file's own, a multiple of 8") {
    for (const std::uint32_t alignment : {8u, 24u, 64u, 4096u}) {
        const GgufFile file = parsed(GgufBytes()
                                         .key("general.alignment", alignment)
                                         .tensor("a", {1}, 0, 0)
                                         .tensor("b", {1}, 0, alignment)
                                         .bytes(alignment + 4, alignment));
        CHECK(file.tensors()[1].data - file.tensors()[0].data == alignment);
        CHECK(file.tensors()[0].data[1] == std::byte{1});
    }
    const auto with = [](auto alignment) {
        return refusal(GgufBytes().key("general.alignment", alignment).tensor("a", {1}, 0, 0).bytes(64));
    };
    CHECK(with(std::uint32_t{0}) == "memory.gguf: key general.alignment is 0, and must be a multiple of 8 above 0");
    CHECK(with(std::uint32_t{12}) == "memory.gguf: key general.alignment is 12, and must be a multiple of 8 above 0");
    CHECK(with("32") == "memory.gguf: key general.alignment has the type string, but an integer is needed");
    CHECK(with(~std::uint64_t{7}) == "memory.gguf: key general.alignment is 18446744073709551608, which is too large");
    CHECK(with(std::uint64_t{1} << 62).find("tensor a (1 of 1): its 4 bytes of data") != std::string::npos);
    CHECK(refusal(GgufBytes()
                      .key("general.alignment", std::uint32_t{64})
                      .tensor("a", {1}, 0, 0)
                      .tensor("b", {1}, 0, 32)
                      .bytes(96, 64))
              .find("tensor b (2 of 2): its data's offset 32") != std::string::npos);
}

TEST_CASE("gguf: versions and byte orders") {
    CHECK(parsed(GgufBytes().version(2).key("k", "v").bytes()).version() == 2);
    const auto with = [](std::uint32_t version) { return refusal(GgufBytes().version(version).bytes()); };
    CHECK(with(1) == "memory.gguf: the header: version 1 at offset 4; only 2 and 3 can be read");
    CHECK(with(4) == "memory.gguf: the header: version 4 at offset 4; only 2 and 3 can be read");
    CHECK(with(0x03000000).find("big-endian") != std::string::npos);
    CHECK_THROWS_AS(parsed(GgufBytes().version(0x03000000).bytes()), axial::UnsupportedError);
    const std::string pointer = "version https://git-lfs";
    Bytes bytes;
    for (const char c : pointer) bytes.push_back(static_cast<std::byte>(c));
    CHECK(refusal(bytes) ==
          "memory.gguf: the header: the file begins with vers and not with GGUF at offset 0: if it is a Git LFS "
          "pointer, fetch the file itself");
}

TEST_CASE("gguf: names from a file cannot break a message") {
    const std::string name = "a\x1b[31m\n\xff" + std::string(100, 'x');
    const std::string text = refusal(GgufBytes().tensor(name, {4}, 99, 0).bytes(16));
    CHECK(text.find("\"a\\x1b[31m\\x0a\\xff" + std::string(72, 'x') + "...\"") != std::string::npos);
    CHECK_THROWS_AS(parsed(GgufBytes().tensor(name, {4}, 99, 0).bytes(16)), axial::UnsupportedError);
}

TEST_CASE("gguf: bytes at an odd address are refused") {
    auto owner = std::make_shared<const Bytes>(GgufBytes().key("kk", std::uint32_t{1}).bytes());
    CHECK_THROWS_AS(GgufFile::parse(owner, std::span(*owner).subspan(1), "odd"), axial::ValueError);
}

TEST_CASE("gguf: the reference models: every tensor decodes to finite numbers of its size") {
    const std::filesystem::path folder = oracle / "models";
    if (!std::filesystem::exists(folder)) {
        MESSAGE("not run: no " << folder.string());
        return;
    }
    std::size_t files = 0, tensors = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        if (entry.path().extension() != ".gguf") continue;
        CAPTURE(entry.path());
        const GgufFile file = GgufFile::open(entry.path());
        ++files;
        CHECK(file.require("general.architecture").string().size() > 0);
        CHECK(file.require("tokenizer.ggml.tokens").strings().size() == 512);
        for (const StoredTensor& tensor : file.tensors()) {
            std::size_t elements = 1;
            for (const std::size_t extent : tensor.extent) elements *= extent;
            CHECK(tensor.bytes == axial::bytesOf(tensor.format, elements));
            std::vector<float> values(elements);
            axial::decode(tensor.format, tensor.data, elements, values.data());
            double squares = 0;
            for (const float value : values) squares += static_cast<double>(value) * value;
            CHECK(squares > 0);
            CHECK(squares < 1e6);
            ++tensors;
        }
    }
    CHECK(files >= 20);
    CHECK(tensors > 500);
}

TEST_CASE("gguf: the Qwen3 vocabulary opens in milliseconds") {
    const std::filesystem::path path = oracle / "tokenizer" / "qwen3-vocab.gguf";
    if (!std::filesystem::exists(path)) {
        MESSAGE("not run: no " << path.string());
        return;
    }
    double best = 1e9;
    for (int i = 0; i < 5; ++i) {
        const auto start = std::chrono::steady_clock::now();
        const GgufFile file = GgufFile::open(path);
        best =
            std::min(best, std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
    }
    MESSAGE("opened in " << best << " ms");
    CHECK(best < 100);  // a few, but for sanitizers
    const GgufFile file = GgufFile::open(path);
    const auto tokens = file.require("tokenizer.ggml.tokens").strings();
    CHECK(tokens.size() == 151936);
    CHECK(tokens[0] == "!");
    CHECK(tokens[151645] == "<|im_end|>");
    CHECK(file.require("tokenizer.ggml.token_type").integers()[151645] == 3);
    CHECK(file.require("tokenizer.ggml.merges").size() == 151387);
    CHECK(file.require("qwen3.attention.key_length").count() == 128);
    CHECK(file.tensors().empty());
}
