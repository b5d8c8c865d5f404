#include "graphviz.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "axial/tensor/error.h"
#include "flags.h"

extern char** environ;

namespace axial::cli {
namespace {

[[noreturn]] void failMissing() {
    throw UnsupportedError(
        "graph: an SVG is drawn by Graphviz's program dot, which is not here; install it (Debian: apt install "
        "graphviz), or take the drawing as it goes into dot with -o dot");
}
[[noreturn]] void fail(const std::string& what) { throw FileError("graph: running dot: " + what); }

// A file without a name, for what goes into dot and what comes out: neither can be too much for it.
using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;
File temporary() {
    File file(std::tmpfile(), std::fclose);
    if (!file) fail("there is no room for a temporary file: " + std::string(std::strerror(errno)));
    return file;
}

std::string contentOf(std::FILE* file) {
    std::rewind(file);
    std::string text;
    char part[65536];
    while (const std::size_t count = std::fread(part, 1, sizeof part, file)) text.append(part, count);
    return text;
}

class Actions {
  public:
    Actions() { posix_spawn_file_actions_init(&actions_); }
    ~Actions() { posix_spawn_file_actions_destroy(&actions_); }
    Actions(const Actions&) = delete;
    Actions& operator=(const Actions&) = delete;
    void connect(std::FILE* file, int number) { posix_spawn_file_actions_adddup2(&actions_, fileno(file), number); }
    const posix_spawn_file_actions_t* get() const { return &actions_; }

  private:
    posix_spawn_file_actions_t actions_;
};

}  // namespace

void requireGraphviz() {
    const char* path = std::getenv("PATH");
    for (const std::string& folder : splitList(path ? path : "/usr/bin:/bin", ':'))
        if (::access((folder + "/dot").c_str(), X_OK) == 0) return;
    failMissing();
}

std::string svgOf(const std::string& drawing) {
    const File in = temporary(), out = temporary(), errors = temporary();
    if (std::fwrite(drawing.data(), 1, drawing.size(), in.get()) != drawing.size() || std::fflush(in.get()) != 0)
        fail("writing the drawing: " + std::string(std::strerror(errno)));
    std::rewind(in.get());
    Actions actions;
    actions.connect(in.get(), STDIN_FILENO);
    actions.connect(out.get(), STDOUT_FILENO);
    actions.connect(errors.get(), STDERR_FILENO);
    char name[] = "dot", format[] = "-Tsvg";
    char* const arguments[] = {name, format, nullptr};
    pid_t child = 0;
    const int failed = posix_spawnp(&child, "dot", actions.get(), nullptr, arguments, environ);
    if (failed == ENOENT) failMissing();
    if (failed != 0) fail(std::strerror(failed));
    int status = 0;
    while (::waitpid(child, &status, 0) < 0)
        if (errno != EINTR) fail(std::strerror(errno));
    std::string svg = contentOf(out.get());
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 || svg.empty()) {
        const std::string said = contentOf(errors.get());
        fail(said.empty() ? "it gave nothing" : "it said: " + said.substr(0, said.find('\n')));
    }
    return svg;
}

}  // namespace axial::cli
