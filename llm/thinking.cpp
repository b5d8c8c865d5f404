#include "axial/llm/thinking.h"

#include <algorithm>
#include <utility>

namespace axial::llm {
namespace {

constexpr std::string_view open = "<think>", close = "</think>", space = " \t\r\n";

}  // namespace

bool opensThoughts(std::span<const TextPart> prompt) {
    std::string end;
    for (auto part = prompt.rbegin(); part != prompt.rend() && end.size() < 2 * open.size(); ++part)
        end.insert(0, part->text);
    end.resize(end.find_last_not_of(space) + 1);
    return end.ends_with(open);
}

ThinkingSplitter::Parts ThinkingSplitter::push(std::string_view piece) {
    held_ += piece;
    Parts parts;
    while (!held_.empty() && step(parts)) continue;
    return parts;
}

// Does what can be done with the held text; false: more is needed.
bool ThinkingSplitter::step(Parts& parts) {
    const std::size_t text = std::min(held_.find_first_not_of(space), held_.size());
    switch (place_) {
        case Place::start: {
            const std::string_view rest = std::string_view(held_).substr(text);
            if (rest.starts_with(open)) {
                held_.erase(0, text + open.size());
                place_ = Place::thoughtsStart;
                return true;
            }
            if (open.starts_with(rest)) return false;  // also if there is only white space yet
            place_ = Place::answer;
            return true;
        }
        case Place::thoughtsStart:
        case Place::answerStart:
            held_.erase(0, text);
            if (!held_.empty()) place_ = place_ == Place::thoughtsStart ? Place::thoughts : Place::answer;
            return !held_.empty();
        case Place::thoughts: {
            const std::size_t end = held_.find(close);
            std::size_t safe = std::min(end, held_.size());
            if (end == std::string::npos)
                for (std::size_t tag = std::min(close.size() - 1, held_.size()); tag > 0; --tag)
                    if (held_.ends_with(close.substr(0, tag))) {
                        safe = held_.size() - tag;
                        break;
                    }
            while (safe > 0 && space.find(held_[safe - 1]) != space.npos) --safe;
            parts.thoughts += held_.substr(0, safe);
            held_.erase(0, end == std::string::npos ? safe : end + close.size());
            if (end == std::string::npos) return false;
            place_ = Place::answerStart;
            return true;
        }
        case Place::answer:
            parts.answer += std::exchange(held_, {});
            return false;
    }
    return false;
}

ThinkingSplitter::Parts ThinkingSplitter::finish() {
    Parts parts;
    (inThoughts() ? parts.thoughts : parts.answer) = std::exchange(held_, {});
    return parts;
}

}  // namespace axial::llm
