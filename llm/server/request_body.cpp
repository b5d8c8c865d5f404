#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "axial/llm/parsed_json-inl.h"
#include "axial/llm/server/request_body-inl.h"

namespace axial::llm::server {
namespace {

constexpr int deepest = 100;
constexpr std::size_t mostValues = 1'000'000;

std::string shown(double value) {
    std::string text = Json(value).dump();
    return text.ends_with(".0") ? text.substr(0, text.size() - 2) : text;
}

void checkRange(const Parameter& parameter, double value) {
    if (value >= parameter.least && value <= parameter.most) return;
    const std::string name(parameter.name);
    if (value < parameter.least)
        refuse(name + " is " + shown(value) + ", but it must be at least " + shown(parameter.least), name);
    refuse(name + " is " + shown(value) + ", but it must be at most " + shown(parameter.most), name);
}

void checkKind(const Parameter& parameter, const Json& value) {
    struct Expected {
        bool met;
        const char* what;
    };
    const Expected expected = [&]() -> Expected {
        switch (parameter.kind) {
            case Kind::boolean:
                return {value.is_boolean(), "true or false"};
            case Kind::integer:
                return {value.is_number_integer() ||
                            (value.is_number() && std::floor(value.get<double>()) == value.get<double>()),
                        "an integer"};
            case Kind::number:
                return {value.is_number(), "a number"};
            case Kind::text:
                return {value.is_string(), "a string"};
            case Kind::list:
                return {value.is_array(), "a list"};
            case Kind::object:
                return {value.is_object(), "an object"};
            case Kind::any:
                break;
        }
        return {true, ""};
    }();
    const std::string name(parameter.name);
    if (!expected.met) refuse(name + " must be " + expected.what + ", but it is " + value.type_name(), name);
    if (parameter.kind == Kind::integer || parameter.kind == Kind::number) checkRange(parameter, value.get<double>());
}

void checkRefused(const Parameter& parameter, const Json& value) {
    if (!parameter.neutral.empty()) {
        std::string_view rest = parameter.neutral;
        while (true) {
            const std::size_t bar = rest.find('|');
            if (Json::parse(rest.substr(0, bar)) == value) return;
            if (bar == rest.npos) break;
            rest.remove_prefix(bar + 1);
        }
    }
    const std::string name(parameter.name);
    refuse(name + " is not supported" + (parameter.help.empty() ? "" : ": " + std::string(parameter.help)), name,
           "unsupported_parameter");
}

// Whether a name differs from another by a letter that is missing, too many, another one, or two that are swapped.
bool nearlySame(std::string_view a, std::string_view b) {
    if (a.size() > b.size()) std::swap(a, b);
    if (b.size() - a.size() > 1) return false;
    const auto same = static_cast<std::size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
    const std::string_view restA = a.substr(same), restB = b.substr(same);
    if (a.size() < b.size()) return restA == restB.substr(1);
    if (restA.empty() || restA.substr(1) == restB.substr(1)) return true;
    return restA.size() >= 2 && restA[0] == restB[1] && restA[1] == restB[0] && restA.substr(2) == restB.substr(2);
}

Json parsedBody(std::string_view text) {
    const auto fail = [](const std::string& what) {
        throw ApiError(400, "the request's body is no good: " + what, {}, "invalid_json");
    };
    if (text.empty()) fail("it is empty");
    std::size_t values = 0;
    Json json = parsedJson<Json>(text, deepest, fail, [&](int, nlohmann::detail::parse_event_t event, Json&) {
        if (event == nlohmann::detail::parse_event_t::value && ++values > mostValues)
            fail("it has more than a million values");
        return true;
    });
    if (!json.is_object()) fail("it is no JSON object");
    return json;
}

}  // namespace

RequestBody::RequestBody(std::string_view text, Endpoint endpoint) : json_(parsedBody(text)) {
    for (const auto& [name, value] : json_.items()) {
        if (value.is_null()) continue;
        bool known = false;
        for (const Parameter& parameter : allParameters()) {
            if (!(parameter.endpoints & endpoint) || parameter.name != name) continue;
            known = true;
            if (parameter.use == Use::honoured) checkKind(parameter, value);
            if (parameter.use == Use::refused) checkRefused(parameter, value);
        }
        if (known || name.size() < 4) continue;
        for (const Parameter& parameter : allParameters())
            if (parameter.endpoints & endpoint && parameter.use == Use::honoured && nearlySame(name, parameter.name))
                refuse("there is no parameter " + name + "; did you mean " + std::string(parameter.name) + "?", name,
                       "unknown_parameter");
    }
}

const Json* RequestBody::find(std::string_view name) const {
    const auto found = json_.find(name);
    return found == json_.end() || found->is_null() ? nullptr : &*found;
}

std::optional<bool> RequestBody::boolean(std::string_view name) const {
    const Json* value = find(name);
    return value ? std::optional(value->get<bool>()) : std::nullopt;
}

std::optional<std::int64_t> RequestBody::integer(std::string_view name) const {
    const Json* value = find(name);
    if (!value) return std::nullopt;
    if (value->is_number_unsigned()) return static_cast<std::int64_t>(value->get<std::uint64_t>());
    if (value->is_number_integer()) return value->get<std::int64_t>();
    return static_cast<std::int64_t>(std::clamp(value->get<double>(), -9.2e18, 9.2e18));
}

std::optional<double> RequestBody::number(std::string_view name) const {
    const Json* value = find(name);
    return value ? std::optional(value->get<double>()) : std::nullopt;
}

std::optional<std::string> RequestBody::text(std::string_view name) const {
    const Json* value = find(name);
    return value ? std::optional(value->get<std::string>()) : std::nullopt;
}

}  // namespace axial::llm::server
