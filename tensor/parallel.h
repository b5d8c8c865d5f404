// The thread team: persistent workers that run the parts of one op side by side.
#pragma once
#include <cstddef>
#include <memory>
#include <type_traits>

namespace axial {

// The threads a team has if nobody says: the physical cores of the process's affinity mask, no more than its cgroups'
// CPU quota rounded down, at least 1 (cores.h).
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
    friend class ThreadTeam;
    void* object_;
    void (*call_)(void*, std::size_t);
};

class ThreadTeam {
  public:
    static constexpr std::size_t maxThreads = 256;
    // `threads` counts the caller too; 0: usableCores(). ValueError above maxThreads. If the system refuses to start
    // some of them, the team goes without those.
    explicit ThreadTeam(std::size_t threads = 0);
    ~ThreadTeam();
    ThreadTeam(const ThreadTeam&) = delete;
    ThreadTeam& operator=(const ThreadTeam&) = delete;

    std::size_t size() const noexcept;
    // Calls task(0) ... task(tasks - 1), each once, on the team's threads and the caller's, and returns when all are
    // done. Tasks are handed out in order, one at a time, to whoever is free. A task must not throw (that terminates
    // the program). A call from inside a task of any team, or while another thread is in run(), does all its tasks on
    // the calling thread.
    //
    // Waiting threads look for work for about 80 microseconds and then sleep. If the team has more threads than the
    // process may use CPUs they sleep at once, as looking would take time from those that work.
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

// Calls f(begin, end) over [0, count) in parts of `grain` (the last may be shorter; a grain of 0 is one part) on the
// current team. How the work is cut does not depend on the number of threads.
template <class F>
void parallelFor(std::size_t count, std::size_t grain, F&& f) {
    if (count == 0) return;
    if (grain == 0 || grain >= count) {
        f(std::size_t{0}, count);
        return;
    }
    const std::size_t parts = (count - 1) / grain + 1;
    auto part = [&](std::size_t i) { f(i * grain, i + 1 == parts ? count : (i + 1) * grain); };
    currentTeam().run(parts, part);
}

}  // namespace axial
