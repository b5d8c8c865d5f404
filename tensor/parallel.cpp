#include "axial/tensor/parallel.h"

#include <thread>

namespace axial {

// First version: everything on the calling thread.
class ThreadTeam::State {};
ThreadTeam::ThreadTeam(std::size_t) {}
ThreadTeam::~ThreadTeam() = default;
std::size_t ThreadTeam::size() const noexcept { return 1; }
void ThreadTeam::run(std::size_t tasks, TaskRef task) noexcept {
    for (std::size_t i = 0; i < tasks; ++i) task(i);
}
std::size_t usableCores() { return std::thread::hardware_concurrency(); }
ThreadTeam& currentTeam() {
    static ThreadTeam process;
    return detail::team ? *detail::team : process;
}

}  // namespace axial
