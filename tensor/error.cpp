#include "axial/tensor/error.h"

namespace axial {

void failExtent(std::string_view operation, std::string_view axis, std::size_t left, std::size_t right) {
    throw ShapeError(std::string(operation) + ": axis " + std::string(axis) + " is " + std::to_string(left) +
                     " on the left and " + std::to_string(right) + " on the right");
}

void requireFixed(std::string_view axis, std::size_t fixed, std::size_t extent) {
    if (fixed != 0 && fixed != extent)
        throw ShapeError("tensor: axis " + std::string(axis) + " has the fixed size " + std::to_string(fixed) +
                         ", but an extent of " + std::to_string(extent) + " was asked for");
}

}  // namespace axial
