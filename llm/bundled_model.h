// The model file that is part of the library.
#pragma once
#include "axial/llm/gguf.h"

namespace axial::llm {

// llm/bundled/axial-tiny-qwen3.gguf, from memory. How it was made: examples/tiny_qwen3.
GgufFile bundledModel();

}  // namespace axial::llm
