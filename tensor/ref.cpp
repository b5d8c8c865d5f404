#include "axial/tensor/ref.h"

#include "axial/tensor/error.h"

namespace axial {

std::size_t TensorRef::size() const {
    std::size_t product = 1;
    for (std::size_t i = 0; i < rank; ++i) product *= extent[i];
    return product;
}

bool TensorRef::isDense() const {
    std::ptrdiff_t step = 1;
    bool inPlace = true;
    for (std::size_t i = rank; i-- > 0;) {
        if (extent[i] == 0) return true;
        if (extent[i] != 1 && stride[i] != step) inPlace = false;
        step *= static_cast<std::ptrdiff_t>(extent[i]);
    }
    return inPlace;
}

std::string describe(const TensorRef& v) {
    std::string text = "[";
    for (std::size_t i = 0; i < v.rank; ++i)
        text.append(i ? ", " : "").append(v.axis[i]).append("=").append(std::to_string(v.extent[i]));
    return text + "]";
}

TensorRef dense(Format format, const std::string_view* names, std::size_t rank, const Extents& extent) {
    TensorRef r;
    r.axis = names;
    r.format = format;
    r.rank = static_cast<std::uint8_t>(rank);
    r.extent = extent;
    std::ptrdiff_t step = 1;
    for (std::size_t i = rank; i-- > 0;) {
        r.stride[i] = step;
        if (__builtin_mul_overflow(step, extent[i] ? static_cast<std::ptrdiff_t>(extent[i]) : 1, &step) ||
            step > PTRDIFF_MAX / 16)
            throw ShapeError("tensor " + describe(r) + ": more values than memory can hold");
    }
    return r;
}

TensorRef arranged(const TensorRef& v, const AxisMap& map, const Extents* like) {
    TensorRef r = v;
    r.rank = map.rank;
    for (std::size_t i = 0; i < map.rank; ++i) {
        const int k = map.from[i];
        r.extent[i] = k < 0 ? (*like)[i] : v.extent[static_cast<std::size_t>(k)];
        r.stride[i] = k < 0 ? 0 : v.stride[static_cast<std::size_t>(k)];
    }
    return r;
}

TensorRef renamed(const TensorRef& v, const std::string_view* axis) {
    TensorRef r = v;
    r.axis = axis;
    return r;
}

TensorRef emptied(const TensorRef& v) {
    TensorRef r;
    r.axis = v.axis;
    r.format = v.format;
    r.rank = v.rank;
    return r;
}

namespace {
[[noreturn]] void failBlock(const TensorRef& v, std::string_view operation, std::size_t axis) {
    const FormatInfo& info = infoOf(v.format);
    throw ShapeError(std::string(operation) + ": axis " + std::string(v.axis[axis]) + " of " + describe(v) +
                     " cannot be cut there: " + std::string(info.name) + " is stored in blocks of " +
                     std::to_string(info.blockElements) + " values; copy() decodes it");
}
// The address `positions` along an axis from v's first value. Inside a block there is no address.
void* advanced(const TensorRef& v, std::string_view operation, std::size_t axis, std::size_t positions) {
    const FormatInfo& info = infoOf(v.format);
    const std::ptrdiff_t elements = static_cast<std::ptrdiff_t>(positions) * v.stride[axis];
    if (elements % info.blockElements != 0) failBlock(v, operation, axis);
    return static_cast<std::byte*>(v.data) + elements / info.blockElements * info.blockBytes;
}
// Whether each position of an axis is made of whole blocks.
bool wholeBlocks(const TensorRef& v, std::size_t axis, std::size_t positions) {
    return static_cast<std::ptrdiff_t>(positions) * v.stride[axis] % infoOf(v.format).blockElements == 0;
}
}  // namespace

TensorRef narrowed(const TensorRef& v, std::size_t k, std::size_t first, std::size_t count) {
    if (count > v.extent[k] || first > v.extent[k] - count)
        throw ShapeError("narrow: axis " + std::string(v.axis[k]) + " has extent " + std::to_string(v.extent[k]) +
                         ", but " + std::to_string(count) + " positions from " + std::to_string(first) +
                         " on were asked for");
    if (count != v.extent[k] && !wholeBlocks(v, k, count)) failBlock(v, "narrow", k);
    TensorRef r = v;
    if (count) r.data = advanced(v, "narrow", k, first);
    r.extent[k] = count;
    return r;
}

TensorRef picked(const TensorRef& v, const std::size_t* at, const std::string_view* names) {
    TensorRef r = renamed(v, names);
    r.rank = 0;
    for (std::size_t k = 0; k < v.rank; ++k) {
        if (at[k] == unsaid) {
            r.extent[r.rank] = v.extent[k];
            r.stride[r.rank++] = v.stride[k];
            continue;
        }
        if (at[k] >= v.extent[k]) failIndex(v.axis[k], v.extent[k], at[k]);
        if (!wholeBlocks(v, k, 1)) failBlock(v, "index", k);
        TensorRef here = v;
        here.data = r.data;
        r.data = advanced(here, "index", k, at[k]);
    }
    return r;
}

TensorRef splitAxis(const TensorRef& v, std::size_t k, const std::size_t* sizes, std::size_t n,
                    const std::string_view* names) {
    TensorRef r = renamed(v, names);
    r.rank = static_cast<std::uint8_t>(v.rank + n - 1);
    std::size_t known = 1;
    bool fits = true;
    for (std::size_t m = 0; m < n; ++m)
        if (sizes[m] != unsaid && __builtin_mul_overflow(known, sizes[m], &known)) fits = false;
    std::size_t total = known;
    for (std::size_t m = 0; m < n; ++m) {
        r.extent[k + m] = sizes[m];
        if (sizes[m] != unsaid) continue;
        r.extent[k + m] = fits && known ? v.extent[k] / known : 0;
        total = known * r.extent[k + m];
        fits = fits && known;  // any size would do where the others multiply to 0
    }
    if (!fits || total != v.extent[k]) {
        std::string parts;
        for (std::size_t m = 0; m < n; ++m)
            parts.append(m ? ", " : "")
                .append(names[k + m])
                .append(sizes[m] == unsaid ? "" : "=")
                .append(sizes[m] == unsaid ? "" : std::to_string(sizes[m]));
        throw ShapeError("split: axis " + std::string(v.axis[k]) + " has extent " + std::to_string(v.extent[k]) +
                         ", which is not the product of [" + parts + "]");
    }
    std::ptrdiff_t step = v.stride[k];
    for (std::size_t m = n; m-- > 0;) {
        r.stride[k + m] = step;
        step *= static_cast<std::ptrdiff_t>(r.extent[k + m]);
    }
    for (std::size_t i = k + 1; i < v.rank; ++i) r.extent[i + n - 1] = v.extent[i], r.stride[i + n - 1] = v.stride[i];
    return r;
}

TensorRef mergeAxes(const TensorRef& v, std::size_t k, std::size_t n, const std::string_view* names) {
    TensorRef r = renamed(v, names);
    r.rank = static_cast<std::uint8_t>(v.rank - (n - 1));
    r.extent[k] = 1;
    for (std::size_t i = k; i < k + n; ++i) r.extent[k] *= v.extent[i];
    // From the innermost on, each axis with more than one position must step over all positions of those inside it;
    // where no number is, as in a view with an axis of extent 0 anywhere, no step matters.
    const bool empty = v.size() == 0;
    std::size_t inner = k + n;
    std::ptrdiff_t step = 0;
    for (std::size_t i = k + n; i-- > k;) {
        if (v.extent[i] == 1) continue;
        if (inner == k + n)
            r.stride[k] = step = v.stride[i];
        else if (v.stride[i] != step && !empty)
            throw ShapeError("merge: axes " + std::string(v.axis[i]) + " and " + std::string(v.axis[inner]) + " of " +
                             describe(v) + " are not laid out as one; copy() first");
        inner = i;
        step *= static_cast<std::ptrdiff_t>(v.extent[i]);
    }
    if (inner == k + n) r.stride[k] = v.stride[k + n - 1];
    for (std::size_t i = k + n; i < v.rank; ++i) r.extent[i - n + 1] = v.extent[i], r.stride[i - n + 1] = v.stride[i];
    return r;
}

}  // namespace axial
