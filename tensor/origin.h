// Where a weight's numbers come from.
#pragma once
#include <cstdint>

namespace axial {

// What is known of a weight's memory: that somebody may write to it; that nobody does, so that a second form stays
// true; or that it lies in the mapping of a file besides, so that it can be given back.
enum class Origin : std::uint8_t { writable, constant, onDisk };

}  // namespace axial
