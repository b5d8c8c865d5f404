// Any bytes as a .npy file: an error of ours, or an array of which every number can be read and compared.
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "axial/llm/compare_values.h"
#include "axial/llm/npy_reader.h"
#include "axial/tensor/error.h"

namespace {

using namespace axial;
using namespace axial::llm;

void require(bool holds) {
    if (!holds) std::abort();
}

void check(std::span<const std::byte> given) {
    auto bytes = std::make_shared<const std::vector<std::byte>>(given.begin(), given.end());
    const StoredTensor array = parseNpy(bytes, *bytes, "fuzz.npy");
    std::size_t count = 1;
    for (const std::size_t extent : array.extent) count *= extent;
    require(array.bytes == count * infoOf(array.format).blockBytes);
    unsigned sum = 0;
    for (std::size_t i = 0; i < array.bytes; ++i) sum += std::to_integer<unsigned>(array.data[i]);
    require(sum <= array.bytes * 255);
    if (array.bytes > 1 << 12) return;
    // A tensor of the same numbers agrees with them.
    static constexpr std::string_view names[] = {"a", "b", "c", "d", "e", "f", "g", "channel"};
    Extents extents{};
    for (std::size_t i = 0; i < array.extent.size(); ++i) extents[i] = array.extent[i];
    TensorRef same = dense(array.format, names + (maxRank - array.extent.size()), array.extent.size(), extents);
    same.data = const_cast<std::byte*>(array.data);
    require(compareValue(same, array, 0).verdict == Verdict::within);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    try {
        check({reinterpret_cast<const std::byte*>(data), size});
    } catch (const axial::Error&) {
    }
    return 0;
}
