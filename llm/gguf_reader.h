// A position in a GGUF file's bytes that cannot leave them; what it is reading is named in every error.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "axial/llm/shown_name.h"

namespace axial::llm {

// The little-endian number at an address.
template <class Number>
Number littleEndian(const std::byte* from) {
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < sizeof(Number); ++i) bits |= static_cast<std::uint64_t>(from[i]) << (8 * i);
    Number number;
    if constexpr (sizeof(Number) == 8) {
        std::memcpy(&number, &bits, 8);
    } else if constexpr (sizeof(Number) == 4) {
        const auto word = static_cast<std::uint32_t>(bits);
        std::memcpy(&number, &word, 4);
    } else {
        number = static_cast<Number>(bits);
    }
    return number;
}

class GgufReader {
  public:
    GgufReader(const std::string& file, std::span<const std::byte> bytes) : file_(file), bytes_(bytes) {}

    // What is read from here on, for messages: "the header"; "key", 2, 25: key 3 of 25, by its name once that is known.
    void enter(std::string_view kind) { kind_ = kind, count_ = 0, name_ = {}; }
    void enter(std::string_view kind, std::uint64_t index, std::uint64_t count) {
        kind_ = kind, index_ = index, count_ = count, name_ = {};
    }
    void named(std::string_view name) { name_ = name; }

    std::uint64_t offset() const { return offset_; }
    std::uint64_t remaining() const { return bytes_.size() - offset_; }
    const std::byte* here() const { return bytes_.data() + offset_; }

    template <class Number>
    Number number(std::string_view what) {
        need(sizeof(Number), what);
        const Number read = littleEndian<Number>(here());
        offset_ += sizeof(Number);
        return read;
    }
    // A length of 64 bits, then as many bytes.
    std::string_view string(std::string_view what) {
        const std::uint64_t length = number<std::uint64_t>(what);
        if (length > remaining()) failLength(length, what);
        const std::string_view text(reinterpret_cast<const char*>(here()), static_cast<std::size_t>(length));
        offset_ += length;
        return text;
    }
    void skip(std::uint64_t bytes, std::string_view what) {
        need(bytes, what);
        offset_ += bytes;
    }
    // Refuses a count of things that take at least `bytesEach` when the rest of the file cannot hold them.
    void needAtLeast(std::uint64_t count, std::uint64_t bytesEach, std::string_view what) const {
        if (count > remaining() / bytesEach) failCount(count, bytesEach, what);
    }

    // FileError: "<file>: <what is read>: <text>".
    [[noreturn]] void fail(const std::string& text) const;
    [[noreturn]] void failUnsupported(const std::string& text) const;

  private:
    void need(std::uint64_t bytes, std::string_view what) const {
        if (bytes > remaining()) failNeed(bytes, what);
    }
    [[noreturn]] void failNeed(std::uint64_t bytes, std::string_view what) const;
    [[noreturn]] void failLength(std::uint64_t length, std::string_view what) const;
    [[noreturn]] void failCount(std::uint64_t count, std::uint64_t bytesEach, std::string_view what) const;
    std::string prefix() const;

    const std::string& file_;
    std::span<const std::byte> bytes_;
    std::uint64_t offset_ = 0;
    std::string_view kind_ = "the header";
    std::uint64_t index_ = 0, count_ = 0;
    std::string_view name_;
};

}  // namespace axial::llm
