// Files that were cut off, altered, or made to use up memory: a clear error or a file that can be used, never a crash.
#include <doctest/doctest.h>
#include <malloc.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "axial/tensor/decode.h"
#include "llm/gguf_bytes.h"

namespace {

using namespace axial::llm;
using namespace axial::llm::test;

Bytes contentOf(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    const auto* from = reinterpret_cast<const std::byte*>(text.data());
    return {from, from + text.size()};
}

// The weights that come with the library.
Bytes someModel() {
    return contentOf(std::filesystem::path(AXIAL_TEST_DATA) / ".." / ".." / "llm" / "bundled" / "axial-tiny-qwen3.gguf");
}

// Bytes up to the end of the last tensor's data.
std::size_t usedBytes(const Bytes& bytes) {
    auto owner = std::make_shared<const Bytes>(bytes);
    const GgufFile file = GgufFile::parse(owner, *owner, "whole.gguf");
    std::size_t used = 0;
    for (const StoredTensor& tensor : file.tensors())
        used = std::max(used, static_cast<std::size_t>(tensor.data + tensor.bytes - owner->data()));
    return used;
}

// Bytes of the heap in use; 0 where a sanitizer has replaced it.
std::size_t heldBytes() {
    const struct mallinfo2 heap = ::mallinfo2();
    return heap.uordblks + heap.hblkhd;
}

// Asks for everything that a file says it has.
void useAll(const GgufFile& file) {
    for (const MetadataValue& value : file.metadata()) {
        if (value.type() != MetadataType::array) {
            if (value.type() == MetadataType::string) CHECK(value.string().size() <= file.fileBytes());
            continue;
        }
        if (value.elementType() == MetadataType::string) CHECK(value.strings().size() == value.size());
        if (value.elementType() == MetadataType::f32) CHECK(value.numbers().size() == value.size());
    }
    std::vector<float> out(256);
    for (const StoredTensor& tensor : file.tensors())
        axial::decode(tensor.format, tensor.data, axial::infoOf(tensor.format).blockElements, out.data());
}

}  // namespace

TEST_CASE("gguf: a model file cut off at 1,000 places is refused, naming key or tensor and offset") {
    const Bytes whole = someModel();
    const std::size_t used = usedBytes(whole), header = 24;
    REQUIRE(used > 1000 + header);
    // Half of the places in the first sixteenth, where the descriptions are, and half all over.
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < 500; ++i) {
        places.push_back(header + i * (used / 16) / 500);
        places.push_back(header + i * (used - header) / 500);
    }
    places.push_back(used - 1);
    std::size_t keys = 0, tensors = 0;
    for (const std::size_t place : places) {
        const std::string text = refusal(Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(place)));
        CAPTURE(place);
        CAPTURE(text);
        const bool key = text.find("memory.gguf: key ") == 0, tensor = text.find("memory.gguf: tensor ") == 0;
        CHECK((key || tensor));
        CHECK(text.find(" offset ") != std::string::npos);
        CHECK(text.find(std::to_string(place)) != std::string::npos);  // where the file ends
        keys += key;
        tensors += tensor;
    }
    CHECK(keys > 50);
    CHECK(tensors > 400);
    for (std::size_t place = 0; place < header; ++place) {
        const std::string text = refusal(Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(place)));
        CHECK(text.find("memory.gguf: the header: the ") == 0);
        CHECK(text.find(" at offset ") != std::string::npos);
    }
    CHECK(refusal(Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(used))) == "accepted");
}

TEST_CASE("gguf: a file with altered bytes is refused, or can be used") {
    const Bytes whole = contentOf(std::filesystem::path(AXIAL_TEST_DATA) / "small.gguf");
    std::mt19937 random(11);
    std::size_t refused = 0, used = 0;
    for (int i = 0; i < 20000; ++i) {
        Bytes bytes = whole;
        for (int j = 0; j <= i % 3; ++j) bytes[random() % 1700] = static_cast<std::byte>(random() & 255u);
        try {
            const GgufFile file = parsed(std::move(bytes));
            useAll(file);
            ++used;
        } catch (const axial::Error& error) {
            CHECK(std::string_view(error.what()).starts_with("memory.gguf: "));
            ++refused;
        }
    }
    CHECK(refused > 1000);
    CHECK(used > 1000);
}

TEST_CASE("gguf: as many keys and tensors as are read take less than 64 MB; one more is refused") {
    const auto make = [](std::size_t keys, std::size_t tensors) {
        GgufBytes file;
        for (std::size_t i = 0; i < keys; ++i) file.key("k" + std::to_string(i), std::uint8_t{1});
        for (std::size_t i = 0; i < tensors; ++i) file.tensor("tensor." + std::to_string(i), {1, 1, 1, 1}, 24, 8 * i);
        return file.key("general.alignment", std::uint32_t{8}).bytes(8 * tensors, 8);
    };
    const std::size_t keys = (1u << 16) - 1, tensors = 1u << 17;
    auto most = std::make_shared<const Bytes>(make(keys, tensors));
    const std::size_t before = heldBytes();
    const GgufFile file = GgufFile::parse(most, *most, "most.gguf");
    const std::size_t after = heldBytes();
    CHECK(file.tensors().size() == tensors);
    CHECK(file.findTensor("tensor.131071")->data[0] == std::byte{0xf8});
    CHECK(after - before < std::size_t{64} << 20);
    CHECK(refusal(make(keys + 1, 1)) == "memory.gguf: the header: 65537 keys, and at most 65536 are read");
    CHECK(refusal(make(1, tensors + 1)) == "memory.gguf: the header: 131073 tensors, and at most 131072 are read");
}
