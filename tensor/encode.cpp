#include "axial/tensor/encode.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "axial/tensor/error.h"
#include "axial/tensor/format.h"
#include "axial/tensor/half.h"

namespace axial {
namespace {

constexpr std::size_t blockElements = infoOf(Format::q8_0).blockElements;

// max|x| / 127 over one block that starts at value `first` of the caller's row.
float scaleOf(const float* x, std::size_t first) {
    float largest = 0;
    for (std::size_t i = 0; i < blockElements; ++i) {
        if (!std::isfinite(x[i]))
            throw ValueError("quantizeQ8_0: value " + std::to_string(first + i) + " is " + std::to_string(x[i]) +
                             "; only finite values can be stored");
        largest = std::max(largest, std::fabs(x[i]));
    }
    const float d = largest / 127.0f;
    if (std::isinf(f16ToF32(f32ToF16(d))))
        throw ValueError("quantizeQ8_0: values " + std::to_string(first) + " to " +
                         std::to_string(first + blockElements - 1) + " reach " + std::to_string(largest) +
                         ", and a Q8_0 block stores at most 127 * 65504");
    return d;
}

}  // namespace

void quantizeQ8_0(const float* x, std::size_t n, std::byte* out) {
    if (n % blockElements != 0)
        throw ShapeError("quantizeQ8_0: " + std::to_string(n) + " values are not whole blocks of " +
                         std::to_string(blockElements));
    for (std::size_t first = 0; first < n; first += blockElements) {
        const float d = scaleOf(x + first, first);
        const std::uint16_t stored = f32ToF16(d);
        *out++ = static_cast<std::byte>(stored & 0xffu);
        *out++ = static_cast<std::byte>(stored >> 8);
        const float inverse = d > 0 ? 1.0f / d : 0.0f;
        for (std::size_t i = 0; i < blockElements; ++i) {
            const float code = std::isfinite(inverse) ? std::round(x[first + i] * inverse) : 0.0f;
            *out++ = static_cast<std::byte>(static_cast<std::int8_t>(code));
        }
    }
}

}  // namespace axial
