#include "axial/llm/reply.h"

namespace axial::llm {

ContextFullError::ContextFullError(std::size_t prompt, std::size_t capacity)
    : ValueError("context full: the prompt has " + std::to_string(prompt) + " tokens, but there is room for " +
                 std::to_string(capacity) + "; shorten it or make a larger context") {}

}  // namespace axial::llm
