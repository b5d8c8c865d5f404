#include "axial/llm/gguf_reader.h"

#include "axial/tensor/error.h"

namespace axial::llm {

std::string GgufReader::prefix() const {
    std::string text = file_ + ": " + std::string(kind_);
    if (!name_.empty()) text += " " + shownName(name_);
    if (count_ == 0) return text + ": ";
    const std::string place = std::to_string(index_ + 1) + " of " + std::to_string(count_);
    return text + (name_.empty() ? " " + place : " (" + place + ")") + ": ";
}

void GgufReader::fail(const std::string& text) const { throw FileError(prefix() + text); }
void GgufReader::failUnsupported(const std::string& text) const { throw UnsupportedError(prefix() + text); }

void GgufReader::failNeed(std::uint64_t bytes, std::string_view what) const {
    fail(std::string(what) + " at offset " + std::to_string(offset_) + " needs " + std::to_string(bytes) +
         " bytes, but the file ends at " + std::to_string(bytes_.size()) + ": it is cut off or damaged");
}

void GgufReader::failLength(std::uint64_t length, std::string_view what) const {
    fail(std::string(what) + " at offset " + std::to_string(offset_) + " is said to be " + std::to_string(length) +
         " bytes long, but the file ends at " + std::to_string(bytes_.size()) + ": it is cut off or damaged");
}

void GgufReader::failCount(std::uint64_t count, std::uint64_t bytesEach, std::string_view what) const {
    fail(std::to_string(count) + " " + std::string(what) + " at offset " + std::to_string(offset_) + " need at least " +
         std::to_string(bytesEach) + " bytes each, but the file ends at " + std::to_string(bytes_.size()) +
         ": it is cut off or damaged");
}

}  // namespace axial::llm
