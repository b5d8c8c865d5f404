#include "axial/tensor/parallel.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "axial/tensor/cores.h"
#include "axial/tensor/error.h"

namespace axial {

namespace {

using Clock = std::chrono::steady_clock;
using Word = std::atomic<std::uint32_t>;

// Long enough to bridge the serial stretch between two ops, short enough to leave an idle machine alone.
constexpr std::chrono::microseconds lookFor{80};
constexpr int looksPerClock = 32;

void pause() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

// Whether done() came true while looking.
template <class Done>
bool look(bool mayLook, Done done) {
    if (!mayLook) return done();
    const auto end = Clock::now() + lookFor;
    do
        for (int i = 0; i < looksPerClock; ++i) {
            if (done()) return true;
            pause();
        }
    while (Clock::now() < end);
    return false;
}

// Sleeps unless the word has already changed; wakes by wake() or by itself. Not std::atomic::wait: that one looks
// around on its own account, and cannot wake a given number.
void sleepWhile(Word& word, std::uint32_t value) {
    syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), FUTEX_WAIT_PRIVATE, value, nullptr, nullptr, 0);
}
void wake(Word& word, std::size_t count) {
    syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), FUTEX_WAKE_PRIVATE, static_cast<int>(count), nullptr,
            nullptr, 0);
}
static_assert(sizeof(Word) == 4 && Word::is_always_lock_free);

// Workers leave signals to the threads that the program itself made, so that Ctrl-C interrupts the one that reads.
class SignalsBlocked {
  public:
    SignalsBlocked() {
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before_);
    }
    ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    SignalsBlocked(const SignalsBlocked&) = delete;
    SignalsBlocked& operator=(const SignalsBlocked&) = delete;

  private:
    sigset_t before_;
};

constinit thread_local bool insideTask = false;

}  // namespace

// One job at a time. A thread claims a task of job g by moving `claim_` from (g, n tasks left) to (g, n - 1); that
// succeeds only while job g is not finished, so a thread that comes late can neither take a task of a job it has not
// read nor keep the caller waiting.
class ThreadTeam::State {
  public:
    explicit State(std::size_t threads) : mayLook_(threads <= usableCpus().threads) {
        const SignalsBlocked blocked;
        workers_.reserve(threads - 1);
        try {
            while (workers_.size() + 1 < threads) workers_.emplace_back([this]() noexcept { work(); });
        } catch (const std::system_error&) {  // no more threads to be had: those that there are will do
        }
    }
    ~State() {
        stop_.store(true, std::memory_order_relaxed);
        job_.fetch_add(1);
        wake(job_, workers_.size());
        for (std::thread& worker : workers_) worker.join();
    }

    std::size_t size() const { return workers_.size() + 1; }
    // Whether the caller now has the team for itself.
    bool take() { return !taken_.exchange(true, std::memory_order_acquire); }
    void giveBack() { taken_.store(false, std::memory_order_release); }

    void run(std::uint32_t tasks, void* object, void (*call)(void*, std::size_t)) {
        finished_.store(0, std::memory_order_relaxed);
        object_.store(object, std::memory_order_relaxed);
        call_.store(call, std::memory_order_relaxed);
        tasks_.store(tasks, std::memory_order_relaxed);
        const std::uint32_t job = job_.load(std::memory_order_relaxed) + 1;
        claim_.store(std::uint64_t{job} << 32 | tasks, std::memory_order_release);
        job_.store(job);  // sequentially consistent with sleepers_: either we see the sleeper, or it sees the job
        if (const std::size_t sleepers = sleepers_.load()) wake(job_, std::min<std::size_t>(sleepers, tasks - 1));

        insideTask = true;
        const std::uint32_t others = tasks - takePart();
        insideTask = false;
        const auto allDone = [&] { return finished_.load(std::memory_order_acquire) == others; };
        if (look(mayLook_, allDone)) return;
        callerSleeps_.store(true);
        for (;;) {
            const std::uint32_t finished = finished_.load();
            if (finished == others) break;
            sleepWhile(finished_, finished);
        }
        callerSleeps_.store(false, std::memory_order_relaxed);
    }

  private:
    void work() {
        insideTask = true;
        for (std::uint32_t seen = 0;;) {
            if (!look(mayLook_, [&] { return job_.load(std::memory_order_acquire) != seen; })) {
                sleepers_.fetch_add(1);
                sleepWhile(job_, seen);
                sleepers_.fetch_sub(1);
            }
            seen = job_.load(std::memory_order_acquire);
            if (stop_.load(std::memory_order_relaxed)) return;
            if (const std::uint32_t done = takePart()) {
                finished_.fetch_add(done);
                if (callerSleeps_.load()) wake(finished_, 1);
            }
        }
    }

    // Runs tasks of the current job until none is left; returns how many.
    std::uint32_t takePart() {
        std::uint32_t done = 0;
        std::uint64_t claim = claim_.load(std::memory_order_acquire);
        while (const auto left = static_cast<std::uint32_t>(claim)) {
            // If the claim succeeds these were the current job's: it cannot have finished in between.
            void* const object = object_.load(std::memory_order_relaxed);
            const auto call = call_.load(std::memory_order_relaxed);
            const std::uint32_t tasks = tasks_.load(std::memory_order_relaxed);
            if (claim_.compare_exchange_weak(claim, claim - 1, std::memory_order_acq_rel, std::memory_order_acquire)) {
                call(object, tasks - left);
                ++done;
                claim = claim_.load(std::memory_order_acquire);
            }
        }
        return done;
    }

    // What the caller writes, what all claim, and what the workers report: a cache line each.
    alignas(64) Word job_{0};
    Word sleepers_{0};
    std::atomic<bool> stop_{false};
    std::atomic<void*> object_{nullptr};
    std::atomic<void (*)(void*, std::size_t)> call_{nullptr};
    std::atomic<std::uint32_t> tasks_{0};
    alignas(64) std::atomic<std::uint64_t> claim_{0};
    alignas(64) Word finished_{0};
    std::atomic<bool> callerSleeps_{false};
    alignas(64) std::atomic<bool> taken_{false};
    const bool mayLook_;
    std::vector<std::thread> workers_;
};

ThreadTeam::ThreadTeam(std::size_t threads) {
    if (threads == 0) threads = std::min(usableCores(), maxThreads);
    if (threads > maxThreads)
        throw ValueError("ThreadTeam: " + std::to_string(threads) + " threads were asked for, but at most " +
                         std::to_string(maxThreads) + " can be had; 0 chooses by itself");
    state_ = std::make_unique<State>(threads);
}
ThreadTeam::~ThreadTeam() = default;

std::size_t ThreadTeam::size() const noexcept { return state_->size(); }

void ThreadTeam::run(std::size_t tasks, TaskRef task) noexcept {
    constexpr std::size_t most = UINT32_MAX;  // what a claim can count
    if (tasks < 2 || tasks > most || size() == 1 || insideTask || !state_->take()) {
        for (std::size_t i = 0; i < tasks; ++i) task(i);
        return;
    }
    state_->run(static_cast<std::uint32_t>(tasks), task.object_, task.call_);
    state_->giveBack();
}

std::size_t usableCores() { return usableCpus().cores; }

ThreadTeam& currentTeam() {
    if (detail::team) return *detail::team;
    static ThreadTeam process;
    return process;
}

}  // namespace axial
