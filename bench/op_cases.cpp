#include "axial/bench/op_cases.h"

#include <algorithm>

#include "axial/tensor/error.h"

namespace axial::bench {
namespace {

struct Family {
    std::vector<std::string_view> ops;
    void (*add)(Cases&, const Shapes&, const Selection&);
};
const std::vector<Family>& families() {
    static const std::vector<Family> list = {
        {{"dot", "swigluDot"}, addLinearCases},
        {{"groupedAttention"}, addAttentionCases},
        {{"rmsNormMul", "ropeHalf", "rmsNormMulRopeHalf", "softmax"}, addRowCases},
        {{"add", "swiglu"}, addPointwiseCases},
        {{"gather", "argmax", "topK", "routerTopK"}, addChoiceCases},
    };
    return list;
}

// Small enough that no product of extents below overflows.
constexpr std::size_t largestExtent = std::size_t{1} << 20;

void checkExtents(const Shapes& s, const Selection& selection) {
    const auto check = [](std::string_view axis, std::size_t extent, std::size_t least) {
        if (extent < least || extent > largestExtent)
            throw ShapeError("axis " + std::string(axis) + " is " + std::to_string(extent) + "; " +
                             std::to_string(least) + " to " + std::to_string(largestExtent) + " can be measured");
    };
    for (const auto& [axis, extent] : extentsOf(s)) check(axis, extent, axis == "expert" || axis == "slot" ? 0 : 1);
    for (const std::size_t extent : selection.seq) check("seq", extent, 1);
    for (const std::size_t extent : selection.key) check("key", extent, 1);
}

template <class T>
bool contains(const std::vector<T>& list, const T& x) {
    return std::find(list.begin(), list.end(), x) != list.end();
}

}  // namespace

std::vector<std::string_view> opNames() {
    std::vector<std::string_view> names;
    for (const Family& family : families()) names.insert(names.end(), family.ops.begin(), family.ops.end());
    return names;
}

std::string_view nameOf(Activations a) {
    return a == Activations::int8 ? "int8" : a == Activations::int16 ? "int16" : "float32";
}

std::string OpCase::name() const {
    std::string text = op;
    if (!layer.empty()) text += "/" + layer;
    text += "/" + std::string(nameOf(format));
    for (const auto& [axis, extent] : axes) text += "/" + axis + ":" + std::to_string(extent);
    if (activations) text += "/" + std::string(nameOf(*activations));
    return text + (cached ? "/cached" : "");
}

std::vector<OpCase> opCases(const Shapes& shapes, const Selection& selection) {
    checkExtents(shapes, selection);
    Cases cases;
    for (const Family& family : families()) {
        Cases some;
        const bool wanted = selection.ops.empty() || std::any_of(family.ops.begin(), family.ops.end(), [&](auto op) {
                                return contains(selection.ops, std::string(op));
                            });
        if (!wanted) continue;
        family.add(some, shapes, selection);
        for (OpCase& c : some)
            if ((selection.ops.empty() || contains(selection.ops, c.op)) && wants(selection, c.format))
                cases.push_back(std::move(c));
    }
    return cases;
}

std::vector<std::size_t> seqOf(const Selection& selection, std::vector<std::size_t> usual) {
    return selection.seq.empty() ? usual : selection.seq;
}

bool wants(const Selection& selection, Format format) {
    return selection.formats.empty() || contains(selection.formats, format);
}

bool wholeBlocks(const std::string& op, Format format, std::size_t row, const Selection& selection) {
    if (row % infoOf(format).blockElements == 0) return true;
    if (selection.strict)
        throw ShapeError(op + ": rows of " + std::to_string(row) + " values are no whole blocks of " +
                         std::string(nameOf(format)) + ", which have " + std::to_string(infoOf(format).blockElements));
    return false;
}

}  // namespace axial::bench
