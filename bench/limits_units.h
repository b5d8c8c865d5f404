// Loops of the integer units that Highway 1.0.3 does not build for, in a file with its own compiler flags.
#pragma once
#include <cstddef>
#include <cstdint>

namespace axial::bench {

// Four sums by three of each kind are kept, as in a matrix product. One pass goes through bytesOfA and bytesOfB bytes
// once, which stay in the nearest cache.
inline constexpr std::size_t bytesOfA = 8192, bytesOfB = bytesOfA / 4 * 3;

// Whether they are compiled in at all; whether they can run is for instructionSet() to say.
bool unitsBuilt() noexcept;
// So many passes; `sums` gets some of the results. They return the number of products in a pass.
std::size_t vnniProducts(const std::byte* a, const std::byte* b, std::size_t passes, std::int32_t* sums) noexcept;
std::size_t amxProducts(const std::byte* a, const std::byte* b, std::size_t passes, std::int32_t* sums) noexcept;

}  // namespace axial::bench
