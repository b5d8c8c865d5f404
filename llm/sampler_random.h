// Random numbers for sampling: the same on every platform, and any of them at once.
#pragma once
#include <cstdint>

namespace axial::llm {

// Number `index` of a seed's stream, uniform in [0, 1), a multiple of 2^-53. The generator is SplitMix64 (Steele, Lea
// and Flood, "Fast splittable pseudorandom number generators", 2014) with the index as its counter, started at the
// seed's own hash so that neighbouring seeds have unrelated streams.
double uniformAt(std::uint64_t seed, std::uint64_t index);

// A seed from the operating system's entropy.
std::uint64_t freshSeed();

}  // namespace axial::llm
