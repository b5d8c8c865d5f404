// Pieces of a file that stay out of the system's cache, and what is said when the file is not what it was.
#include "axial/llm/piece_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "axial/tensor/error.h"
#include "llm/temporary_folder.h"

using namespace axial;
using namespace axial::llm;
using axial::llm::test::TemporaryFolder;

namespace {

constexpr std::size_t block = PieceFile::block;

struct Memory {
    explicit Memory(std::size_t bytes) : bytes(bytes), data(std::aligned_alloc(block, bytes), &std::free) {}
    std::span<std::byte> span() const { return {static_cast<std::byte*>(data.get()), bytes}; }
    std::string text(std::size_t count) const { return {static_cast<const char*>(data.get()), count}; }
    std::size_t bytes;
    std::unique_ptr<void, decltype(&std::free)> data;
};

std::string textOf(std::size_t bytes) {
    std::string text(bytes, ' ');
    for (std::size_t i = 0; i < bytes; ++i) text[i] = static_cast<char>('a' + (i * i + i / block) % 26);
    return text;
}

// The FileError of a read.
std::string errorOf(const UncachedFile& file, std::uint64_t offset, std::size_t bytes, std::size_t needed) {
    const Memory memory(bytes);
    try {
        file.read(offset, memory.span(), needed);
    } catch (const FileError& error) {
        return error.what();
    }
    return {};
}
bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// Pages of the file that the system keeps in memory.
std::size_t pagesInMemory(const std::filesystem::path& path, std::size_t bytes) {
    const int file = ::open(path.c_str(), O_RDONLY);
    void* const at = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, file, 0);
    ::close(file);
    std::vector<unsigned char> in((bytes + block - 1) / block);
    REQUIRE(::mincore(at, bytes, in.data()) == 0);
    ::munmap(at, bytes);
    std::size_t count = 0;
    for (const unsigned char page : in) count += page & 1u;
    return count;
}

}  // namespace

TEST_CASE("pieces of a file are its bytes, also at its end") {
    const TemporaryFolder folder;
    const std::string text = textOf(5 * block + 77);
    const UncachedFile file(folder.write("file", text));
    const Memory memory(3 * block);
    file.read(block, memory.span(), 3 * block);
    CHECK(memory.text(3 * block) == text.substr(block, 3 * block));
    file.read(4 * block, memory.span().first(2 * block), block + 77);
    CHECK(memory.text(block + 77) == text.substr(4 * block));
    const std::string behind = errorOf(file, 4 * block, 2 * block, block + 78);
    CHECK(contains(behind, (folder.path() / "file").string()));
    CHECK(contains(behind, "gave 4173 of 4174 bytes from offset 16384"));
    CHECK(contains(errorOf(file, 8 * block, block, 1), "gave 0 of 1 bytes from offset 32768"));
}

TEST_CASE("what was read is not in the system's cache") {
    const TemporaryFolder folder;
    const std::size_t bytes = 64 * block;
    const auto path = folder.write("file", textOf(bytes));
    {
        const int opened = ::open(path.c_str(), O_RDONLY);
        REQUIRE(::fsync(opened) == 0);
        ::posix_fadvise(opened, 0, 0, POSIX_FADV_DONTNEED);
        ::close(opened);
    }
    const std::size_t before = pagesInMemory(path, bytes);
    if (before != 0) {
        MESSAGE("the file system keeps all files in memory: skipped");
        return;
    }
    const UncachedFile file(path);
    const Memory memory(16 * block);
    for (std::size_t offset = 0; offset < bytes; offset += 16 * block) file.read(offset, memory.span(), 16 * block);
    MESSAGE("direct reads: " << file.direct());
    CHECK(pagesInMemory(path, bytes) == 0);
}

TEST_CASE("a file that is cut off, grows or is written to while it is open is found out") {
    const TemporaryFolder folder;
    const std::size_t bytes = 4 * block;
    const auto path = folder.write("file", textOf(bytes));
    {
        const UncachedFile file(path);
        CHECK(errorOf(file, 0, block, block).empty());
        std::filesystem::resize_file(path, 3 * block);
        for (const std::uint64_t offset : {std::uint64_t{0}, std::uint64_t{3 * block}}) {
            const std::string text = errorOf(file, offset, block, block);
            CHECK(contains(text, "had 16384 bytes when it was opened and has 12288 now"));
            CHECK(contains(text, "offset " + std::to_string(offset)));
        }
    }
    {
        const UncachedFile file(path);
        std::filesystem::resize_file(path, 5 * block);
        CHECK(contains(errorOf(file, 0, block, block), "has 20480 now"));
    }
    {
        const UncachedFile file(path);
        const timespec times[2] = {{1000, 0}, {1000, 0}};
        REQUIRE(::utimensat(AT_FDCWD, path.c_str(), times, 0) == 0);
        CHECK(contains(errorOf(file, 0, block, block), "was written to since it was opened"));
    }
    // One that is renamed or deleted is still there for who has it open.
    const UncachedFile file(path);
    std::filesystem::remove(path);
    CHECK(errorOf(file, 0, block, block).empty());
}

TEST_CASE("what the system says of a read is passed on") {
    const TemporaryFolder folder;
    const UncachedFile file(folder.write("file", textOf(block)));
    CHECK_THROWS_WITH_AS(file.check(8192, -EIO, 1),
                         doctest::Contains("cannot be read from offset 8192: Input/output error"), FileError);
    CHECK_NOTHROW(file.check(0, 4096, 4096));
}

TEST_CASE("only regular files are read in pieces") {
    const TemporaryFolder folder;
    CHECK_THROWS_WITH_AS(UncachedFile{folder.path()}, doctest::Contains("is not a regular file"), FileError);
    CHECK_THROWS_WITH_AS(UncachedFile{folder.path() / "none"}, doctest::Contains("No such file"), FileError);
    const auto pipe = folder.path() / "pipe";
    REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
    CHECK_THROWS_WITH_AS(UncachedFile{pipe}, doctest::Contains("is not a regular file"), FileError);
    CHECK_NOTHROW(UncachedFile{folder.write("empty", "")});
}
