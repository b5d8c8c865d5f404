// A file that is written whole or not at all, whatever happens.
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <iterator>
#include <thread>

#include "axial/llm/atomic_file.h"
#include "axial/tensor/error.h"
#include "llm/temporary_folder.h"

using namespace axial;
using namespace axial::llm;
using axial::llm::test::TemporaryFolder;

namespace {

std::string textOf(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}
std::size_t filesIn(const std::filesystem::path& folder) {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder), {}));
}
void put(const std::filesystem::path& path, std::string_view text) {
    AtomicFile file(path);
    file.write(text);
    file.commit();
}

// No file may become longer, as on a disk that is full: write() then fails with EFBIG.
class FileSizeLimit {
  public:
    explicit FileSizeLimit(rlim_t bytes) : before_(std::signal(SIGXFSZ, SIG_IGN)) {
        ::getrlimit(RLIMIT_FSIZE, &limit_);
        const rlimit less{bytes, limit_.rlim_max};
        ::setrlimit(RLIMIT_FSIZE, &less);
    }
    ~FileSizeLimit() {
        ::setrlimit(RLIMIT_FSIZE, &limit_);
        std::signal(SIGXFSZ, before_);
    }

  private:
    rlimit limit_{};
    void (*before_)(int);
};

}  // namespace

TEST_CASE("an atomic file is there when it is complete, and not before") {
    const TemporaryFolder folder;
    const auto path = folder.write("file", "old");
    {
        AtomicFile file(path);
        file.write(std::string_view("new, "));
        CHECK(textOf(path) == "old");
        CHECK(filesIn(folder.path()) == 2);
    }
    CHECK(textOf(path) == "old");
    CHECK(filesIn(folder.path()) == 1);
    put(path, "new, and all of it");
    CHECK(textOf(path) == "new, and all of it");
    put(folder.path() / "another", "");
    CHECK(filesIn(folder.path()) == 2);
}

TEST_CASE("a disk that is full leaves the old file, and nothing beside it") {
    const TemporaryFolder folder;
    const auto path = folder.write("file", "old");
    const std::string text(10000, 'x');
    for (const rlim_t room : {0, 1, 4096, 9999}) {
        CAPTURE(room);
        std::string refusal;
        {
            const FileSizeLimit limit(room);
            try {
                put(path, text);
            } catch (const FileError& error) {
                refusal = error.what();
            }
        }
        CHECK(refusal == path.string() + ": cannot be written: File too large");
        CHECK(textOf(path) == "old");
        CHECK(filesIn(folder.path()) == 1);
    }
    const FileSizeLimit limit(text.size());
    CHECK_NOTHROW(put(path, text));
}

TEST_CASE("what cannot be replaced is refused") {
    const TemporaryFolder folder;
    CHECK_THROWS_WITH_AS(put(folder.path(), "x"), doctest::Contains("is no regular file"), FileError);
    CHECK_THROWS_WITH_AS(put(folder.path() / "absent" / "file", "x"), doctest::Contains("No such file"), FileError);
    CHECK_THROWS_WITH_AS(put(folder.write("file", "") / "file", "x"), doctest::Contains("Not a directory"), FileError);
    CHECK_THROWS_WITH_AS(put("/dev/null", "x"), doctest::Contains("is no regular file"), FileError);
    CHECK(std::filesystem::is_character_file("/dev/null"));
    std::filesystem::create_symlink(folder.path() / "nowhere", folder.path() / "link");
    CHECK_THROWS_WITH_AS(put(folder.path() / "link", "x"), doctest::Contains("where it points is nothing"), FileError);
    if (::geteuid() == 0) return;  // whom no permissions stop
    ::chmod(folder.path().c_str(), 0500);
    CHECK_THROWS_WITH_AS(put(folder.path() / "file", "x"), doctest::Contains("Permission denied"), FileError);
    ::chmod(folder.path().c_str(), 0700);
    ::chmod((folder.path() / "file").c_str(), 0400);
    CHECK_THROWS_WITH_AS(put(folder.path() / "file", "x"), doctest::Contains("Permission denied"), FileError);
}

TEST_CASE("permissions and links outlive the replacement") {
    const TemporaryFolder folder;
    const auto path = folder.write("file", "old");
    ::chmod(path.c_str(), 0600);
    std::filesystem::create_symlink("file", folder.path() / "link");
    put(folder.path() / "link", "new");
    CHECK(std::filesystem::is_symlink(folder.path() / "link"));
    CHECK(textOf(path) == "new");
    CHECK(std::filesystem::status(path).permissions() == std::filesystem::perms(0600));
}

TEST_CASE("whoever is killed while writing leaves the old file or the new one") {
    const TemporaryFolder folder;
    const auto path = folder.write("file", "");
    const std::string a(300000, 'a'), b(200000, 'b');
    put(path, a);
    for (int round = 0; round < 20; ++round) {
        const pid_t child = ::fork();
        if (child == 0) {
            try {
                for (;;) {
                    put(path, b);
                    put(path, a);
                }
            } catch (...) {
                ::_exit(1);
            }
        }
        REQUIRE(child > 0);
        std::this_thread::sleep_for(std::chrono::microseconds(1000 + 700 * round));
        ::kill(child, SIGKILL);
        ::waitpid(child, nullptr, 0);
        const std::string text = textOf(path);
        CHECK((text == a || text == b));
    }
}
