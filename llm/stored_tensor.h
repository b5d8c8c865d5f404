// A tensor as a model file stores it: a name, a number format, extents, and bytes in a mapping.
#pragma once
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "axial/tensor/format.h"
#include "axial/tensor/origin.h"

namespace axial::llm {

struct StoredTensor {
    std::string name;
    Format format = Format::f32;
    std::vector<std::size_t> extent;  // row-major, outermost first (GGUF writes the reverse)
    const std::byte* data = nullptr;  // in the mapped file
    std::size_t bytes = 0;
    std::shared_ptr<const void> mapping;  // keeps the file mapped while anybody borrows from it
    Origin origin = Origin::writable;
};

}  // namespace axial::llm
