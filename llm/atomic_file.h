// A file that is written whole or not at all.
#pragma once
#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>

namespace axial::llm {

// What is written goes into a file beside the wanted one, which takes its place when all of it is on the disk: whatever
// happens (a full disk, a crash, a power cut), under the wanted name there is either what was there before or all of
// the new. A file that is replaced keeps its permissions, and a link keeps pointing to it. Whoever is killed in between
// leaves "<name>.part-<process>-<number>" behind.
//
// Errors are FileErrors that name the file and the system's reason.
class AtomicFile {
  public:
    // Refuses what exists and is no regular file, or may not be written.
    explicit AtomicFile(const std::filesystem::path& path);
    // Without commit(), what was written is gone.
    ~AtomicFile();
    AtomicFile(const AtomicFile&) = delete;
    AtomicFile& operator=(const AtomicFile&) = delete;

    void write(std::span<const std::byte> bytes);
    void write(std::string_view text) { write(std::as_bytes(std::span(text))); }
    // Waits until everything is on the disk, and puts it in place.
    void commit();

  private:
    [[noreturn]] void fail(int error) const;

    std::filesystem::path path_, part_;
    int file_ = -1;
};

}  // namespace axial::llm
