#include "axial/tensor/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

#include "axial/tensor/error.h"

namespace axial {
namespace {

[[noreturn]] void fail(const std::filesystem::path& path, const std::string& reason) {
    throw FileError("cannot read " + path.string() + ": " + reason);
}

std::string systemReason() { return std::generic_category().message(errno); }

class Descriptor {
  public:
    // Non-blocking, so that a pipe without a writer is refused rather than waited for.
    explicit Descriptor(const std::filesystem::path& path)
        : number_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
        if (number_ < 0) fail(path, systemReason());
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    ~Descriptor() { ::close(number_); }
    int number() const { return number_; }

  private:
    int number_;
};

}  // namespace

MappedFile::MappedFile(const std::filesystem::path& path) {
    const Descriptor file(path);
    struct stat status {};
    if (::fstat(file.number(), &status) != 0) fail(path, systemReason());
    if (S_ISDIR(status.st_mode)) fail(path, "it is a directory; name a file in it");
    if (!S_ISREG(status.st_mode)) fail(path, "it is not a regular file, so it cannot be mapped");
    if (status.st_size == 0) return;
    const auto size = static_cast<std::size_t>(status.st_size);
    void* const address = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, file.number(), 0);
    if (address == MAP_FAILED) fail(path, "mapping " + std::to_string(size) + " bytes: " + systemReason());
    bytes_ = {static_cast<const std::byte*>(address), size};
    // Where the file system can, what is read from disk from now on comes in pages of 2 MB. Weights are read from end to
    // end for every token, and looking up small pages takes a good part of that (measured: 15.5 instead of 12.5 GB/s).
#ifdef MADV_HUGEPAGE
    ::madvise(address, size, MADV_HUGEPAGE);
#endif
}

MappedFile::MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
    MappedFile taken(std::move(other));
    std::swap(bytes_, taken.bytes_);
    return *this;
}

MappedFile::~MappedFile() {
    if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

void MappedFile::advise(Access access, std::size_t offset, std::size_t length) const {
    if (offset >= bytes_.size()) return;
    length = std::min(length, bytes_.size() - offset);
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    const std::size_t start = offset / page * page;
    ::madvise(const_cast<std::byte*>(bytes_.data()) + start, offset + length - start,
              access == Access::willNeed ? MADV_WILLNEED : MADV_SEQUENTIAL);
}

}  // namespace axial
