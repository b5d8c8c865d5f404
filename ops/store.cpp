#include "axial/ops/store.h"

#include <cstring>

#include "axial/ops/store_kernels.h"
#include "axial/tensor/encode.h"
#include "axial/tensor/error.h"
#include "axial/tensor/observe.h"

namespace axial::erased {
namespace {

void storeRow(Format format, const float* x, std::size_t n, std::byte* out) {
    if (format == Format::f32)
        std::memcpy(out, x, n * sizeof(float));
    else if (format == Format::f16)
        kernels::storeF16(x, n, reinterpret_cast<std::uint16_t*>(out));
    else
        quantizeQ8_0(x, n, out);
}

// The address of the value at a row's start, `elements` values after the first.
std::byte* rowOf(const TensorRef& v, std::ptrdiff_t elements) {
    const FormatInfo& info = infoOf(v.format);
    return static_cast<std::byte*>(v.data) + elements / info.blockElements * info.blockBytes;
}

}  // namespace

void store(const TensorRef& from, const TensorRef& into) {
    if (into.format != Format::f32 && into.format != Format::f16 && into.format != Format::q8_0)
        throw ShapeError("store: numbers are written as F32, F16 or Q8_0, not as " + std::string(nameOf(into.format)));
    for (std::size_t i = 0; i < from.rank; ++i)
        if (from.extent[i] != into.extent[i]) failExtent("store", into.axis[i], from.extent[i], into.extent[i]);
    if (from.size() == 0) return;
    const std::size_t last = from.rank - 1u, n = from.extent[last], block = infoOf(into.format).blockElements;
    if (n % block != 0)
        throw ShapeError("store: axis " + std::string(into.axis[last]) + " is " + std::to_string(n) +
                         ", not a multiple of the " + std::to_string(block) + " values in a block of " +
                         std::string(nameOf(into.format)) + "; use F16");
    if ((n > 1 && from.stride[last] != 1) || (n > 1 && into.stride[last] != 1))
        throw ShapeError("store: axis " + std::string(into.axis[last]) + " does not lie without gaps; copy() first");

    OpCall call("store", {&from});
    std::size_t at[maxRank]{};
    for (;;) {
        std::ptrdiff_t source = 0, target = 0;
        for (std::size_t i = 0; i < last; ++i) {
            source += static_cast<std::ptrdiff_t>(at[i]) * from.stride[i];
            target += static_cast<std::ptrdiff_t>(at[i]) * into.stride[i];
        }
        storeRow(into.format, static_cast<const float*>(from.data) + source, n, rowOf(into, target));
        std::size_t i = last;
        while (i-- > 0) {
            if (++at[i] < from.extent[i]) break;
            at[i] = 0;
        }
        if (i == static_cast<std::size_t>(-1)) break;
    }
    call.wrote(into);
}

}  // namespace axial::erased
