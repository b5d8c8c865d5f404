#include "axial/llm/sampler_random.h"

#include <random>

namespace axial::llm {
namespace {

// SplitMix64's finaliser: variant 13 of Stafford's mixers.
std::uint64_t mixed(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

constexpr std::uint64_t step = 0x9e3779b97f4a7c15u;  // 2^64 / golden ratio, odd

}  // namespace

double uniformAt(std::uint64_t seed, std::uint64_t index) {
    const std::uint64_t bits = mixed(mixed(seed + step) + (index + 1) * step);
    return static_cast<double>(bits >> 11) * 0x1p-53;
}

std::uint64_t seedOf(std::uint64_t seed, std::uint64_t reply) {
    return reply == 0 ? seed : mixed(mixed(seed + step) ^ mixed(reply));
}

std::uint64_t freshSeed() {
    std::random_device device;
    return (static_cast<std::uint64_t>(device()) << 32) | device();
}

}  // namespace axial::llm
