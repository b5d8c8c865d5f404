#include "axial/ops/dot_fused.h"

#include <algorithm>
#include <string>
#include <vector>

#include "axial/ops/linear.h"
#include "axial/ops/operand.h"
#include "axial/ops/work.h"
#include "axial/tensor/observe.h"

namespace axial::erased {
namespace {

// `count` axes from `first` on as one: the distance between neighbours, or false if they do not lie as one.
bool lieAsOne(const TensorRef& v, std::size_t first, std::size_t count, std::ptrdiff_t& stride) {
    stride = 0;
    std::ptrdiff_t expected = 0;
    bool any = false;
    for (std::size_t i = first + count; i-- > first;) {
        if (v.extent[i] == 1) continue;
        if (any && v.stride[i] != expected) return false;
        if (!any) stride = v.stride[i];
        any = true;
        expected = v.stride[i] * static_cast<std::ptrdiff_t>(v.extent[i]);
    }
    return true;
}
std::size_t product(const TensorRef& v, std::size_t first, std::size_t count) {
    std::size_t n = 1;
    for (std::size_t i = first; i < first + count; ++i) n *= v.extent[i];
    return n;
}
bool contiguous(const TensorRef& v, std::size_t first, std::size_t count) {
    std::ptrdiff_t stride = 0;
    return lieAsOne(v, first, count, stride) && (stride == 1 || product(v, first, count) <= 1);
}
// Calls f(offset) in elements at every position of `count` axes from `first` on, the last moving fastest.
template <class F>
void forEachOffset(const TensorRef& v, std::size_t first, std::size_t count, F&& f, std::ptrdiff_t offset = 0) {
    if (count == 0) return f(offset);
    for (std::size_t i = 0; i < v.extent[first]; ++i, offset += v.stride[first])
        forEachOffset(v, first + 1, count - 1, f, offset);
}

// A dense copy of floats; `buffer` keeps it.
TensorRef packed(const TensorRef& v, Buffer& buffer) {
    TensorRef r = dense(Format::f32, v.axis, v.rank, v.extent);
    buffer = Buffer(std::max<std::size_t>(1, r.size()) * sizeof(float));
    r.data = buffer.data();
    auto* out = static_cast<float*>(buffer.data());
    const auto* in = static_cast<const float*>(v.data);
    if (r.size() != 0) forEachOffset(v, 0, v.rank, [&](std::ptrdiff_t offset) { *out++ = in[offset]; });
    return r;
}

// The left operand as rows [batch.., m..] of floats, copied only if they do not lie that way.
ActivationRows activationRows(const TensorRef& a, const DotShape& s, Buffer& copy) {
    const std::size_t outer = std::size_t{s.batch} + s.m;
    ActivationRows x{static_cast<const float*>(a.data), 0, product(a, 0, outer), product(a, outer, s.k)};
    if (!contiguous(a, outer, s.k) || !lieAsOne(a, 0, outer, x.stride)) {
        x.data = static_cast<const float*>(packed(a, copy).data);
        x.stride = static_cast<std::ptrdiff_t>(x.k);
    }
    return x;
}

AxisMap identity(std::size_t rank) {
    AxisMap map{static_cast<std::uint8_t>(rank), {}};
    for (std::size_t i = 0; i < rank; ++i) map.from[i] = static_cast<std::int8_t>(i);
    return map;
}

// One contraction on its way: what the products refer to.
struct Contraction {
    TensorRef a, b;  // arranged
    const DotPlan* plan;
    Buffer copyOfB;
};

void checkExtents(const Contraction& c) {
    const DotShape& s = c.plan->shape;
    for (int i = 0; i < s.batch; ++i)
        if (c.a.extent[i] != c.b.extent[i]) failExtent("dot", c.plan->names[i], c.a.extent[i], c.b.extent[i]);
    for (int i = 0; i < s.k; ++i) {
        const std::size_t l = c.a.extent[s.batch + s.m + i], r = c.b.extent[s.batch + s.n + i];
        if (l != r) failExtent("dot", c.a.axis[c.plan->a.from[s.batch + s.m + i]], l, r);
    }
}

// The right operand's contracted axes must lie side by side: a view is copied, a Stored is refused.
void makeRows(Contraction& c) {
    const DotShape& s = c.plan->shape;
    const std::size_t outer = std::size_t{s.batch} + s.n, k = product(c.b, outer, s.k);
    const FormatInfo& info = infoOf(c.b.format);
    if (k % info.blockElements != 0)
        throw ShapeError("dot: the summed axes of " + std::string(c.b.label) + describe(c.b) + " hold " +
                         std::to_string(k) + " values, which is not whole blocks of " + std::string(info.name));
    if (contiguous(c.b, outer, s.k)) return;
    if (c.b.format != Format::f32)
        throw ShapeError("dot: the summed axes of " + std::string(c.b.label) + describe(c.b) +
                         " do not lie side by side; narrow the outermost of them only, or copy() first");
    c.b = packed(c.b, c.copyOfB);
}

Extents resultExtents(const Contraction& c) {
    const DotShape& s = c.plan->shape;
    Extents extent{};
    for (int i = 0; i < s.batch + s.m; ++i) extent[i] = c.a.extent[i];
    for (int i = 0; i < s.n; ++i) extent[s.batch + s.m + i] = c.b.extent[s.batch + i];
    return extent;
}

// Appends the matrix products that the contraction consists of: one, unless there are batch axes or the weight's own
// axes do not lie as one.
void appendProducts(const Contraction& c, float* out, std::vector<RowsProduct>& products) {
    const DotShape& s = c.plan->shape;
    const std::size_t m = product(c.a, s.batch, s.m), n = product(c.b, s.batch, s.n);
    const FormatInfo& info = infoOf(c.b.format);
    const auto bytes = [&](std::ptrdiff_t elements) {
        return elements / info.blockElements * static_cast<std::ptrdiff_t>(info.blockBytes);
    };
    const auto* base = static_cast<const std::byte*>(c.b.data);
    std::size_t together = s.n;  // the trailing own axes that lie as one
    std::ptrdiff_t stride = 0;
    while (!lieAsOne(c.b, std::size_t{s.batch} + s.n - together, together, stride)) --together;
    const std::size_t rows = product(c.b, std::size_t{s.batch} + s.n - together, together);
    std::size_t firstRow = 0;
    forEachOffset(c.b, 0, s.batch, [&](std::ptrdiff_t batch) {
        float* column = out + firstRow * n;
        forEachOffset(
            c.b, s.batch, s.n - together,
            [&](std::ptrdiff_t at) {
                products.push_back({{c.b.format, base + bytes(at), bytes(stride), c.b.slot},
                                    rows,
                                    firstRow,
                                    m,
                                    column,
                                    static_cast<std::ptrdiff_t>(n)});
                column += rows;
            },
            batch);
        firstRow += m;
    });
}

// Several contractions of one left operand, which all see it in the same order.
void contract(const TensorRef& a, const TensorRef* const* b, const DotPlan* const* plan, std::size_t count,
              Owned* out) {
    std::vector<Contraction> contractions(count);
    for (std::size_t i = 0; i < count; ++i) {
        contractions[i] = {arranged(a, plan[i]->a), arranged(*b[i], plan[i]->b), plan[i], {}};
        checkExtents(contractions[i]);
        makeRows(contractions[i]);
    }
    std::vector<RowsProduct> products;
    for (std::size_t i = 0; i < count; ++i) {
        const DotShape& s = plan[i]->shape;
        out[i] =
            allocate(Format::f32, plan[i]->names, std::size_t{s.batch} + s.m + s.n, resultExtents(contractions[i]));
        if (out[i].ref.size() != 0) appendProducts(contractions[i], static_cast<float*>(out[i].ref.data), products);
    }
    Buffer copy;
    multiply(activationRows(contractions[0].a, plan[0]->shape, copy), products.data(), products.size());
}

bool sameOrder(const DotPlan& l, const DotPlan& r) {
    return l.shape.batch == r.shape.batch && l.shape.m == r.shape.m && l.a.rank == r.a.rank &&
           std::equal(l.a.from, l.a.from + l.a.rank, r.a.from);
}

// The single product of the contraction, if it is one: the weights' own axes lie as one, and there is no batch axis.
bool isOneProduct(const Contraction& c) {
    std::ptrdiff_t stride;
    return c.plan->shape.batch == 0 && lieAsOne(c.b, 0, c.plan->shape.n, stride);
}

// What out = dot(a, b) costs.
Work workOf(const TensorRef& a, const TensorRef& b, const DotPlan& plan, const TensorRef& out) {
    std::size_t length = 1;
    for (std::size_t i = plan.a.rank - std::size_t{plan.shape.k}; i < plan.a.rank; ++i)
        length *= a.extent[static_cast<std::size_t>(plan.a.from[i])];
    return work::dot(out.size(), length, meetsCodes(b.format));
}

}  // namespace

Owned dot(const TensorRef& a, const TensorRef& b, const DotPlan& plan) {
    OpCall call("dot", {&a, &b});
    const TensorRef* const operand = &b;
    const DotPlan* const only = &plan;
    Owned out;
    contract(AsFloat(a).ref(), &operand, &only, 1, &out);
    call.done(out.ref, [&] { return workOf(a, b, plan, out.ref); });
    return out;
}

void dotAll(std::span<const TensorRef* const> operands, const DotPlan* const* plan, Owned* out) {
    const TensorRef& a = *operands.front();
    const TensorRef* const* const b = operands.data() + 1;
    const std::size_t count = operands.size() - 1;
    bool together = !everyValueIsWatched() && count != 0;
    for (std::size_t i = 0; i < count; ++i) {
        together = together && sameOrder(*plan[i], *plan[0]);
        if (!a.data || !b[i]->data) failEmpty("dotAll");
    }
    if (!together) {
        for (std::size_t i = 0; i < count; ++i) out[i] = dot(a, *b[i], *plan[i]);
        return;
    }
    OpCall call("dotAll", operands);
    contract(AsFloat(a).ref(), b, plan, count, out);
    for (std::size_t i = 1; i < count; ++i) call.also(out[i].ref);
    call.done(out[0].ref, [&] {
        Work all;
        for (std::size_t i = 0; i < count; ++i) all = work::both(all, workOf(a, *b[i], *plan[i], out[i].ref));
        return all;
    });
}

Owned swigluDot(const TensorRef& a, const TensorRef& gate, const TensorRef& up, const DotPlan& plan) {
    if (!a.data || !gate.data || !up.data) failEmpty("swigluDot");
    const AsFloat x(a);
    Contraction g{arranged(x.ref(), plan.a), arranged(gate, plan.b), &plan, {}};
    Contraction u{g.a, arranged(up, plan.b), &plan, {}};
    for (std::size_t i = 0; i < g.b.rank; ++i)
        requireSame("swigluDot", gate.axis[static_cast<std::size_t>(plan.b.from[i])], g.b.extent[i], u.b.extent[i]);
    if (everyValueIsWatched() || !isOneProduct(g) || !isOneProduct(u)) {
        Owned left = dot(a, gate, plan);
        const Owned right = dot(a, up, plan);
        const AxisMap same = identity(left.ref.rank);
        return pointwise(kernels::Pointwise::swiglu, "swiglu", Loan{&left.ref, &left.buffer}, right.ref,
                         {plan.names, same, same});
    }
    OpCall call("swigluDot", {&a, &gate, &up});
    checkExtents(g);
    makeRows(g);
    makeRows(u);
    Owned out = allocate(Format::f32, plan.names, std::size_t{plan.shape.m} + plan.shape.n, resultExtents(g));
    if (out.ref.size() != 0) {
        std::vector<RowsProduct> products;
        appendProducts(g, static_cast<float*>(out.ref.data), products);
        appendProducts(u, nullptr, products);
        products[0].up = &products[1].w;
        Buffer copy;
        multiply(activationRows(g.a, plan.shape, copy), products.data(), 1);
    }
    call.done(out.ref, [&] {
        const Work products = work::both(workOf(a, gate, plan, out.ref), workOf(a, up, plan, out.ref));
        return work::both(products, work::swiglu(out.ref.size()));
    });
    return out;
}

Owned addDot(Loan stream, const TensorRef& a, const TensorRef& b, const DotPlan& plan) {
    if (!stream.ref->data || !a.data || !b.data) failEmpty("addDot");
    const AsFloat x(a);
    Contraction c{arranged(x.ref(), plan.a), arranged(b, plan.b), &plan, {}};
    checkExtents(c);
    const Extents extent = resultExtents(c);
    for (std::size_t i = 0; i < stream.ref->rank; ++i)
        requireSame("addDot", stream.ref->axis[i], stream.ref->extent[i], extent[i]);
    if (everyValueIsWatched() || !isOneProduct(c) || stream.ref->format != Format::f32 || !stream.ref->isDense()) {
        const Owned product = dot(a, b, plan);
        const AxisMap same = identity(product.ref.rank);
        return pointwise(kernels::Pointwise::add, "add", stream, product.ref, {plan.names, same, same});
    }
    OpCall call("addDot", {stream.ref, &a, &b});
    makeRows(c);
    const auto* add = static_cast<const float*>(stream.ref->data);
    Owned out = unlessShared(stream, {&a, &b}).claim(plan.names);
    if (out.ref.size() != 0) {
        std::vector<RowsProduct> products;
        appendProducts(c, static_cast<float*>(out.ref.data), products);
        products[0].add = add;
        products[0].addStride = products[0].outStride;
        Buffer copy;
        multiply(activationRows(c.a, plan.shape, copy), products.data(), 1);
    }
    call.done(out.ref, [&] { return work::both(workOf(a, b, plan, out.ref), work::add(out.ref.size())); });
    return out;
}

}  // namespace axial::erased
