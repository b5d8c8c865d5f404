#include "terminal.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "axial/tensor/error.h"

namespace axial::cli {
namespace {

bool colours() {
    const char* term = std::getenv("TERM");
    const char* no = std::getenv("NO_COLOR");
    return !(no && *no) && !(term && std::string_view(term) == "dumb");
}

}  // namespace

bool stdinIsTerminal() { return isatty(STDIN_FILENO) != 0; }
bool stdoutIsTerminal() { return isatty(STDOUT_FILENO) != 0; }
bool stderrIsTerminal() { return isatty(STDERR_FILENO) != 0; }

void print(std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
        if (written >= 0) {
            text.remove_prefix(static_cast<std::size_t>(written));
        } else if (errno == EPIPE) {
            throw ClosedPipe();
        } else if (errno != EINTR) {
            throw FileError(std::string("stdout: cannot be written: ") + std::strerror(errno));
        }
    }
}

void note(std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
        if (written < 0 && errno != EINTR) return;
        if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
    }
}

std::string faintOn(bool terminal) { return terminal && colours() ? "\033[2m" : ""; }
std::string faintOff(bool terminal) { return terminal && colours() ? "\033[22m" : ""; }
std::string faint(std::string_view text, bool terminal) {
    return faintOn(terminal) + std::string(text) + faintOff(terminal);
}

ProgressBar::ProgressBar(std::string label, bool wanted)
    : label_(std::move(label)), shown_(wanted && stderrIsTerminal()) {}

void ProgressBar::show(double fraction) {
    constexpr int width = 30;
    const int percent = static_cast<int>(fraction * 100);
    if (!shown_ || percent == last_) return;
    if (std::chrono::steady_clock::now() - started_ < std::chrono::milliseconds(300)) return;
    last_ = percent;
    drawn_ = true;
    const auto full = static_cast<std::size_t>(fraction * width);
    std::string bar(full, '=');
    bar.resize(width, ' ');
    note("\r" + label_ + " [" + bar + "] " + std::to_string(percent) + " %");
}

ProgressBar::~ProgressBar() {
    if (drawn_) note("\r" + std::string(label_.size() + 42, ' ') + "\r");
}

}  // namespace axial::cli
