#include "axial/llm/shown_name.h"

#include <algorithm>

namespace axial::llm {

std::string shownName(std::string_view name) {
    constexpr std::size_t shown = 80;
    const auto visible = [](char c) { return c > ' ' && c < 0x7f && c != '"'; };
    if (!name.empty() && name.size() <= shown && std::ranges::all_of(name, visible)) return std::string(name);
    std::string text = "\"";
    for (const char c : name.substr(0, shown)) {
        const auto byte = static_cast<unsigned char>(c);
        if (visible(c) || c == ' ') {
            text += c;
        } else {
            text += "\\x";
            text += "0123456789abcdef"[byte >> 4];
            text += "0123456789abcdef"[byte & 15];
        }
    }
    return text + (name.size() > shown ? "...\"" : "\"");
}

}  // namespace axial::llm
