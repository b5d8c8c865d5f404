// Arrays in NumPy's file format (NumPy Enhancement Proposal 1), so that numpy.load reads what the engine computed.
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

namespace axial::llm {

// Writes float32 or int32 values in C order under the given extents, which multiply to the number of values (else
// ShapeError). FileError, with the system's reason, if the file cannot be written; what was written of it is then
// removed.
void writeNpy(const std::filesystem::path& path, std::span<const float> values, std::span<const std::size_t> extents);
void writeNpy(const std::filesystem::path& path, std::span<const std::int32_t> values,
              std::span<const std::size_t> extents);

}  // namespace axial::llm
