#include "axial/tensor/format.h"

#include <algorithm>

namespace axial {

const FormatInfo* formatByGgufId(std::uint64_t id) {
    for (const FormatInfo& row : formats)
        if (static_cast<std::uint64_t>(row.ggufId) == id) return &row;
    return nullptr;
}

const FormatInfo* formatByName(std::string_view name) {
    const auto upper = [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; };
    for (const FormatInfo& row : formats)
        if (std::equal(name.begin(), name.end(), row.name.begin(), row.name.end(),
                       [&](char a, char b) { return upper(a) == b; }))
            return &row;
    return nullptr;
}

}  // namespace axial
