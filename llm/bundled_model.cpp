#include "axial/llm/bundled_model.h"

// The assembler copies the file into the library's read-only data: no compiler could read 3 MB of numbers as fast.
__asm__(
    ".pushsection .rodata\n"
    ".balign 64\n"
    "axialBundledModelBegin:\n"
    ".incbin \"" AXIAL_BUNDLED_MODEL
    "\"\n"
    "axialBundledModelEnd:\n"
    ".popsection\n");

extern "C" {
extern const std::byte axialBundledModelBegin[] __attribute__((visibility("hidden")));
extern const std::byte axialBundledModelEnd[] __attribute__((visibility("hidden")));
}

namespace axial::llm {

GgufFile bundledModel() {
    const auto size = static_cast<std::size_t>(axialBundledModelEnd - axialBundledModelBegin);
    return GgufFile::parse(nullptr, {axialBundledModelBegin, size}, "axial-tiny-qwen3.gguf (bundled)");
}

}  // namespace axial::llm
