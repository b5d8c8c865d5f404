#include "axial/ops/elementwise.h"

#include "axial/ops/rows.h"
#include "axial/ops/work.h"
#include "axial/tensor/error.h"
#include "axial/tensor/observe.h"

namespace axial::erased {
namespace {

// A strided row is brought together in pieces of this many values.
constexpr std::size_t pieceLength = 256;

// out = op(a, b); all carry out's axes in out's order, stride 0 where one is broadcast, and out's rows have no gaps.
void run(kernels::Pointwise op, const TensorRef& out, const TensorRef& a, const TensorRef& b) {
    const std::size_t outer = out.rank ? out.rank - 1u : 0u;
    const std::size_t n = out.rank ? out.extent[outer] : 1;
    const std::ptrdiff_t aStride = out.rank ? a.stride[outer] : 0, bStride = out.rank ? b.stride[outer] : 0;
    const bool gapless = (aStride == 0 || aStride == 1) && (bStride == 0 || bStride == 1);
    const auto row = [&](float* to, const float* x, const float* y, std::size_t count) {
        if (gapless) return kernels::pointwise(op, to, x, int(aStride), y, int(bStride), count);
        float xs[pieceLength], ys[pieceLength];
        for (std::size_t i = 0; i < count; i += pieceLength) {
            const std::size_t m = std::min(pieceLength, count - i);
            for (std::size_t k = 0; k < m; ++k) {
                xs[k] = x[static_cast<std::ptrdiff_t>(i + k) * aStride];
                ys[k] = y[static_cast<std::ptrdiff_t>(i + k) * bStride];
            }
            kernels::pointwise(op, to + i, xs, 1, ys, 1, m);
        }
    };
    float* to = static_cast<float*>(out.data);
    const auto *x = static_cast<const float*>(a.data), *y = static_cast<const float*>(b.data);
    if (out.isDense() && a.isDense() && b.isDense()) {  // one long row, cut anywhere
        return parallelFor(out.size(), valuesPerTask, [&](std::size_t begin, std::size_t end) {
            kernels::pointwise(op, to + begin, x + begin, 1, y + begin, 1, end - begin);
        });
    }
    forEachRow<3>(outer, {&out, &a, &b}, n,
                  [&](const std::array<std::ptrdiff_t, 3>& at) { row(to + at[0], x + at[1], y + at[2], n); });
}

}  // namespace

Owned pointwise(kernels::Pointwise op, std::string_view name, Loan left, const TensorRef& right, const PairPlan& plan) {
    OpCall call(name, {left.ref, &right});
    Extents extent{};
    for (std::size_t i = 0; i < plan.a.rank; ++i) {
        const int ia = plan.a.from[i], ib = plan.b.from[i];
        if (ia >= 0 && ib >= 0) requireSame(name, plan.names[i], left.ref->extent[ia], right.extent[ib]);
        extent[i] = ia >= 0 ? left.ref->extent[ia] : right.extent[ib];
    }
    const AsFloat x(left), y(right);
    const TensorRef a = arranged(x.ref(), plan.a, &extent), b = arranged(y.ref(), plan.b, &extent);
    // b may be a view into a: writing over a is then safe only if both meet element by element.
    const bool inPlace = a.data == b.data && a.stride == b.stride;
    const Loan loan = inPlace ? x.loan() : unlessShared(x.loan(), {&b});
    Owned out =
        loan.ref->rank == plan.a.rank ? loan.claim(plan.names) : allocate(Format::f32, plan.names, plan.a.rank, extent);
    run(op, out.ref, a, b);
    call.done(out.ref, [&] {
        const std::size_t values = out.ref.size();
        return op == kernels::Pointwise::swiglu ? work::swiglu(values) : work::add(values);
    });
    return out;
}

Owned scale(Loan operand, float factor) {
    OpCall call("scale", {operand.ref});
    const AsFloat x(operand);
    const TensorRef in = x.ref();
    TensorRef number = in;
    number.data = &factor;
    number.stride = {};
    Owned out = x.loan().claim(operand.ref->axis);
    run(kernels::Pointwise::mul, out.ref, in, number);
    call.done(out.ref, [&] { return work::multiply(out.ref.size()); });
    return out;
}

Owned splitGated(const TensorRef& operand, std::size_t axis, const std::string_view* names) {
    OpCall call("splitGated", {&operand});
    const std::size_t whole = operand.extent[axis];
    if (whole % 2 != 0)
        throw ShapeError("splitGated: axis " + std::string(operand.axis[axis]) + " has extent " +
                         std::to_string(whole) + ", which has no halves");
    const AsFloat x(operand);
    Extents extent = operand.extent;
    extent[axis] = whole / 2;
    Owned out = allocate(Format::f32, names, operand.rank, extent);
    const TensorRef gate = narrowed(x.ref(), axis, 0, whole / 2), up = narrowed(x.ref(), axis, whole / 2, whole / 2);
    run(kernels::Pointwise::swiglu, out.ref, gate, up);
    call.done(out.ref, [&] { return work::swiglu(out.ref.size()); });
    return out;
}

}  // namespace axial::erased
