#include "axial/ops/dot_plain.h"

namespace axial::plain {
namespace {

// Calls f(offset in a, offset in b) at every position of `count` axes, which start at axis ia of a and ib of b; the
// last axis moves fastest. -1: an operand without these axes.
template <class F>
void forEachPosition(const TensorRef& a, int ia, const TensorRef& b, int ib, int count, F f) {
    const auto walk = [&](auto& self, int depth, std::ptrdiff_t oa, std::ptrdiff_t ob) -> void {
        if (depth == count) return f(oa, ob);
        const std::size_t extent = ia >= 0 ? a.extent[ia + depth] : b.extent[ib + depth];
        for (std::size_t i = 0; i < extent; ++i) {
            self(self, depth + 1, oa, ob);
            if (ia >= 0) oa += a.stride[ia + depth];
            if (ib >= 0) ob += b.stride[ib + depth];
        }
    };
    walk(walk, 0, 0, 0);
}

}  // namespace

void dot(const DotShape& shape, const TensorRef& out, const TensorRef& a, const TensorRef& b) {
    const auto* pa = static_cast<const float*>(a.data);
    const auto* pb = static_cast<const float*>(b.data);
    auto* result = static_cast<float*>(out.data);
    forEachPosition(a, 0, b, 0, shape.batch, [&](std::ptrdiff_t batchA, std::ptrdiff_t batchB) {
        forEachPosition(a, shape.batch, b, -1, shape.m, [&](std::ptrdiff_t rowA, std::ptrdiff_t) {
            forEachPosition(a, -1, b, shape.batch, shape.n, [&](std::ptrdiff_t, std::ptrdiff_t rowB) {
                double sum = 0;
                forEachPosition(a, shape.batch + shape.m, b, shape.batch + shape.n, shape.k,
                                [&](std::ptrdiff_t ka, std::ptrdiff_t kb) {
                                    sum += static_cast<double>(pa[batchA + rowA + ka]) *
                                           static_cast<double>(pb[batchB + rowB + kb]);
                                });
                *result++ = static_cast<float>(sum);
            });
        });
    });
}

}  // namespace axial::plain
