#include "axial/llm/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

#include "axial/tensor/error.h"

namespace axial::llm {
namespace {

// Where a link points to: that file is replaced, not the link.
std::filesystem::path targetOf(const std::filesystem::path& path) {
    std::error_code error;
    if (!std::filesystem::is_symlink(path, error)) return path;
    const std::filesystem::path target = std::filesystem::canonical(path, error);
    if (error) throw FileError(path.string() + ": cannot be written: it is a link, and where it points is nothing");
    return target;
}

// The file's name is on the disk once its folder is. Some file systems know no such thing, and say so.
bool syncFolder(const std::filesystem::path& folder) {
    const int opened = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (opened < 0) return false;
    const bool synced = ::fsync(opened) == 0 || errno == EINVAL || errno == ENOTSUP;
    const int error = errno;
    ::close(opened);
    errno = error;
    return synced;
}

}  // namespace

AtomicFile::AtomicFile(const std::filesystem::path& path) : path_(targetOf(path)) {
    struct stat old {};
    const bool exists = ::stat(path_.c_str(), &old) == 0;
    if (exists && !S_ISREG(old.st_mode))
        throw FileError(path_.string() + ": cannot be written: it is there already, and is no regular file");
    if (exists && ::access(path_.c_str(), W_OK) != 0) fail(errno);
    static std::atomic<unsigned> count{0};
    do {
        part_ = path_;
        part_ += ".part-" + std::to_string(::getpid()) + "-" + std::to_string(count.fetch_add(1));
        file_ = ::open(part_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    } while (file_ < 0 && errno == EEXIST);
    if (file_ < 0) fail(errno);
    if (exists && ::fchmod(file_, old.st_mode & 07777) != 0) {
        const int error = errno;
        ::close(file_);
        ::unlink(part_.c_str());
        fail(error);
    }
}

AtomicFile::~AtomicFile() {
    if (file_ >= 0) ::close(file_);
    if (!part_.empty()) ::unlink(part_.c_str());
}

void AtomicFile::write(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
        const ssize_t written = ::write(file_, bytes.data(), bytes.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) fail(errno);
        bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
}

void AtomicFile::commit() {
    if (::fsync(file_) != 0) fail(errno);
    if (::close(std::exchange(file_, -1)) != 0) fail(errno);
    if (::rename(part_.c_str(), path_.c_str()) != 0) fail(errno);
    part_.clear();
    if (!syncFolder(path_.parent_path()))
        throw FileError(path_.string() + ": is written, but might not outlive a power cut: its folder: " +
                        std::generic_category().message(errno));
}

void AtomicFile::fail(int error) const {
    throw FileError(path_.string() + ": cannot be written: " + std::generic_category().message(error));
}

}  // namespace axial::llm
