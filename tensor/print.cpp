#include "axial/tensor/print.h"

#include <algorithm>
#include <cstdio>
#include <ostream>
#include <vector>

#include "axial/tensor/decode.h"

namespace axial {

namespace {

constexpr std::size_t valuesOfRow = 8, linesOfAxis = 6;

std::string number(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.4g", value);
    return text;
}

// The value some elements after the first.
std::string valueAt(const TensorRef& v, std::ptrdiff_t elements) {
    const FormatInfo& info = infoOf(v.format);
    const auto block = elements / info.blockElements;
    const std::byte* at = static_cast<const std::byte*>(v.data) + block * info.blockBytes;
    switch (v.format) {
        case Format::f64:
            return number(*reinterpret_cast<const double*>(at));
        case Format::i8:
            return std::to_string(*reinterpret_cast<const std::int8_t*>(at));
        case Format::i16:
            return std::to_string(*reinterpret_cast<const std::int16_t*>(at));
        case Format::i32:
            return std::to_string(*reinterpret_cast<const std::int32_t*>(at));
        case Format::i64:
            return std::to_string(*reinterpret_cast<const std::int64_t*>(at));
        default: {
            std::vector<float> values(info.blockElements);
            decode(v.format, at, info.blockElements, values.data());
            return number(double(values[static_cast<std::size_t>(elements - block * info.blockElements)]));
        }
    }
}

// The positions of an axis that are shown; `unsaid` stands for those left out.
std::vector<std::size_t> shown(std::size_t extent, std::size_t most) {
    std::vector<std::size_t> positions;
    const std::size_t ends = most / 2;
    for (std::size_t i = 0; i < extent; ++i) {
        if (extent > most && i == ends) {
            positions.push_back(unsaid);
            i = extent - ends;
        }
        positions.push_back(i);
    }
    return positions;
}

// Lines of text, of which those with cells are values whose columns are to stand below each other.
struct Line {
    std::string head;
    std::vector<std::string> cells;
};

void addRow(const TensorRef& v, std::ptrdiff_t first, std::string head, std::vector<Line>& lines) {
    Line line{std::move(head), {}};
    for (std::size_t i : shown(v.extent[v.rank - 1u], valuesOfRow))
        line.cells.push_back(i == unsaid ? "..."
                                         : valueAt(v, first + static_cast<std::ptrdiff_t>(i) * v.stride[v.rank - 1u]));
    lines.push_back(std::move(line));
}

void addLines(const TensorRef& v, std::size_t axis, std::ptrdiff_t first, std::vector<Line>& lines) {
    const std::string indent(2 * axis, ' ');
    // The more axes make lines, the fewer of each.
    for (std::size_t i : shown(v.extent[axis], v.rank > 4 ? 2 : linesOfAxis)) {
        if (i == unsaid) {
            lines.push_back({indent + "...", {}});
            continue;
        }
        const std::ptrdiff_t here = first + static_cast<std::ptrdiff_t>(i) * v.stride[axis];
        std::string head = indent + std::string(v.axis[axis]) + " " + std::to_string(i);
        if (axis + 2u == v.rank) {
            addRow(v, here, std::move(head), lines);
        } else {
            lines.push_back({std::move(head), {}});
            addLines(v, axis + 1, here, lines);
        }
    }
}

void appendAligned(const std::vector<Line>& lines, std::string& text) {
    std::size_t head = 0;
    std::vector<std::size_t> width;
    for (const Line& line : lines) {
        if (!line.cells.empty()) head = std::max(head, line.head.size());
        width.resize(std::max(width.size(), line.cells.size()));
        for (std::size_t i = 0; i < line.cells.size(); ++i) width[i] = std::max(width[i], line.cells[i].size());
    }
    for (const Line& line : lines) {
        text += line.head;
        if (!line.cells.empty()) text.append(head - line.head.size(), ' ');
        for (std::size_t i = 0; i < line.cells.size(); ++i)
            text.append(i || head ? 2 : 0, ' ').append(width[i] - line.cells[i].size(), ' ').append(line.cells[i]);
        text += '\n';
    }
}

}  // namespace

std::string toText(const TensorRef& v) {
    std::string text = describe(v);
    if (infoOf(v.format).blockElements > 1 || v.format == Format::f16 || v.format == Format::bf16)
        text.append(" ").append(nameOf(v.format));
    if (!v.data) return text + " empty\n";
    if (v.rank == 0) return text + " " + valueAt(v, 0) + "\n";
    text += "\n";
    std::vector<Line> lines;
    if (v.size() == 0)
        lines.push_back({"no values", {}});
    else if (v.rank == 1)
        addRow(v, 0, "", lines);
    else
        addLines(v, 0, 0, lines);
    appendAligned(lines, text);
    return text;
}

std::string firstValues(const TensorRef& v, std::size_t count) {
    std::string text;
    const std::size_t size = v.data ? v.size() : 0;
    for (std::size_t flat = 0; flat < std::min(count, size); ++flat) {
        std::ptrdiff_t at = 0;
        std::size_t rest = flat;
        for (std::size_t i = v.rank; i-- > 0; rest /= v.extent[i])
            at += static_cast<std::ptrdiff_t>(rest % v.extent[i]) * v.stride[i];
        text.append(flat ? " " : "").append(valueAt(v, at));
    }
    return size > count ? text + " ..." : text;
}

std::ostream& detail::print(std::ostream& out, const TensorRef& v) { return out << toText(v); }

}  // namespace axial
