#include "axial/tensor/mapped_file.h"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <string>
#include <utility>

#include "axial/tensor/error.h"

namespace {

using axial::MappedFile;

// A new folder of this process, deleted at the end.
class Folder {
  public:
    Folder() { std::filesystem::create_directories(path_); }
    ~Folder() { std::filesystem::remove_all(path_); }
    std::filesystem::path write(const std::string& name, const std::string& text) const {
        std::ofstream(path_ / name, std::ios::binary) << text;
        return path_ / name;
    }
    const std::filesystem::path& path() const { return path_; }

  private:
    std::filesystem::path path_ =
        std::filesystem::temp_directory_path() / ("axial_mapped_file_test_" + std::to_string(::getpid()));
};

std::string textOf(const MappedFile& file) {
    return std::string(reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size());
}

std::string errorOf(const std::filesystem::path& path) {
    try {
        MappedFile file(path);
    } catch (const axial::FileError& error) {
        return error.what();
    }
    return "";
}

}  // namespace

TEST_CASE("MappedFile: the bytes of a file, also after it was deleted") {
    const Folder folder;
    const std::string text(10000, 'x');
    const auto path = folder.write("some bytes", text + "end");
    const MappedFile file(path);
    std::filesystem::remove(path);
    CHECK(textOf(file) == text + "end");
    file.advise(MappedFile::Access::willNeed, 0, file.bytes().size());
    file.advise(MappedFile::Access::sequential, 5000, 100000000);
    file.advise(MappedFile::Access::willNeed, 20000, 1);
    CHECK(textOf(file) == text + "end");
}

TEST_CASE("MappedFile: an empty file has no bytes") {
    const Folder folder;
    const MappedFile file(folder.write("empty", ""));
    CHECK(file.bytes().empty());
    file.advise(MappedFile::Access::willNeed, 0, 1);
}

TEST_CASE("MappedFile: moves, and keeps its bytes in place") {
    const Folder folder;
    MappedFile first(folder.write("first", "first"));
    const std::byte* const address = first.bytes().data();
    MappedFile second = std::move(first);
    CHECK(second.bytes().data() == address);
    MappedFile third(folder.write("third", "third"));
    third = std::move(second);
    CHECK(third.bytes().data() == address);
    CHECK(textOf(third) == "first");
}

TEST_CASE("MappedFile: what cannot be mapped is refused with its path and the reason") {
    const Folder folder;
    const auto missing = folder.path() / "missing.gguf";
    CHECK(errorOf(missing) == "cannot read " + missing.string() + ": No such file or directory");
    CHECK(errorOf(folder.path()) == "cannot read " + folder.path().string() + ": it is a directory; name a file in it");
    CHECK(errorOf(folder.write("file", "x") / "inside").find("Not a directory") != std::string::npos);
    const auto pipe = folder.path() / "pipe";
    REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
    CHECK(errorOf(pipe).find("not a regular file") != std::string::npos);
    CHECK(errorOf("/dev/null").find("not a regular file") != std::string::npos);
    if (::geteuid() != 0) {  // the superuser may read everything
        const auto secret = folder.write("secret", "x");
        std::filesystem::permissions(secret, std::filesystem::perms::none);
        CHECK(errorOf(secret) == "cannot read " + secret.string() + ": Permission denied");
    }
}
