#include "axial/llm/stop_text.h"

#include <algorithm>
#include <utility>

#include "axial/tensor/error.h"

namespace axial::llm {

std::size_t startAtEnd(std::string_view text, std::string_view whole) {
    for (std::size_t length = std::min(text.size(), whole.size() - 1); length > 0; --length)
        if (text.substr(text.size() - length) == whole.substr(0, length)) return length;
    return 0;
}

StopText::StopText(std::vector<std::string> stops) : stops_(std::move(stops)) {
    for (const std::string& stop : stops_)
        if (stop.empty())
            throw ValueError("stop: a stop string is empty; leave it out, or give at least one character");
}

std::string StopText::push(std::string_view piece) {
    if (found()) return {};
    held_ += piece;
    std::size_t begin = 0, end = std::string::npos;
    for (const std::string& stop : stops_) {
        const std::size_t at = held_.find(stop);
        if (at == std::string::npos || at + stop.size() > end || (at + stop.size() == end && at > begin)) continue;
        begin = at;
        end = at + stop.size();
        found_ = &stop;
    }
    if (found()) return std::exchange(held_, {}).substr(0, begin);
    std::size_t keep = 0;
    for (const std::string& stop : stops_) keep = std::max(keep, startAtEnd(held_, stop));
    std::string safe = held_.substr(0, held_.size() - keep);
    held_.erase(0, held_.size() - keep);
    return safe;
}

std::string StopText::finish() { return std::exchange(held_, {}); }

}  // namespace axial::llm
