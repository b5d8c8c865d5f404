#include "axial/tensor/error.h"

namespace axial {

void failExtent(std::string_view operation, std::string_view axis, std::size_t left, std::size_t right) {
    throw ShapeError(std::string(operation) + ": axis " + std::string(axis) + " is " + std::to_string(left) +
                     " on the left and " + std::to_string(right) + " on the right");
}

}  // namespace axial
