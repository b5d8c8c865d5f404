#include "axial/ops/rope_table.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "axial/tensor/error.h"

namespace axial {
namespace {

constexpr double turnRadians = 2 * std::numbers::pi;

void requirePositive(const char* what, double value) {
    if (!(value > 0) || !std::isfinite(value))
        throw ValueError(std::string("rope: ") + what + " is " + std::to_string(value) +
                         ", but must be a positive number");
}

// The pair, as a real number, that makes `turns` full turns within the context:
// context * theta^(-2 pair / channels) = 2 pi turns.
double pairWithTurns(double turns, const RopeParameters& p) {
    return static_cast<double>(p.channels) * std::log(p.scaling.originalContext / (turns * turnRadians)) /
           (2 * std::log(p.theta));
}

double yarn(double frequency, std::size_t pair, const RopeParameters& p) {
    const double last = static_cast<double>(p.channels) - 1;
    const double low = std::max(0.0, std::floor(pairWithTurns(p.scaling.betaFast, p)));
    const double high = std::min(last, std::ceil(pairWithTurns(p.scaling.betaSlow, p)));
    const double ramp = (static_cast<double>(pair) - low) / std::max(0.001, high - low);
    const double scaled = std::clamp(ramp, 0.0, 1.0);  // how much of the scaled frequency
    return frequency / p.scaling.factor * scaled + frequency * (1 - scaled);
}

double llama3(double frequency, const RopeScaling& s) {
    const double turns = s.originalContext * frequency / turnRadians;  // within the original context
    if (turns > s.highFrequencyFactor) return frequency;
    if (turns < s.lowFrequencyFactor) return frequency / s.factor;
    const double kept = (turns - s.lowFrequencyFactor) / (s.highFrequencyFactor - s.lowFrequencyFactor);
    return frequency / s.factor * (1 - kept) + frequency * kept;
}

void check(const RopeParameters& p) {
    using Kind = RopeScaling::Kind;
    if (p.channels == 0 || p.channels % 2 != 0)
        throw ValueError("rope: " + std::to_string(p.channels) + " channels cannot be rotated in pairs");
    requirePositive("theta", p.theta);
    const RopeScaling& s = p.scaling;
    if (s.kind != Kind::none) requirePositive("the scaling factor", s.factor);
    if (s.kind == Kind::yarn || s.kind == Kind::llama3)
        requirePositive("the original context length", s.originalContext);
    if (s.kind == Kind::yarn) {
        requirePositive("beta fast", s.betaFast);
        requirePositive("beta slow", s.betaSlow);
        if (p.theta == 1) throw ValueError("rope: YaRN needs a theta other than 1");
        if (s.attentionFactor != 0) requirePositive("the attention factor", s.attentionFactor);
    }
    if (s.kind == Kind::llama3) {
        requirePositive("the low frequency factor", s.lowFrequencyFactor);
        if (!(s.highFrequencyFactor > s.lowFrequencyFactor))
            throw ValueError("rope: the high frequency factor " + std::to_string(s.highFrequencyFactor) +
                             " must be larger than the low one, " + std::to_string(s.lowFrequencyFactor));
    }
    if (!p.frequencyFactors.empty() && p.frequencyFactors.size() != p.channels / 2)
        throw ValueError("rope: " + std::to_string(p.frequencyFactors.size()) + " frequency factors for " +
                         std::to_string(p.channels / 2) + " pairs of channels");
    for (const float factor : p.frequencyFactors) requirePositive("a frequency factor", factor);
}

}  // namespace

Rope::Rope(const RopeParameters& p) {
    check(p);
    frequencies_.resize(p.channels / 2);
    for (std::size_t i = 0; i < frequencies_.size(); ++i) {
        double frequency = std::pow(p.theta, -2.0 * static_cast<double>(i) / static_cast<double>(p.channels));
        if (!p.frequencyFactors.empty()) frequency /= static_cast<double>(p.frequencyFactors[i]);
        switch (p.scaling.kind) {
            case RopeScaling::Kind::none:
                break;
            case RopeScaling::Kind::linear:
                frequency /= p.scaling.factor;
                break;
            case RopeScaling::Kind::yarn:
                frequency = yarn(frequency, i, p);
                break;
            case RopeScaling::Kind::llama3:
                frequency = llama3(frequency, p.scaling);
                break;
        }
        frequencies_[i] = frequency;
    }
    if (p.scaling.kind == RopeScaling::Kind::yarn) {
        const double byDefault = p.scaling.factor > 1 ? 0.1 * std::log(p.scaling.factor) + 1 : 1;
        amplitude_ = p.scaling.attentionFactor != 0 ? p.scaling.attentionFactor : byDefault;
    }
}

void Rope::fill(float* cosine, float* sine, double position) const {
    for (std::size_t i = 0; i < frequencies_.size(); ++i) {
        const double angle = position * frequencies_[i];
        cosine[i] = static_cast<float>(std::cos(angle) * amplitude_);
        sine[i] = static_cast<float>(std::sin(angle) * amplitude_);
    }
}

RopeTable Rope::table(std::span<const std::int32_t> positions) const {
    using namespace axes;
    auto table = uninitialized<float>(seq(positions.size()), turn(2), pair(frequencies_.size()));
    float* at = table.values().data();
    for (const std::int32_t position : positions) {
        fill(at, at + frequencies_.size(), position);
        at += 2 * frequencies_.size();
    }
    return table;
}

RopeTable Rope::table(std::size_t first, std::size_t count) const {
    using namespace axes;
    auto table = uninitialized<float>(seq(count), turn(2), pair(frequencies_.size()));
    float* at = table.values().data();
    for (std::size_t i = 0; i < count; ++i) {
        fill(at, at + frequencies_.size(), static_cast<double>(first + i));
        at += 2 * frequencies_.size();
    }
    return table;
}

}  // namespace axial
