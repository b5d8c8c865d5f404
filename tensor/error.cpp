#include "axial/tensor/error.h"

namespace axial {

void failExtent(std::string_view operation, std::string_view axis, std::size_t left, std::size_t right) {
    throw ShapeError(std::string(operation) + ": axis " + std::string(axis) + " is " + std::to_string(left) +
                     " on the left and " + std::to_string(right) + " on the right");
}

void failIndex(std::string_view axis, std::size_t extent, std::size_t position) {
    throw ShapeError("index: axis " + std::string(axis) + " has extent " + std::to_string(extent) + ", but position " +
                     std::to_string(position) + " was asked for");
}

void requireFixed(std::string_view operation, std::string_view axis, std::size_t fixed, std::size_t extent) {
    if (fixed != 0 && fixed != extent)
        throw ShapeError(std::string(operation) + ": axis " + std::string(axis) + " always has " +
                         std::to_string(fixed) + " positions, but its extent would be " + std::to_string(extent));
}

void failEmpty(std::string_view operation) {
    throw ValueError(std::string(operation) +
                     ": an operand holds nothing: it was moved from, or never filled; use the result it went into");
}

}  // namespace axial
