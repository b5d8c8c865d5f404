#include "axial/llm/piece_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <memory>
#include <system_error>
#include <utility>

#include "axial/tensor/error.h"

namespace axial::llm {
namespace {

std::string reasonOf(int error) { return std::generic_category().message(error); }

// Some file systems take O_DIRECT and refuse the reads.
bool directReadsWork(int file) {
    const std::unique_ptr<void, decltype(&std::free)> memory(std::aligned_alloc(PieceFile::block, PieceFile::block),
                                                             &std::free);
    return memory && ::pread(file, memory.get(), PieceFile::block, 0) >= 0;
}

}  // namespace

UncachedFile::UncachedFile(const std::filesystem::path& path) : path_(path.string()) {
    // Non-blocking, so that a pipe without a writer is refused rather than waited for.
    constexpr int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK;
#ifdef O_DIRECT
    file_ = ::open(path_.c_str(), flags | O_DIRECT);
    if (file_ >= 0 && !directReadsWork(file_)) ::close(std::exchange(file_, -1));
#endif
    if (file_ < 0) {
        direct_ = false;
        file_ = ::open(path_.c_str(), flags);
    }
    if (file_ < 0) fail("cannot be read: " + reasonOf(errno));
    struct stat status {};
    const bool known = ::fstat(file_, &status) == 0;
    if (!known || !S_ISREG(status.st_mode)) {
        const std::string why = known ? "is not a regular file" : "cannot be read: " + reasonOf(errno);
        ::close(file_);
        fail(why);
    }
    size_ = status.st_size;
    changedSeconds_ = status.st_mtim.tv_sec;
    changedNanoseconds_ = status.st_mtim.tv_nsec;
}

UncachedFile::~UncachedFile() { ::close(file_); }

void UncachedFile::read(std::uint64_t offset, std::span<std::byte> into, std::size_t needed) const {
    std::size_t done = 0;
    while (done < into.size()) {
        const ssize_t got = ::pread(file_, into.data() + done, into.size() - done, static_cast<off_t>(offset + done));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) check(offset + done, -errno, needed);
        done += static_cast<std::size_t>(got);
        // What is not a multiple of the block is the end, and cannot be gone on from.
        if (got == 0 || static_cast<std::size_t>(got) % block != 0) break;
    }
    check(offset, static_cast<std::int64_t>(done), needed);
    if (!direct_)
        ::posix_fadvise(file_, static_cast<off_t>(offset), static_cast<off_t>(into.size()), POSIX_FADV_DONTNEED);
}

void UncachedFile::check(std::uint64_t offset, std::int64_t got, std::size_t needed) const {
    if (got < 0) fail("cannot be read from offset " + std::to_string(offset) + ": " + reasonOf(static_cast<int>(-got)));
    struct stat now {};
    if (::fstat(file_, &now) != 0) fail("cannot be looked at: " + reasonOf(errno));
    if (now.st_size != size_)
        fail("had " + std::to_string(size_) + " bytes when it was opened and has " + std::to_string(now.st_size) +
             " now, seen when it was read from offset " + std::to_string(offset) + "; a model in use must not change");
    if (now.st_mtim.tv_sec != changedSeconds_ || now.st_mtim.tv_nsec != changedNanoseconds_)
        fail("was written to since it was opened, seen when it was read from offset " + std::to_string(offset) +
             "; a model in use must not change");
    if (static_cast<std::uint64_t>(got) < needed)
        fail("gave " + std::to_string(got) + " of " + std::to_string(needed) + " bytes from offset " +
             std::to_string(offset) + " on");
}

void UncachedFile::fail(const std::string& text) const { throw FileError(path_ + ": " + text); }

}  // namespace axial::llm
