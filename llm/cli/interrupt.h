// Ctrl-C: the first stops a reply, one when there is no reply to stop ends the command with code 130.
#pragma once

namespace axial::cli {

// From now on, SIGINT ends the command with exit code 130, leaving the terminal as it was found, and a write into a
// closed pipe is an error instead of a signal.
void handleSignals();

// While one lives, the first Ctrl-C only sets it; a second one ends the command.
class Interruptible {
  public:
    Interruptible();
    ~Interruptible();
    Interruptible(const Interruptible&) = delete;
    Interruptible& operator=(const Interruptible&) = delete;

    // Whether Ctrl-C was pressed.
    static bool requested();
};

}  // namespace axial::cli
