// What can only be found at run time. Every mistake in axis names is a compile error (axis_error.h).
#pragma once
#include <stdexcept>
#include <string>
#include <string_view>

namespace axial {

// The base of everything the library throws. The text names the operation, the axis, key or file offset, both values
// that disagree, and what to do about it.
class Error : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

// Extents that do not fit together: "add: axis embed is 2 on the left and 3 on the right".
class ShapeError : public Error {
  public:
    using Error::Error;
};

// A value outside of what an operation is defined for: an index past the end, a NaN where an order is needed.
class ValueError : public Error {
  public:
    using Error::Error;
};

// A file that cannot be read, or that contradicts its own format.
class FileError : public Error {
  public:
    using Error::Error;
};

// A well-formed input that this version does not handle: an architecture, a number format, a pre-tokenizer.
class UnsupportedError : public Error {
  public:
    using Error::Error;
};

// Throws ShapeError: "<operation>: axis <axis> is <left> on the left and <right> on the right".
[[noreturn]] void failExtent(std::string_view operation, std::string_view axis, std::size_t left, std::size_t right);

// Throws ShapeError: "index: axis <axis> has extent <extent>, but position <position> was asked for".
[[noreturn]] void failIndex(std::string_view axis, std::size_t extent, std::size_t position);

// Throws ShapeError if an axis of a fixed size (0: none) would get another extent.
void requireFixed(std::string_view operation, std::string_view axis, std::size_t fixed, std::size_t extent);

// Throws ValueError: the operand has no numbers, because it was moved from or never filled.
[[noreturn]] void failEmpty(std::string_view operation);

}  // namespace axial
