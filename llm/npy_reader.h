// Reads arrays in NumPy's file format (NumPy Enhancement Proposal 1; numpy.lib.format), whoever wrote them.
#pragma once
#include <filesystem>
#include <memory>
#include <span>

#include "axial/llm/stored_tensor.h"

namespace axial::llm {

// The array of a .npy file, of version 1, 2 or 3, named like the file without its ending. Its numbers are in C order;
// those of an array in Fortran order are copied into it. FileError for a file that cannot be read or contradicts
// itself: a header beyond the file, a dictionary that is not the three keys descr, fortran_order and shape, a shape
// that does not fill the file exactly. UnsupportedError for a type other than little-endian float16, float32, float64,
// int8, int16, int32 and int64, and for more than 8 axes.
StoredTensor readNpy(const std::filesystem::path& path);
// The same for the bytes of one file, kept alive by `owner`. `path` is for messages and the name.
StoredTensor parseNpy(std::shared_ptr<const void> owner, std::span<const std::byte> bytes,
                      const std::filesystem::path& path);

}  // namespace axial::llm
