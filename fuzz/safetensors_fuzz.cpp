// Any bytes as a safetensors file, or, where they begin with "{", as a config.json: an error of ours, or something of
// which everything can be used.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "axial/llm/hugging_face.h"
#include "axial/llm/safetensors.h"
#include "axial/tensor/error.h"

namespace {

using namespace axial::llm;

void require(bool holds) {
    if (!holds) std::abort();
}

void checkFile(std::string_view content) {
    const auto* from = reinterpret_cast<const std::byte*>(content.data());
    auto bytes = std::make_shared<const std::vector<std::byte>>(from, from + content.size());
    const Safetensors file = Safetensors::parse(bytes, *bytes, "fuzz.safetensors");
    std::uint64_t total = 0;
    unsigned sum = 0;
    for (const StoredTensor& tensor : file.tensors()) {
        require(file.find(tensor.name)->name == tensor.name);
        (void)ggufNameOf(tensor.name);
        std::uint64_t count = 1;
        for (const std::size_t extent : tensor.extent) count *= extent;
        require(tensor.bytes == count * static_cast<std::uint64_t>(axial::infoOf(tensor.format).blockBytes));
        for (std::size_t i = 0; i < tensor.bytes; ++i) sum += std::to_integer<unsigned>(tensor.data[i]);
        total += tensor.bytes;
    }
    require(total <= content.size() && sum <= total * 255);
}

// Read by its path: this is one in memory.
void checkConfig(std::string_view content) {
    const int file = ::memfd_create("config.json", MFD_CLOEXEC);
    require(file >= 0 && ::write(file, content.data(), content.size()) == static_cast<ssize_t>(content.size()));
    try {
        const Hyperparameters h = readConfig("/proc/self/fd/" + std::to_string(file)).hyperparameters;
        require(h.layers != 0 && h.heads % h.kvHeads == 0 && h.ropeChannels <= h.channels && h.ropeChannels % 2 == 0);
    } catch (const axial::Error&) {
    }
    ::close(file);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view input(reinterpret_cast<const char*>(data), size);
    if (input.starts_with("{")) {
        checkConfig(input);
        return 0;
    }
    try {
        checkFile(input);
    } catch (const axial::Error&) {
    }
    return 0;
}
