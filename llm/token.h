// What a token is called.
#pragma once
#include <cstdint>

namespace axial::llm {

// A position in the vocabulary.
using TokenId = std::int32_t;

}  // namespace axial::llm
