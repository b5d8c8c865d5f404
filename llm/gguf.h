// Model files in the GGUF format, versions 2 and 3 (specification: docs/gguf.md of ggml).
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "axial/llm/stored_tensor.h"

namespace axial::llm {

// The types of metadata, with the numbers they have in a file.
enum class MetadataType : std::uint8_t { u8, i8, u16, i16, u32, i32, f32, boolean, string, array, u64, i64, f64 };

// "u8", "boolean", "string" and so on.
std::string_view nameOf(MetadataType type);

// One key and its value. The value is decoded when it is asked for, from the mapped file, so an array of 150,000
// strings costs nothing until then. Valid, like the text it returns, while a copy of its GgufFile is.
// What is asked for as another type than it has is a FileError that names the file, the key and both types.
class MetadataValue {
  public:
    std::string_view key() const { return key_; }
    MetadataType type() const { return type_; }

    std::int64_t integer() const;     // of any integer type, or a boolean; FileError if it does not fit
    std::uint64_t count() const;      // the same, and not negative
    double number() const;            // of any integer or floating-point type
    bool boolean() const;             // of the boolean type only
    std::string_view string() const;  // any bytes: whether they are UTF-8 is not checked

    // Arrays. At most 2^21 elements are decoded at once; more is a FileError.
    MetadataType elementType() const;
    std::size_t size() const;
    std::vector<std::string_view> strings() const;
    std::vector<std::int64_t> integers() const;
    std::vector<double> numbers() const;

  private:
    friend class GgufParser;

    std::span<const std::byte> arrayOf(bool (*accepts)(MetadataType), const char* wanted) const;
    [[noreturn]] void failType(const char* wanted) const;
    [[noreturn]] void fail(const std::string& text) const;

    std::string_view key_;
    MetadataType type_ = MetadataType::u8;
    MetadataType elementType_ = MetadataType::u8;
    std::uint64_t size_ = 0;              // of an array
    std::span<const std::byte> encoded_;  // the value; of an array, its elements; of a string, its text
    const std::string* file_ = nullptr;   // for errors; owned by the GgufFile
};

// A model file, or the files that a model is split into, checked as a whole: every metadata value, and every tensor's
// name, format, extents and place. A handle: copies share one mapping, and so do the tensors.
class GgufFile {
  public:
    // Any one file of a model split as NAME-0000I-of-0000N.gguf (split.no, split.count, split.tensors.count) opens all
    // of them; metadata are those of the first.
    // FileError for a file that cannot be read or contradicts itself, naming the key or tensor and the offset;
    // UnsupportedError for another version, byte order or number format. More than 2^16 keys or 2^17 tensors are
    // refused, which keeps the memory needed below 64 MB.
    static GgufFile open(const std::filesystem::path& path);
    // The same for one file whose bytes, from an address that is a multiple of 8, are kept alive by `owner`. `path` is
    // for messages.
    static GgufFile parse(std::shared_ptr<const void> owner, std::span<const std::byte> bytes,
                          const std::filesystem::path& path);

    const std::vector<MetadataValue>& metadata() const&;       // in file order
    void metadata() && = delete;                               // name the file first: it would be gone
    const MetadataValue* find(std::string_view key) const;     // nullptr when absent
    const MetadataValue& require(std::string_view key) const;  // FileError when absent

    const std::vector<StoredTensor>& tensors() const&;  // in file order, one file after the other
    void tensors() && = delete;
    const StoredTensor* findTensor(std::string_view name) const;

    const std::filesystem::path& path() const;  // as it was opened
    std::uint64_t fileBytes() const;            // of all files
    int version() const;                        // of the (first) file

  private:
    struct Contents;
    explicit GgufFile(std::shared_ptr<const Contents> contents);

    std::shared_ptr<const Contents> contents_;
};

}  // namespace axial::llm
