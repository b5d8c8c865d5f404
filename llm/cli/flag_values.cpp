// From the text of a flag's value to the option it sets, and back.
#include <charconv>
#include <cmath>

#include "flags.h"

namespace axial::cli {
namespace {

template <class... F>
struct Overloaded : F... {
    using F::operator()...;
};
template <class... F>
Overloaded(F...) -> Overloaded<F...>;

std::string shortNumber(double value) {
    char text[32];
    const auto end = std::to_chars(text, text + sizeof text, value).ptr;
    return {text, end};
}

[[noreturn]] void fail(const Flag& flag, std::string_view text, const std::string& wanted) {
    throw UsageError(std::string(flag.longName()) + ": \"" + std::string(text) + "\" is not " + wanted);
}

std::string range(const Flag& flag, const std::string& what) {
    const bool low = std::isfinite(flag.values.least),
               high = std::isfinite(flag.values.most) && flag.values.most < 1e15;
    if (low && high) return what + " from " + shortNumber(flag.values.least) + " to " + shortNumber(flag.values.most);
    if (low) return what + " of at least " + shortNumber(flag.values.least);
    return what;
}

void checkChoice(const Flag& flag, std::string_view text) {
    if (flag.values.choices.empty()) return;
    for (const std::string& choice : splitList(flag.values.choices))
        if (choice == text) return;
    std::string list(flag.values.choices);
    for (std::size_t at = list.find(','); at != list.npos; at = list.find(',', at + 1)) list.replace(at, 1, ", ");
    fail(flag, text, "one of " + list);
}

double number(const Flag& flag, std::string_view text) {
    const auto value = numberIn(text);
    if (!value || *value < flag.values.least || *value > flag.values.most) fail(flag, text, range(flag, "a number"));
    return *value;
}

std::int64_t whole(const Flag& flag, std::string_view text) {
    const auto value = wholeIn(text);
    if (!value || static_cast<double>(*value) < flag.values.least || static_cast<double>(*value) > flag.values.most)
        fail(flag, text, range(flag, "a whole number"));
    return *value;
}

}  // namespace

std::vector<std::string_view> Flag::spellings() const {
    std::vector<std::string_view> list;
    for (std::size_t at = 0; at <= names.size();) {
        const std::size_t end = std::min(names.find(',', at), names.size());
        list.push_back(names.substr(at, end - at));
        at = end + 1;
    }
    return list;
}

std::string_view Flag::longName() const { return spellings().back(); }

void store(const Flag& flag, std::string_view text, Options& options) {
    if (flag.values.list) {
        for (const std::string& part : splitList(text))
            if (flag.values.choices.empty())
                whole(flag, part.substr(0, part.find_first_of("-+*")));
            else
                checkChoice(flag, part);
    } else {
        checkChoice(flag, text);
    }
    std::visit(Overloaded{
                   [&](bool Options::*to) { options.*to = text == "true"; },
                   [&](std::vector<std::string> Options::*to) { (options.*to).emplace_back(text); },
                   [&](std::string Options::*to) { options.*to = text; },
                   [&](std::optional<std::string> Options::*to) { options.*to = std::string(text); },
                   [&](std::int64_t Options::*to) { options.*to = whole(flag, text); },
                   [&](std::optional<std::int64_t> Options::*to) { options.*to = whole(flag, text); },
                   [&](std::optional<double> Options::*to) { options.*to = number(flag, text); },
               },
               flag.target);
}

std::string defaultOf(const Flag& flag) {
    const Options options;
    return std::visit(Overloaded{
                          [&](std::string Options::*from) { return options.*from; },
                          [&](std::int64_t Options::*from) { return std::to_string(options.*from); },
                          [](auto) { return std::string(); },
                      },
                      flag.target);
}

std::vector<std::string> splitList(std::string_view text, char separator) {
    std::vector<std::string> list;
    for (std::size_t at = 0; at <= text.size();) {
        const std::size_t end = std::min(text.find(separator, at), text.size());
        list.emplace_back(text.substr(at, end - at));
        at = end + 1;
    }
    return list;
}

std::optional<double> numberIn(std::string_view text) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || std::isnan(value)) return std::nullopt;
    return value;
}

std::optional<std::int64_t> wholeIn(std::string_view text) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
}

}  // namespace axial::cli
