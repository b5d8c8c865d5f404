// What the untyped ops do with an operand before they compute: decode it, compare extents, decide whose buffer the
// result goes into.
#pragma once
#include <initializer_list>

#include "axial/tensor/owned.h"

namespace axial::erased {

// An operand as floats: itself if it is stored as F32, else a decoded copy (so meant for what is small, such as the
// weight of a norm), which is then lent to the op. With `dense`, also a copy if its values do not lie one after the
// other. Throws ShapeError if its rows are not whole blocks, std::bad_alloc.
class AsFloat {
  public:
    explicit AsFloat(Loan operand, bool dense = false);
    explicit AsFloat(const TensorRef& operand, bool dense = false)
        : AsFloat(Loan{const_cast<TensorRef*>(&operand), nullptr}, dense) {}
    AsFloat(const AsFloat&) = delete;
    AsFloat& operator=(const AsFloat&) = delete;
    const TensorRef& ref() const { return *loan_.ref; }
    const float* values() const { return static_cast<const float*>(loan_.ref->data); }
    Loan loan() const { return loan_; }

  private:
    Loan loan_;
    Owned copy_;
};

// Throws ShapeError (failExtent) if two extents of an axis differ.
void requireSame(std::string_view operation, std::string_view axis, std::size_t left, std::size_t right);

// x without the loan if another operand lies in x's buffer, so that writing over x could change it: then the result
// needs a buffer of its own.
Loan unlessShared(Loan x, std::initializer_list<const TensorRef*> others);

}  // namespace axial::erased
