#include "axial/llm/weight_source.h"

#include "axial/tensor/error.h"

namespace axial::llm {

std::size_t AxisSizes::of(std::string_view axis) const {
    for (const auto& [name, extent] : sizes_)
        if (name == axis) return extent;
    throw ValueError("bind: the model gives axis " + std::string(axis) + " no extent");
}

const StoredTensor* WeightSource::find(const std::string& name) {
    const StoredTensor* stored = file_.findTensor(name);
    if (stored) used_.insert(name);
    return stored;
}

const StoredTensor& WeightSource::require(const std::string& name) {
    if (const StoredTensor* stored = find(name)) return *stored;
    throw FileError(file_.path().string() + ": tensor " + name + " is not in the file; the model needs it");
}

std::vector<std::string> WeightSource::unused() const {
    std::vector<std::string> left;
    for (const StoredTensor& stored : file_.tensors())
        if (!used_.contains(stored.name)) left.push_back(stored.name);
    for (std::string& name : file_.unreadTensors()) left.push_back(std::move(name));
    return left;
}

void WeightSource::check(const StoredTensor& stored, const TensorRef& wanted) const {
    std::size_t axis = 0;
    bool fits = true;
    for (const std::size_t extent : stored.extent) {
        std::size_t product = 1;
        do {
            if (axis == wanted.rank || __builtin_mul_overflow(product, wanted.extent[axis++], &product)) product = 0;
        } while (product != 0 && (product < extent || (axis < wanted.rank && wanted.extent[axis] == 1)));
        fits &= product == extent;
    }
    fits &= axis == wanted.rank;
    if (!fits) {
        std::string text = file_.path().string() + ": tensor " + stored.name + " has the extents [";
        for (std::size_t i = 0; i < stored.extent.size(); ++i)
            text += (i ? ", " : "") + std::to_string(stored.extent[i]);
        throw FileError(text + "], but the model wants " + describe(wanted));
    }
    switch (stored.format) {
        case Format::i8:
        case Format::i16:
        case Format::i32:
        case Format::i64:
            throw UnsupportedError(file_.path().string() + ": tensor " + stored.name + " is stored as " +
                                   std::string(nameOf(stored.format)) +
                                   "; a weight must be of a floating-point or block format");
        default:
            break;
    }
}

}  // namespace axial::llm
