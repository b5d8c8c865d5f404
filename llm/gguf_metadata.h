// Facts about the types of metadata that the parser and the decoder of values share.
#pragma once
#include <cstddef>

#include "axial/llm/gguf.h"

namespace axial::llm {

// Bytes of one value; strings and arrays have no fixed size, and 0 here.
std::size_t bytesOf(MetadataType type);

}  // namespace axial::llm
