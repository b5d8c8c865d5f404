// A file's bytes in memory, read by the system as they are touched.
#pragma once
#include <cstddef>
#include <filesystem>
#include <span>

namespace axial {

// A read-only mapping of a whole regular file; it may be moved, not copied. The bytes stay where they are until the
// object is destroyed, also when it is moved or the file is renamed or deleted.
// Writing to the file while it is mapped changes the bytes seen here; shortening it is not handled: touching a page
// that is gone ends the process with SIGBUS.
class MappedFile {
  public:
    // FileError, with the path and the system's reason, for anything but a readable regular file. An empty file has
    // no bytes.
    explicit MappedFile(const std::filesystem::path& path);
    MappedFile(MappedFile&& other) noexcept;
    MappedFile& operator=(MappedFile&& other) noexcept;
    ~MappedFile();

    // All bytes, from a page-aligned address.
    std::span<const std::byte> bytes() const { return bytes_; }

    // Hints, of which nothing but speed depends; a range beyond the end is cut.
    enum class Access { willNeed, sequential };
    void advise(Access access, std::size_t offset, std::size_t length) const;

  private:
    std::span<const std::byte> bytes_;
};

}  // namespace axial
