// Statistics of a tensor as JSON; included by .cpp files alone, as it brings the JSON library.
#pragma once
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "axial/llm/value_statistics.h"

namespace axial::cli {

// A number that JSON writes with the digits that the float needs; null for NaN and infinities.
inline nlohmann::ordered_json shortest(float value) {
    if (!std::isfinite(value)) return {};
    char digits[32];
    *std::to_chars(digits, digits + sizeof digits - 1, value).ptr = '\0';
    return std::strtod(digits, nullptr);
}

inline nlohmann::ordered_json statisticsJson(const llm::ValueStatistics& s) {
    return {{"count", s.count},
            {"minimum", shortest(static_cast<float>(s.minimum))},
            {"maximum", shortest(static_cast<float>(s.maximum))},
            {"mean", s.mean},
            {"rms", s.rms},
            {"nan", s.nans},
            {"infinite", s.infinite}};
}

}  // namespace axial::cli
