// A tensor as text, with its axes.
#pragma once
#include <iosfwd>
#include <string>

#include "axial/tensor/stored.h"
#include "axial/tensor/view.h"

namespace axial {

// The axes, their extents and the values, rows along the last axis:
//
//   [seq=2, embed=3]
//   seq 0   1.5      -2  0.25
//   seq 1     3  0.0625     4
//
// Numbers have four significant digits. Of an axis with more than eight positions (six where it makes lines) the first
// and the last few are shown. What is stored in blocks is decoded; its format is named behind the axes.
std::string toText(const TensorRef&);
// The first `count` values in the axes' order, and "..." if there are more: "0.65 0.264 ...".
std::string firstValues(const TensorRef&, std::size_t count);

namespace detail {
std::ostream& print(std::ostream&, const TensorRef&);
}
template <class T, auto... A>
std::ostream& operator<<(std::ostream& out, const View<T, A...>& v) {
    return detail::print(out, v.ref());
}
template <auto... A>
std::ostream& operator<<(std::ostream& out, const Stored<A...>& v) {
    return detail::print(out, v.ref());
}

}  // namespace axial
