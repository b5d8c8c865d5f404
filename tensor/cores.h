// How many CPUs the system lets this process use: its affinity mask, the machine's topology, its cgroups' quotas.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace axial {

// Both at least 1, and no more than the quota.
struct CpuCount {
    std::size_t cores;    // physical: two hardware threads of one core count once
    std::size_t threads;  // logical
};

// For this process, now.
CpuCount usableCpus();
// The same as the files below `root` tell it (proc/self/cgroup, proc/self/mountinfo, sys/...), for a process whose
// affinity mask has these CPUs. What cannot be read or makes no sense sets no limit.
CpuCount usableCpus(const std::string& root, const std::vector<int>& affinity);

namespace detail {
// Whole CPUs' worth of time, rounded down, at least 1; nothing if there is no limit. cgroup v2 writes "max 100000" or
// "250000 100000" (quota and period in microseconds) in cpu.max; v1 has two files, and -1 is no limit.
std::optional<std::size_t> quotaV2(std::string_view cpuMax);
std::optional<std::size_t> quotaV1(std::string_view quota, std::string_view period);
// The number of different lists, one for each CPU ("0,4", "0-1": the CPUs that share its core). If one is missing
// (empty), each CPU counts.
std::size_t physicalCores(const std::vector<std::string>& siblingsOfEach);
}  // namespace detail

}  // namespace axial
