// The thread team: persistent workers that run the parts of one op side by side.
#pragma once
#include <cstddef>
#include <memory>
#include <type_traits>

namespace axial {

// The cores this process may use: those of its affinity mask, no more than its cgroup's CPU quota rounded down, at
// least 1.
std::size_t usableCores();

// A borrowed callable, as cheap as a pointer; it must outlive the call it is passed to.
class TaskRef {
  public:
    template <class F>
    TaskRef(F& f)
        : object_(const_cast<void*>(static_cast<const void*>(&f))),
          call_([](void* o, std::size_t i) { (*static_cast<F*>(o))(i); }) {}
    void operator()(std::size_t i) const { call_(object_, i); }

  private:
    void* object_;
    void (*call_)(void*, std::size_t);
};

class ThreadTeam {
  public:
    // `threads` counts the caller too; 0: usableCores(). At most 256.
    explicit ThreadTeam(std::size_t threads = 0);
    ~ThreadTeam();
    ThreadTeam(const ThreadTeam&) = delete;
    ThreadTeam& operator=(const ThreadTeam&) = delete;

    std::size_t size() const noexcept;
    // Calls task(0) ... task(tasks - 1), each once, on the team's threads and the caller's, and returns when all are
    // done. Tasks are handed out in order, one at a time. Tasks must not throw. A call from inside a task, or while
    // another thread is in run(), does all its tasks on the calling thread.
    void run(std::size_t tasks, TaskRef task) noexcept;

  private:
    class State;
    std::unique_ptr<State> state_;
};

namespace detail {
inline constinit thread_local ThreadTeam* team = nullptr;
}

// The team that ops called on this thread use: the innermost UseTeam's, else one of the whole process with
// usableCores() threads, made at the first use.
ThreadTeam& currentTeam();

// Ops called on this thread use this team as long as it lives.
class UseTeam {
  public:
    explicit UseTeam(ThreadTeam& team) : before_(detail::team) { detail::team = &team; }
    ~UseTeam() { detail::team = before_; }
    UseTeam(const UseTeam&) = delete;
    UseTeam& operator=(const UseTeam&) = delete;

  private:
    ThreadTeam* before_;
};

// Calls f(begin, end) over [0, count) in parts of `grain` (the last may be shorter) on the current team. How the work
// is cut does not depend on the number of threads.
template <class F>
void parallelFor(std::size_t count, std::size_t grain, F&& f) {
    if (count == 0) return;
    const std::size_t parts = (count + grain - 1) / grain;
    if (parts == 1) return f(std::size_t{0}, count);
    auto part = [&](std::size_t i) { f(i * grain, i + 1 == parts ? count : (i + 1) * grain); };
    currentTeam().run(parts, part);
}

}  // namespace axial
