#include "interrupt.h"

#include <signal.h>
#include <termios.h>
#include <unistd.h>

#include <atomic>

#include "commands.h"

namespace axial::cli {
namespace {

enum class Reply : int { none, running, stopping };
std::atomic<Reply> reply = Reply::none;
static_assert(std::atomic<Reply>::is_always_lock_free);  // a signal handler may use no other
termios found;
bool terminalFound = false;

void onInterrupt(int) {
    Reply running = Reply::running;
    if (reply.compare_exchange_strong(running, Reply::stopping)) return;
    // Line editing and colours may be on.
    if (terminalFound) {
        tcsetattr(STDIN_FILENO, TCSANOW, &found);
        if (isatty(STDERR_FILENO) && ::write(STDERR_FILENO, "\033[0m\n", 5) < 0) _exit(failed);
    }
    _exit(interrupted);
}

}  // namespace

void handleSignals() {
    terminalFound = tcgetattr(STDIN_FILENO, &found) == 0;
    struct sigaction action = {};
    action.sa_handler = onInterrupt;
    sigemptyset(&action.sa_mask);
    action.sa_flags = SA_RESTART;
    sigaction(SIGINT, &action, nullptr);
    action.sa_handler = SIG_IGN;
    sigaction(SIGPIPE, &action, nullptr);
}

Interruptible::Interruptible() { reply = Reply::running; }
Interruptible::~Interruptible() { reply = Reply::none; }
bool Interruptible::requested() { return reply == Reply::stopping; }

}  // namespace axial::cli
