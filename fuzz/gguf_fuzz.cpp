// Any bytes as a GGUF file: an error of ours, or a file of which everything can be used.
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <vector>

#include "axial/llm/gguf.h"
#include "axial/tensor/decode.h"
#include "axial/tensor/error.h"

namespace {

using namespace axial::llm;

void require(bool holds) {
    if (!holds) std::abort();
}

// Asks a value for everything that it might be; what it is not, it must say.
void use(const MetadataValue& value) {
    const auto ask = [](auto&& question) {
        try {
            question();
        } catch (const axial::FileError&) {
        }
    };
    ask([&] { (void)value.integer(); });
    ask([&] { require(value.count() <= ~std::uint64_t{0} >> 1); });
    ask([&] { (void)value.number(); });
    ask([&] { (void)value.boolean(); });
    ask([&] { require(value.string().empty() || value.string().front() == value.string()[0]); });
    if (value.type() != MetadataType::array) return;
    ask([&] {
        std::size_t bytes = 0;
        const auto all = value.strings();
        for (const std::string_view text : all)
            for (const char c : text) bytes += c != 0;
        require(all.size() == value.size() && bytes < 1u << 30);
    });
    ask([&] { require(value.integers().size() == value.size()); });
    ask([&] { require(value.numbers().size() == value.size()); });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    // A copy of just the size, so that reading past the end is seen.
    const auto* from = reinterpret_cast<const std::byte*>(data);
    auto bytes = std::make_shared<const std::vector<std::byte>>(from, from + size);
    try {
        const GgufFile file = GgufFile::parse(bytes, *bytes, "fuzz.gguf");
        for (const MetadataValue& value : file.metadata()) {
            require(file.find(value.key()) == &value);
            use(value);
        }
        std::vector<float> out(256);
        for (const StoredTensor& tensor : file.tensors()) {
            require(file.findTensor(tensor.name) == &tensor);
            const axial::FormatInfo& format = axial::infoOf(tensor.format);
            require(tensor.bytes >= format.blockBytes);
            axial::decode(tensor.format, tensor.data, format.blockElements, out.data());
            axial::decode(tensor.format, tensor.data + tensor.bytes - format.blockBytes, format.blockElements,
                          out.data());
        }
    } catch (const axial::Error& error) {
        require(std::string_view(error.what()).starts_with("fuzz.gguf: "));
    }
    return 0;
}
