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
    for (std::size_t i = rank; i-- > 0;) {
        if (extent[i] == 0) return true;
        if (extent[i] != 1 && stride[i] != step) return false;
        step *= static_cast<std::ptrdiff_t>(extent[i]);
    }
    return true;
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

namespace {
// The address `elements` values after v's first. Inside a block there is no address.
void* advanced(const TensorRef& v, std::string_view operation, std::size_t axis, std::ptrdiff_t elements) {
    const FormatInfo& info = infoOf(v.format);
    if (elements % info.blockElements != 0)
        throw ShapeError(std::string(operation) + ": axis " + std::string(v.axis[axis]) + " cannot start at value " +
                         std::to_string(elements) + ": " + std::string(info.name) + " is stored in blocks of " +
                         std::to_string(info.blockElements) + "; copy() decodes it");
    return static_cast<std::byte*>(v.data) + elements / info.blockElements * info.blockBytes;
}
}  // namespace

TensorRef narrowed(const TensorRef& v, std::size_t k, std::size_t first, std::size_t count) {
    if (count > v.extent[k] || first > v.extent[k] - count)
        throw ShapeError("narrow: axis " + std::string(v.axis[k]) + " has extent " + std::to_string(v.extent[k]) +
                         ", but " + std::to_string(count) + " positions from " + std::to_string(first) +
                         " on were asked for");
    TensorRef r = v;
    if (count) r.data = advanced(v, "narrow", k, static_cast<std::ptrdiff_t>(first) * v.stride[k]);
    r.extent[k] = count;
    return r;
}

TensorRef picked(const TensorRef& v, std::size_t k, std::size_t at, const std::string_view* names) {
    if (at >= v.extent[k])
        throw ShapeError("index: axis " + std::string(v.axis[k]) + " has extent " + std::to_string(v.extent[k]) +
                         ", but position " + std::to_string(at) + " was asked for");
    TensorRef r = renamed(v, names);
    r.data = advanced(v, "index", k, static_cast<std::ptrdiff_t>(at) * v.stride[k]);
    --r.rank;
    for (std::size_t i = k; i < r.rank; ++i) r.extent[i] = r.extent[i + 1], r.stride[i] = r.stride[i + 1];
    return r;
}

TensorRef splitAxis(const TensorRef& v, std::size_t k, const std::size_t* sizes, std::size_t n,
                    const std::string_view* names) {
    TensorRef r = renamed(v, names);
    r.rank = static_cast<std::uint8_t>(v.rank + n - 1);
    std::size_t known = 1;
    for (std::size_t m = 0; m < n; ++m) known *= sizes[m] ? sizes[m] : 1;
    std::size_t total = 1;
    for (std::size_t m = 0; m < n; ++m) total *= r.extent[k + m] = sizes[m] ? sizes[m] : v.extent[k] / known;
    if (total != v.extent[k])
        throw ShapeError("split: axis " + std::string(v.axis[k]) + " has extent " + std::to_string(v.extent[k]) +
                         ", but the parts multiply to " + std::to_string(total));
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
    for (std::size_t m = 1; m < n; ++m) {
        if (v.extent[k + m] != 1 && v.extent[k + m - 1] != 1 &&
            v.stride[k + m - 1] != v.stride[k + m] * static_cast<std::ptrdiff_t>(v.extent[k + m]))
            throw ShapeError("merge: axes " + std::string(v.axis[k + m - 1]) + " and " + std::string(v.axis[k + m]) +
                             " are not laid out as one; copy() first");
        r.extent[k] *= v.extent[k + m];
    }
    // The innermost part with more than one position says how far neighbours are apart.
    std::size_t inner = k + n - 1;
    while (inner > k && v.extent[inner] == 1) --inner;
    r.stride[k] = v.stride[inner];
    for (std::size_t i = k + n; i < v.rank; ++i) r.extent[i - n + 1] = v.extent[i], r.stride[i - n + 1] = v.stride[i];
    return r;
}

}  // namespace axial
