#include "axial/ops/structure.h"

#include <cstring>

#include "axial/ops/rows.h"
#include "axial/tensor/decode.h"
#include "axial/tensor/error.h"
#include "axial/tensor/observe.h"

namespace axial::erased {
namespace {

// The last axis is the row; a tensor without axes is a row of one value.
std::size_t outerRank(const TensorRef& r) { return r.rank ? r.rank - 1u : 0u; }
std::size_t rowLength(const TensorRef& r) { return r.rank ? r.extent[r.rank - 1] : 1; }
std::ptrdiff_t rowStride(const TensorRef& r) { return r.rank ? r.stride[r.rank - 1] : 1; }

Owned allocateLike(Format format, const TensorRef& like) { return allocate(format, like.axis, like.rank, like.extent); }

template <class Bits>
void copyRow(const std::byte* from, std::ptrdiff_t fromStride, std::byte* into, std::ptrdiff_t intoStride,
             std::size_t n) {
    const Bits* source = reinterpret_cast<const Bits*>(from);
    Bits* target = reinterpret_cast<Bits*>(into);
    for (std::size_t i = 0; i < n; ++i, source += fromStride, target += intoStride) *target = *source;
}

void requireSameExtents(std::string_view operation, const TensorRef& left, const TensorRef& right,
                        std::size_t except = maxRank) {
    for (std::size_t i = 0; i < left.rank; ++i)
        if (i != except) requireSame(operation, left.axis[i], left.extent[i], right.extent[i]);
}

}  // namespace

void copyValues(const TensorRef& from, const TensorRef& into) noexcept {
    const auto size = static_cast<std::ptrdiff_t>(infoOf(into.format).blockBytes);
    const std::size_t n = rowLength(into);
    const std::ptrdiff_t fromStride = rowStride(from), intoStride = rowStride(into);
    const auto* source = static_cast<const std::byte*>(from.data);
    auto* target = static_cast<std::byte*>(into.data);
    forEachRow<2>(outerRank(into), {&into, &from}, n, [&](const std::array<std::ptrdiff_t, 2>& at) {
        std::byte* to = target + at[0] * size;
        const std::byte* of = source + at[1] * size;
        if (fromStride == 1 && intoStride == 1)
            std::memmove(to, of, n * static_cast<std::size_t>(size));
        else if (size == 4)
            copyRow<std::uint32_t>(of, fromStride, to, intoStride, n);
        else if (size == 2)
            copyRow<std::uint16_t>(of, fromStride, to, intoStride, n);
        else if (size == 8)
            copyRow<std::uint64_t>(of, fromStride, to, intoStride, n);
        else
            copyRow<std::uint8_t>(of, fromStride, to, intoStride, n);
    });
}

Owned copyDense(const TensorRef& from) {
    Owned out = allocateLike(from.format, from);
    copyValues(from, out.ref);
    return out;
}

Owned copyAsFloat(const TensorRef& from) {
    if (from.format == Format::f32) return copyDense(from);
    const FormatInfo& info = infoOf(from.format);
    const std::size_t n = rowLength(from), block = info.blockElements;
    const bool gapless = rowStride(from) == 1 || n <= 1;
    if (n % block != 0 || (block > 1 && !gapless))
        throw ShapeError("copy: " + describe(from) + " is stored as " + std::string(info.name) + " in blocks of " +
                         std::to_string(block) + ", so its last axis must be whole blocks without gaps");
    Owned out = allocateLike(Format::f32, from);
    auto* target = static_cast<float*>(out.ref.data);
    const auto* source = static_cast<const std::byte*>(from.data);
    const auto address = [&](std::ptrdiff_t element) {
        return source + element / static_cast<std::ptrdiff_t>(block) * info.blockBytes;
    };
    forEachRow<2>(outerRank(from), {&out.ref, &from}, n, [&](const std::array<std::ptrdiff_t, 2>& at) {
        if (gapless) return decode(from.format, address(at[1]), n, target + at[0]);
        for (std::size_t i = 0; i < n; ++i)
            decode(from.format, address(at[1] + static_cast<std::ptrdiff_t>(i) * rowStride(from)), 1,
                   target + at[0] + i);
    });
    return out;
}

Owned copy(const TensorRef& from, Format as) {
    OpCall call("copy", {&from});
    Owned out = from.format == as ? copyDense(from) : copyAsFloat(from);
    call.done(out.ref);
    return out;
}

void copy(const TensorRef& from, const TensorRef& into) {
    OpCall call("copy", {&from});
    requireSameExtents("copy", into, from);
    copyValues(from, into);
    call.wrote(into);
}

Owned concat(std::initializer_list<const TensorRef*> parts, std::size_t axis) {
    OpCall call("concat", parts);
    const TensorRef& first = **parts.begin();
    Extents extent = first.extent;
    extent[axis] = 0;
    for (const TensorRef* part : parts) {
        requireSameExtents("concat", first, *part, axis);
        extent[axis] += part->extent[axis];
    }
    Owned out = allocate(first.format, first.axis, first.rank, extent);
    std::size_t at = 0;
    for (const TensorRef* part : parts) {
        copyValues(*part, narrowed(out.ref, axis, at, part->extent[axis]));
        at += part->extent[axis];
    }
    call.done(out.ref);
    return out;
}

Owned select(const TensorRef& from, std::size_t axis, std::span<const std::size_t> positions) {
    OpCall call("select", {&from});
    for (const std::size_t position : positions)
        if (position >= from.extent[axis])
            throw ShapeError("select: axis " + std::string(from.axis[axis]) + " has extent " +
                             std::to_string(from.extent[axis]) + ", but position " + std::to_string(position) +
                             " was asked for");
    Extents extent = from.extent;
    extent[axis] = positions.size();
    Owned out = allocate(from.format, from.axis, from.rank, extent);
    for (std::size_t i = 0; i < positions.size(); ++i)
        copyValues(narrowed(from, axis, positions[i], 1), narrowed(out.ref, axis, i, 1));
    call.done(out.ref);
    return out;
}

}  // namespace axial::erased
