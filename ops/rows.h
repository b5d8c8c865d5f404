// Walks the rows of tensors whose names are run-time data. A row runs along the last axis; the axes before it, which
// all operands share, are walked with one offset per operand.
#pragma once
#include <algorithm>
#include <array>

#include "axial/ops/operand.h"
#include "axial/ops/structure.h"
#include "axial/tensor/parallel.h"

namespace axial::erased {

// The positions of the outer axes of N operands, in row-major order, from row 0 on. Adjacent axes that every operand
// lays out as one are merged first.
template <std::size_t N>
class RowWalk {
  public:
    // The first `outer` axes of each; the extents are the first operand's.
    RowWalk(std::size_t outer, const std::array<const TensorRef*, N>& operand) {
        for (std::size_t i = 0; i < outer; ++i) {
            const std::size_t extent = operand[0]->extent[i];
            rows_ *= extent;
            if (extent == 1) continue;
            bool merges = rank_ > 0;
            for (std::size_t k = 0; k < N; ++k)
                merges = merges && step_[k][rank_ - 1] == operand[k]->stride[i] * static_cast<std::ptrdiff_t>(extent);
            if (!merges) extent_[rank_++] = 1;
            extent_[rank_ - 1] *= extent;
            for (std::size_t k = 0; k < N; ++k) step_[k][rank_ - 1] = operand[k]->stride[i];
        }
    }
    std::size_t rows() const { return rows_; }
    // In elements, for each operand, of the current row.
    const std::array<std::ptrdiff_t, N>& offset() const { return offset_; }
    // row < rows()
    void seek(std::size_t row) {
        offset_ = {};
        for (std::size_t i = rank_; i-- > 0;) {
            at_[i] = row % extent_[i];
            row /= extent_[i];
            for (std::size_t k = 0; k < N; ++k) offset_[k] += step_[k][i] * static_cast<std::ptrdiff_t>(at_[i]);
        }
    }
    void next() {
        for (std::size_t i = rank_; i-- > 0;) {
            for (std::size_t k = 0; k < N; ++k) offset_[k] += step_[k][i];
            if (++at_[i] < extent_[i]) return;
            at_[i] = 0;
            for (std::size_t k = 0; k < N; ++k) offset_[k] -= step_[k][i] * static_cast<std::ptrdiff_t>(extent_[i]);
        }
    }

  private:
    std::size_t rows_ = 1;
    std::size_t rank_ = 0;
    std::array<std::size_t, maxRank> extent_{}, at_{};
    std::array<std::array<std::ptrdiff_t, maxRank>, N> step_{};
    std::array<std::ptrdiff_t, N> offset_{};
};

inline float* floats(const TensorRef& r) { return static_cast<float*>(r.data); }

// Work is shared among threads in parts of about this many values: some 10 microseconds of arithmetic, which is well
// above the price of handing it out.
inline constexpr std::size_t valuesPerTask = 16384;

// f(offsets) for every row, several rows a task; `length` is the work of a row in values.
template <std::size_t N, class F>
void forEachRow(std::size_t outer, const std::array<const TensorRef*, N>& operand, std::size_t length, F&& f) {
    const RowWalk<N> walk(outer, operand);
    const std::size_t grain = std::max<std::size_t>(1, valuesPerTask / std::max<std::size_t>(1, length));
    parallelFor(walk.rows(), grain, [&](std::size_t begin, std::size_t end) {
        RowWalk<N> at = walk;
        at.seek(begin);
        for (std::size_t row = begin; row < end; ++row, at.next()) f(at.offset());
    });
}

// An operand in the order of `rows`, whose last axis lies without gaps: itself or a copy, decoded if need be.
class RowsOf {
  public:
    RowsOf(const TensorRef& operand, const AxisMap& rows) : values_(operand), ref_(arranged(values_.ref(), rows)) {
        const std::size_t last = rows.rank - 1u;
        if (ref_.extent[last] <= 1 || ref_.stride[last] == 1) return;
        copy_ = copyDense(ref_);
        ref_ = copy_.ref;
    }
    const TensorRef& ref() const { return ref_; }

  private:
    AsFloat values_;
    TensorRef ref_;
    Owned copy_;
};

// An op that maps each row of x to a row of the same length. `rows` has the row's axis last; `run(out, in)` gets both
// in that order, with rows that lie without gaps, and may get the same tensor as both. All checks come before.
template <class F>
Owned mapRows(Loan x, const AxisMap& rows, F&& run) {
    const std::size_t last = rows.rank - 1u;
    const auto gapless = [last](const TensorRef& r) { return r.extent[last] <= 1 || r.stride[last] == 1; };
    const TensorRef in = arranged(*x.ref, rows);
    // the result has x's axes in x's order
    if (gapless(in) && gapless(arranged(dense(Format::f32, x.ref->axis, x.ref->rank, x.ref->extent), rows))) {
        Owned out = x.claim(x.ref->axis);
        run(arranged(out.ref, rows), in);
        return out;
    }
    const Owned scratch = copyDense(in);
    Owned out = x.claim(x.ref->axis);
    run(scratch.ref, scratch.ref);
    copyValues(scratch.ref, arranged(out.ref, rows));
    return out;
}

}  // namespace axial::erased
