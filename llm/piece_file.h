// A file of which pieces are read again and again, into memory that the caller counts.
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

namespace axial::llm {

// What pieces are read from. For use by several threads at once.
class PieceFile {
  public:
    // Where a read begins in the file, how many bytes it has, and where they go in memory have to be multiples of this.
    static constexpr std::size_t block = 4096;

    virtual ~PieceFile() = default;
    // Reads `into`.size() bytes from `offset` on, all multiples of `block`. Of those behind the file's end nothing is
    // said, but the first `needed` have to be there. FileError, with the file and the offset.
    virtual void read(std::uint64_t offset, std::span<std::byte> into, std::size_t needed) const = 0;
};

// A file on disk, read past the system's cache of pages (O_DIRECT): what is read then costs no memory but the caller's,
// and no copy. Where the file system has no such reads, pages are read as usual and given back (POSIX_FADV_DONTNEED).
class UncachedFile final : public PieceFile {
  public:
    // FileError for what cannot be opened or is no regular file.
    explicit UncachedFile(const std::filesystem::path& path);
    ~UncachedFile() override;
    UncachedFile(const UncachedFile&) = delete;
    UncachedFile& operator=(const UncachedFile&) = delete;

    // Also FileError if the file is not as it was when it was opened: of another size, or written to since.
    void read(std::uint64_t offset, std::span<std::byte> into, std::size_t needed) const override;

    // Whether reads pass the system's cache.
    bool direct() const { return direct_; }
    // The same file for whoever reads it in another way; check() is then theirs to call behind each read.
    int descriptor() const { return file_; }
    // Judges a read that gave `got` bytes, or minus the system's error. FileError as read().
    void check(std::uint64_t offset, std::int64_t got, std::size_t needed) const;

  private:
    [[noreturn]] void fail(const std::string& text) const;

    std::string path_;
    int file_ = -1;
    bool direct_ = true;
    std::int64_t size_ = 0, changedSeconds_ = 0, changedNanoseconds_ = 0;
};

}  // namespace axial::llm
