// Random numbers for sampling: the same on every platform, and any of them at once.
#pragma once
#include <cstdint>

namespace axial::llm {

// Number `index` of a seed's stream, uniform in [0, 1), a multiple of 2^-53. The generator is SplitMix64 (Steele, Lea
// and Flood, "Fast splittable pseudorandom number generators", 2014) with the index as its counter, started at the
// seed's own hash so that neighbouring seeds have unrelated streams.
double uniformAt(std::uint64_t seed, std::uint64_t index);

// The seed of one of several replies that share a seed: that of number 0 is the seed itself, so that it says what it
// would say alone; the others are unrelated.
std::uint64_t seedOf(std::uint64_t seed, std::uint64_t reply);

// A seed from the operating system's entropy.
std::uint64_t freshSeed();

}  // namespace axial::llm
