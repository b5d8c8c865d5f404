// One GGUF file, read and checked by itself; gguf.cpp puts the files of a model together.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "axial/llm/gguf.h"
#include "axial/llm/gguf_reader.h"

namespace axial::llm {

// More than any published model has, and few enough that their descriptions take less than 64 MB.
inline constexpr std::uint64_t mostKeys = 1u << 16;
inline constexpr std::uint64_t mostTensors = 1u << 17;

struct GgufPart {
    std::shared_ptr<const std::string> file;  // its path, for messages
    std::shared_ptr<const void> owner;        // keeps its bytes alive
    int version = 0;
    std::uint64_t bytes = 0;
    std::vector<MetadataValue> metadata;                      // keys may occur twice: GgufFile looks
    std::vector<StoredTensor> tensors;                        // names too
    std::vector<std::uint64_t> metadataOffset, tensorOffset;  // where each one's description starts
};

class GgufParser {
  public:
    GgufParser(std::shared_ptr<const void> owner, std::span<const std::byte> bytes,
               std::shared_ptr<const std::string> file);
    // FileError or UnsupportedError as GgufFile::open says.
    GgufPart parse() &&;

  private:
    struct Counts {
        std::uint64_t tensors, keys;
    };
    Counts readHeader();
    MetadataValue readKey();
    void readValue(MetadataValue& value);
    void skipArray(MetadataType type, std::uint64_t count, int depth);
    MetadataType readType(std::string_view what);
    std::uint64_t alignment() const;
    std::uint64_t readTensor();  // its data's offset in the data section
    void placeData(const std::vector<std::uint64_t>& offsets);
    void checkOverlap() const;

    std::span<const std::byte> bytes_;
    GgufPart part_;
    GgufReader reader_;
};

}  // namespace axial::llm
