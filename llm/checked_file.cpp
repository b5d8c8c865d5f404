#include "axial/llm/checked_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <boost/crc.hpp>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "axial/tensor/error.h"

namespace axial::llm {
namespace {

constexpr std::size_t checksumBytes = sizeof(std::uint32_t), pieceBytes = 65536 - checksumBytes;
constexpr std::size_t magicBytes = 8, startBytes = magicBytes + 4 + 8;

std::uint32_t checksumOf(std::uint32_t before, std::span<const std::byte> bytes) {
    boost::crc_32_type crc;
    crc.process_bytes(&before, sizeof before);
    crc.process_bytes(bytes.data(), bytes.size());
    return crc.checksum();
}

// Bytes of the whole file.
std::uint64_t fileBytesFor(std::uint64_t content) {
    const std::uint64_t pieces = content / pieceBytes + (content % pieceBytes != 0);
    return startBytes + checksumBytes + content + pieces * checksumBytes;
}
// The reverse; nothing if no content makes a file of that size.
bool contentIn(std::uint64_t fileBytes, std::uint64_t& content) {
    constexpr std::uint64_t whole = pieceBytes + checksumBytes;
    if (fileBytes < startBytes + checksumBytes) return false;
    const std::uint64_t body = fileBytes - startBytes - checksumBytes, rest = body % whole;
    content = body / whole * pieceBytes + (rest > checksumBytes ? rest - checksumBytes : 0);
    return rest == 0 || rest > checksumBytes;
}

std::string bytesText(std::uint64_t count) { return std::to_string(count) + (count == 1 ? " byte" : " bytes"); }

}  // namespace

CheckedWriter::CheckedWriter(const std::filesystem::path& path, const FileKind& kind, std::uint64_t contentBytes)
    : file_(path), missing_(contentBytes) {
    piece_.reserve(pieceBytes + checksumBytes);
    const auto start = std::as_bytes(std::span(kind.magic)).first(magicBytes);
    piece_.assign(start.begin(), start.end());
    const auto put = [&](auto number) {
        const auto bytes = std::as_bytes(std::span(&number, 1));
        piece_.insert(piece_.end(), bytes.begin(), bytes.end());
    };
    put(kind.version);
    put(fileBytesFor(contentBytes));
    flush();
}

void CheckedWriter::flush() {
    checksum_ = checksumOf(checksum_, piece_);
    const auto bytes = std::as_bytes(std::span(&checksum_, 1));
    piece_.insert(piece_.end(), bytes.begin(), bytes.end());
    file_.write(piece_);
    piece_.clear();
}

void CheckedWriter::write(std::span<const std::byte> bytes) {
    if (bytes.size() > missing_)
        throw ValueError("CheckedWriter: " + bytesText(bytes.size()) + " of content, where " + bytesText(missing_) +
                         " are still missing");
    missing_ -= bytes.size();
    while (!bytes.empty()) {
        const auto part = bytes.first(std::min(bytes.size(), pieceBytes - piece_.size()));
        piece_.insert(piece_.end(), part.begin(), part.end());
        if (piece_.size() == pieceBytes) flush();
        bytes = bytes.subspan(part.size());
    }
}

void CheckedWriter::commit() {
    if (missing_ != 0) throw ValueError("CheckedWriter: " + bytesText(missing_) + " of content are still missing");
    if (!piece_.empty()) flush();
    file_.commit();
}

CheckedReader::CheckedReader(const std::filesystem::path& path, const FileKind& kind) : path_(path.string()) {
    // Non-blocking, so that a pipe without a writer is refused rather than waited for.
    const auto cannot = [&] { fail("cannot be read: " + std::generic_category().message(errno)); };
    file_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file_ < 0) cannot();
    try {
        struct stat status {};
        if (::fstat(file_, &status) != 0) cannot();
        if (!S_ISREG(status.st_mode)) fail("is not a regular file");
        const auto size = static_cast<std::uint64_t>(status.st_size);

        std::byte start[startBytes + checksumBytes];
        const auto there = static_cast<std::size_t>(std::min<std::uint64_t>(size, sizeof start));
        readFile(start, there);
        if (std::memcmp(start, kind.magic.data(), std::min(there, magicBytes)) != 0)
            fail("is not " + std::string(kind.name) + ": its first 8 bytes are others");
        if (there < sizeof start)
            fail("is cut off: it has " + bytesText(size) + ", not even the " + std::to_string(sizeof start) +
                 " that it begins with");
        checksum_ = checksumOf(0, std::span(start).first(startBytes));
        std::uint32_t version = 0, wanted = 0;
        std::uint64_t fileBytes = 0;
        std::memcpy(&version, start + magicBytes, sizeof version);
        std::memcpy(&fileBytes, start + magicBytes + sizeof version, sizeof fileBytes);
        std::memcpy(&wanted, start + startBytes, sizeof wanted);
        if (wanted != checksum_)
            fail("is damaged between offset 0 and " + std::to_string(sizeof start) + ": the checksum is another");
        if (version != kind.version)
            throw UnsupportedError(path_ + ": is " + std::string(kind.name) + " of version " + std::to_string(version) +
                                   "; this program reads version " + std::to_string(kind.version));
        if (size < fileBytes) fail("is cut off: it has " + std::to_string(size) + " of " + bytesText(fileBytes));
        if (size > fileBytes)
            fail("has " + bytesText(size - fileBytes) + " behind its end at offset " + std::to_string(fileBytes));
        if (!contentIn(fileBytes, content_)) fail("no such file has " + bytesText(fileBytes));
    } catch (...) {
        ::close(file_);
        throw;
    }
}

CheckedReader::~CheckedReader() { ::close(file_); }

void CheckedReader::read(std::span<std::byte> into, std::string_view what) {
    if (into.size() > remaining())
        fail("contradicts itself: " + std::string(what) + " would take " + bytesText(into.size()) + ", and only " +
             std::to_string(remaining()) + " follow");
    while (!into.empty()) {
        if (at_ == piece_.size()) nextPiece();
        const std::size_t count = std::min(into.size(), piece_.size() - at_);
        std::memcpy(into.data(), piece_.data() + at_, count);
        at_ += count;
        into = into.subspan(count);
    }
}

void CheckedReader::nextPiece() {
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(pieceBytes, content_));
    const std::uint64_t from = offset_;
    piece_.resize(count);
    at_ = 0;
    content_ -= count;
    readFile(piece_.data(), count);
    std::uint32_t wanted = 0;
    readFile(reinterpret_cast<std::byte*>(&wanted), sizeof wanted);
    checksum_ = checksumOf(checksum_, piece_);
    if (wanted != checksum_)
        fail("is damaged between offset " + std::to_string(from) + " and " + std::to_string(offset_) +
             ": the checksum is another");
}

void CheckedReader::readFile(std::byte* to, std::size_t count) {
    while (count != 0) {
        const ssize_t done = ::read(file_, to, count);
        if (done < 0 && errno == EINTR) continue;
        if (done < 0)
            fail("cannot be read from offset " + std::to_string(offset_) + ": " +
                 std::generic_category().message(errno));
        if (done == 0) fail("was cut off at offset " + std::to_string(offset_) + " while it was read");
        to += done;
        count -= static_cast<std::size_t>(done);
        offset_ += static_cast<std::uint64_t>(done);
    }
}

void CheckedReader::fail(const std::string& text) const { throw FileError(path_ + ": " + text); }

}  // namespace axial::llm
