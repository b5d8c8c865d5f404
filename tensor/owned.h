// A tensor without its types, and the loan by which an op may take over an operand's buffer.
#pragma once
#include "axial/tensor/buffer.h"
#include "axial/tensor/ref.h"

namespace axial {

// A value and the buffer it lies in.
struct Owned {
    TensorRef ref;
    Buffer buffer;
};

// A dense, uninitialised tensor. Throws std::bad_alloc, or ShapeError if the size overflows or a block format's
// innermost extent is not whole blocks.
Owned allocate(Format, const std::string_view* names, std::size_t rank, const Extents&);

// An operand: *ref is read; if `buffer` is there, the caller has handed the tensor over.
struct Loan {
    TensorRef* ref;
    Buffer* buffer;
    // The tensor to write a result of this operand's shape into: its own if it was lent, is dense and nobody else holds
    // it; a new one otherwise. Call it after the last check: from here on the caller's tensor may be gone.
    Owned claim(const std::string_view* names) const;
};

}  // namespace axial
