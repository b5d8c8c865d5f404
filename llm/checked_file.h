// Our own binary files: checksums throughout, so that one that was cut off or damaged is found out, and where.
//
// Layout, all numbers little-endian:
//   8 bytes that say what kind of file it is; u32 its version; u64 the bytes of the whole file; u32 checksum
//   then the content, in pieces of 65,532 bytes (the last one may be shorter), each followed by a u32 checksum.
// A checksum is the CRC-32 of ISO 3309 (as in gzip) of the four bytes of the checksum before it (0 at first) and the
// bytes since then. So it finds any change of up to 32 bits in a row, pieces in another order, and all but one in 2^32
// of other changes. It is no defence against forgery: whoever reads such a file still checks what the content says.
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "axial/llm/atomic_file.h"

namespace axial::llm {

static_assert(std::endian::native == std::endian::little, "numbers are written as they lie in memory");

struct FileKind {
    std::string_view magic;  // 8 bytes
    std::string_view name;   // "a saved cache"
    std::uint32_t version;
};

// Writes one, crash-safely (AtomicFile), with the same errors.
class CheckedWriter {
  public:
    // For `contentBytes` of content, no more and no less.
    CheckedWriter(const std::filesystem::path& path, const FileKind& kind, std::uint64_t contentBytes);

    void write(std::span<const std::byte> bytes);
    template <class Number>
        requires std::is_arithmetic_v<Number>
    void number(Number value) {
        write(std::as_bytes(std::span(&value, 1)));
    }
    // Puts the file in place. Throws ValueError if the content is not complete.
    void commit();

  private:
    void flush();

    AtomicFile file_;
    std::vector<std::byte> piece_;  // not written yet
    std::uint64_t missing_;         // content that is still to come
    std::uint32_t checksum_ = 0;
};

// Reads one piece by piece. Errors are FileErrors that name the file, and the offset or what was looked for there.
class CheckedReader {
  public:
    // Refuses another kind of file, one that was cut off or goes on behind its end, and (UnsupportedError) another
    // version.
    CheckedReader(const std::filesystem::path& path, const FileKind& kind);
    ~CheckedReader();
    CheckedReader(const CheckedReader&) = delete;
    CheckedReader& operator=(const CheckedReader&) = delete;

    // `what` is for messages: "the tokens".
    void read(std::span<std::byte> into, std::string_view what);
    template <class Number>
        requires std::is_arithmetic_v<Number>
    Number number(std::string_view what) {
        Number value;
        read(std::as_writable_bytes(std::span(&value, 1)), what);
        return value;
    }
    // Bytes of content that were not read yet.
    std::uint64_t remaining() const { return piece_.size() - at_ + content_; }
    // FileError: "<file>: <text>".
    [[noreturn]] void fail(const std::string& text) const;

  private:
    void nextPiece();
    void readFile(std::byte* to, std::size_t count);

    std::string path_;
    int file_ = -1;
    std::uint64_t offset_ = 0, content_ = 0;  // in the file; content behind the piece at hand
    std::vector<std::byte> piece_;
    std::size_t at_ = 0;  // in the piece
    std::uint32_t checksum_ = 0;
};

}  // namespace axial::llm
