#include "axial/llm/tool_calls.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "axial/llm/json_text.h"
#include "axial/llm/parsed_json-inl.h"
#include "axial/llm/stop_text.h"
#include "axial/tensor/error.h"

namespace axial::llm {

namespace {
using Json = nlohmann::ordered_json;

constexpr std::string_view open = "<tool_call>", close = "</tool_call>", space = " \t\r\n";

// A call, or why the text is none; neither for JSON that does not look like one.
struct Reading {
    std::optional<ToolCall> call{};
    std::string why{};
};

Reading read(std::string_view text, ToolCallForm form) {
    constexpr int deepest = 200;
    Json json;
    try {
        json = parsedJson<Json>(text, deepest, [](const std::string& what) { throw ValueError(what); });
    } catch (const ValueError& error) {
        return {.why = error.what()};
    }
    if (!json.is_object()) return {.why = "it is no JSON object"};
    const auto name = json.find("name");
    auto arguments = json.find("arguments");
    if (arguments == json.end()) arguments = json.find("parameters");
    if (arguments == json.end() && form == ToolCallForm::bare) return {};
    if (name == json.end() || !name->is_string()) return {.why = "its name is no text"};
    if (arguments == json.end() || arguments->is_null()) return {ToolCall{name->get<std::string>(), "{}"}};
    if (!arguments->is_object()) return {.why = "its arguments are no JSON object"};
    return {ToolCall{name->get<std::string>(), spacedJson(arguments->dump())}};
}

// Whether a text begins as {"name" or {"type" does, as far as it goes.
bool mayBeCall(std::string_view text) {
    text.remove_prefix(std::min(text.find_first_not_of(space, 1), text.size()));
    const auto fits = [&](std::string_view key) { return text.starts_with(key) || key.starts_with(text); };
    return fits("\"name\"") || fits("\"type\"");
}

void report(ToolCallSplitter::Parts& parts, const std::string& why) {
    parts.faults.push_back("tool call: left as text, since " + why);
}
}  // namespace

ToolCallSplitter::Parts ToolCallSplitter::push(std::string_view piece) {
    held_ += piece;
    Parts parts;
    while (!held_.empty() && step(parts, false)) continue;
    return parts;
}

ToolCallSplitter::Parts ToolCallSplitter::finish() {
    Parts parts;
    while (!held_.empty() && step(parts, true)) continue;
    return parts;
}

// Does what can be done with the held text; false: more is needed.
bool ToolCallSplitter::step(Parts& parts, bool over) {
    switch (form_) {
        case ToolCallForm::tagged:
            return inTag_ ? stepTag(parts, over) : stepText(parts, over);
        case ToolCallForm::bare:
            return stepBare(parts, over);
        case ToolCallForm::none:
            asText(parts, held_.size());
    }
    return false;
}

void ToolCallSplitter::asText(Parts& parts, std::size_t length) {
    parts.text.append(held_, 0, length);
    held_.erase(0, length);
}

void ToolCallSplitter::restart(std::size_t from) {
    body_ = looked_ = scanned_ = from;
    firstClose_ = depth_ = 0;
    inString_ = escaped_ = false;
}

std::size_t ToolCallSplitter::scan(std::size_t until) {
    for (; scanned_ < until; ++scanned_) {
        const char c = held_[scanned_];
        if (inString_) {
            if (c == '"' && !escaped_) inString_ = false;
            escaped_ = c == '\\' && !escaped_;
        } else if (c == '"') {
            inString_ = true;
        } else if (c == '{' || c == '[') {
            ++depth_;
        } else if ((c == '}' || c == ']') && depth_ > 0 && --depth_ == 0) {
            return ++scanned_;
        }
    }
    return std::string::npos;
}

bool ToolCallSplitter::stepText(Parts& parts, bool over) {
    const std::size_t tag = held_.find(open);
    std::size_t safe = std::min(tag, held_.size() - (over ? 0 : startAtEnd(held_, open)));
    if (tag != held_.npos || !over || called_)  // white space before a call, or behind the last one
        while (safe > 0 && space.find(held_[safe - 1]) != space.npos) --safe;
    asText(parts, safe);
    if (tag == held_.npos) {
        if (over) held_.clear();
        return false;
    }
    restart(tag - safe + open.size());
    return inTag_ = true;
}

bool ToolCallSplitter::stepTag(Parts& parts, bool over) {
    std::size_t end = held_.find(close, looked_);
    for (; end != held_.npos; end = held_.find(close, looked_)) {
        while (scan(end) != held_.npos) continue;
        if (!inString_) break;
        if (firstClose_ == 0) firstClose_ = end;
        looked_ = end + 1;
    }
    if (end == held_.npos && !over) {
        looked_ = std::max(looked_, held_.size() - std::min(held_.size(), close.size() - 1));
        return false;
    }
    Reading reading = read(std::string_view(held_).substr(body_, std::min(end, held_.size()) - body_), form_);
    inTag_ = false;
    if (reading.call) {
        parts.calls.push_back(std::move(*reading.call));
        called_ = true;
        held_.erase(0, end == held_.npos ? end : end + close.size());
    } else {
        report(parts, reading.why);
        if (firstClose_ > 0) end = firstClose_;
        asText(parts, end == held_.npos ? held_.size() : end + close.size());
    }
    return true;
}

bool ToolCallSplitter::stepBare(Parts& parts, bool over) {
    const std::size_t begin = held_.find_first_not_of(called_ ? " \t\r\n;" : space);
    if (begin == held_.npos) {
        if (over && called_) held_.clear();
        if (over) asText(parts, held_.size());
        return false;
    }
    Reading reading;
    if (held_[begin] == '{' && mayBeCall(std::string_view(held_).substr(begin))) {
        if (scanned_ == 0) restart(begin);
        const std::size_t end = scan(held_.size());
        if (end == held_.npos && !over) return false;
        reading = read(std::string_view(held_).substr(begin, end == held_.npos ? end : end - begin), form_);
        if (reading.call) {
            parts.calls.push_back(std::move(*reading.call));
            called_ = true;
            held_.erase(0, end);
            restart(0);
            return true;
        }
        if (!reading.why.empty()) report(parts, reading.why);
    }
    form_ = ToolCallForm::none;
    return true;
}

}  // namespace axial::llm
