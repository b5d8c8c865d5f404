// What is shown where: stdout for what was asked for, stderr for everything else, colours only on a terminal.
#pragma once
#include <chrono>
#include <string>
#include <string_view>

namespace axial::cli {

// Nobody reads stdout any more (head has seen enough): the command ends quietly.
class ClosedPipe {};

bool stdinIsTerminal();
bool stdoutIsTerminal();
bool stderrIsTerminal();

// Writes to stdout at once. Throws ClosedPipe, or FileError with the system's reason (a full disk).
void print(std::string_view text);
// Writes to stderr; that it cannot is ignored.
void note(std::string_view text);

// The text in a faint colour if `terminal` is true and the user has not said no (NO_COLOR, TERM=dumb).
std::string faint(std::string_view text, bool terminal);
// The switches themselves, for text that comes in pieces; empty where there is no colour.
std::string faintOn(bool terminal);
std::string faintOff(bool terminal);

// A bar on stderr, if that is a terminal: drawn in place once the work has taken a moment, and wiped when it is done.
class ProgressBar {
  public:
    explicit ProgressBar(std::string label, bool wanted);
    ~ProgressBar();
    ProgressBar(const ProgressBar&) = delete;
    ProgressBar& operator=(const ProgressBar&) = delete;
    // Of the work, 0 to 1.
    void show(double fraction);

  private:
    std::string label_;
    bool shown_, drawn_ = false;
    int last_ = -1;
    std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
};

}  // namespace axial::cli
