// Linear layers on stored bytes, as the tests ask for them.
#pragma once
#include <algorithm>
#include <cstddef>
#include <vector>

#include "axial/ops/linear.h"

namespace axial {

inline std::size_t blockOf(Format format) { return std::max<std::size_t>(infoOf(format).blockElements, 1); }

// x [m, k] times the transpose of the stored w [n, k].
inline std::vector<float> product(Format format, const std::vector<std::byte>& w, std::size_t n,
                                  const std::vector<float>& x, std::size_t m, std::size_t k) {
    std::vector<float> out(m * n, -1.0f);
    const erased::RowsProduct p{{format, w.data(), static_cast<std::ptrdiff_t>(bytesOf(format, k))},
                                n,
                                0,
                                m,
                                out.data(),
                                static_cast<std::ptrdiff_t>(n)};
    erased::multiply({x.data(), static_cast<std::ptrdiff_t>(k), m, k}, &p, 1);
    return out;
}

}  // namespace axial
