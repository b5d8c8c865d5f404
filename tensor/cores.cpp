#include "axial/tensor/cores.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <sstream>
#include <thread>

#include <sched.h>

namespace axial {

namespace {

using Quota = std::optional<std::size_t>;

std::string_view trimmed(std::string_view text) {
    const auto first = text.find_first_not_of(" \t\n");
    if (first == text.npos) return {};
    return text.substr(first, text.find_last_not_of(" \t\n") + 1 - first);
}

std::optional<long long> number(std::string_view text) {
    text = trimmed(text);
    long long value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) return {};
    return value;
}

Quota wholeCpus(std::optional<long long> quota, std::optional<long long> period) {
    if (!quota || !period || *quota <= 0 || *period <= 0) return {};
    return static_cast<std::size_t>(std::max(1LL, *quota / *period));
}

Quota smaller(Quota a, Quota b) { return a && b ? std::min(a, b) : (a ? a : b); }

// The file's text; empty if it cannot be read.
std::string textOf(const std::string& path) {
    std::ifstream file(path);
    std::ostringstream text;
    text << file.rdbuf();
    return std::move(text).str();
}

std::vector<std::string> parts(std::string_view text, char separator) {
    std::vector<std::string> result;
    for (std::size_t from = 0; from <= text.size();) {
        const std::size_t to = std::min(text.find(separator, from), text.size());
        result.emplace_back(text.substr(from, to - from));
        from = to + 1;
    }
    return result;
}

// Where a cgroup hierarchy is mounted, and which of its directories stands there.
struct Mount {
    bool isV2;
    std::string root, point;
};

// The mounts that may limit CPU time. A line of proc/self/mountinfo is (proc(5)):
//   36 35 98:0 /root /point options optional-fields... - type source super-options
std::vector<Mount> cpuMounts(const std::string& mountinfo) {
    std::vector<Mount> mounts;
    for (const std::string& line : parts(mountinfo, '\n')) {
        const std::vector<std::string> field = parts(line, ' ');
        const auto dash = std::find(field.begin(), field.end(), "-");
        if (field.size() < 6 || field.end() - dash < 4) continue;
        const std::vector<std::string> options = parts(dash[3], ',');
        if (dash[1] == "cgroup2")
            mounts.push_back({true, field[3], field[4]});
        else if (dash[1] == "cgroup" && std::find(options.begin(), options.end(), "cpu") != options.end())
            mounts.push_back({false, field[3], field[4]});
    }
    return mounts;
}

// The process's directory in a hierarchy. A line of proc/self/cgroup is "id:controllers:path"; v2's has no controllers.
std::optional<std::string> groupIn(const Mount& mount, const std::string& cgroups) {
    for (const std::string& line : parts(cgroups, '\n')) {
        const std::size_t first = line.find(':'), second = line.find(':', first + 1);
        if (first == line.npos || second == line.npos) continue;
        const std::vector<std::string> controllers = parts(line.substr(first + 1, second - first - 1), ',');
        const bool here = mount.isV2 ? line.compare(0, 3, "0::") == 0
                                     : std::find(controllers.begin(), controllers.end(), "cpu") != controllers.end();
        if (here) return line.substr(second + 1);
    }
    return {};
}

Quota quotaAt(const std::string& directory, bool isV2) {
    return isV2 ? detail::quotaV2(textOf(directory + "/cpu.max"))
                : detail::quotaV1(textOf(directory + "/cpu.cfs_quota_us"), textOf(directory + "/cpu.cfs_period_us"));
}

// The smallest quota on the way from the process's own group up to the mount.
Quota quotaBelow(const std::string& root) {
    const std::string cgroups = textOf(root + "/proc/self/cgroup");
    Quota least;
    for (const Mount& mount : cpuMounts(textOf(root + "/proc/self/mountinfo"))) {
        std::string group = groupIn(mount, cgroups).value_or("");
        // In a container the path may be the host's; what is mounted is then the container's own group.
        if (mount.root != "/")
            group = group.compare(0, mount.root.size(), mount.root) ? "" : group.substr(mount.root.size());
        for (;; group.resize(group.rfind('/'))) {
            least = smaller(least, quotaAt(root + mount.point + group, mount.isV2));
            if (group.find('/') == group.npos) break;
        }
    }
    return least;
}

std::vector<int> affinityOfThisThread() {
    std::vector<int> cpus;
    // More CPUs than a cpu_set_t holds: the call fails until the set is large enough.
    for (int count = CPU_SETSIZE; count <= (1 << 20) && cpus.empty(); count *= 2) {
        cpu_set_t* set = CPU_ALLOC(count);
        if (!set) break;
        if (sched_getaffinity(0, CPU_ALLOC_SIZE(count), set) == 0)
            for (int i = 0; i < count; ++i)
                if (CPU_ISSET_S(static_cast<std::size_t>(i), CPU_ALLOC_SIZE(count), set)) cpus.push_back(i);
        CPU_FREE(set);
    }
    return cpus;
}

}  // namespace

namespace detail {

std::optional<std::size_t> quotaV2(std::string_view cpuMax) {
    cpuMax = trimmed(cpuMax);
    const std::size_t space = std::min(cpuMax.find(' '), cpuMax.size());
    return wholeCpus(number(cpuMax.substr(0, space)), number(cpuMax.substr(space)));
}

std::optional<std::size_t> quotaV1(std::string_view quota, std::string_view period) {
    return wholeCpus(number(quota), number(period));
}

std::size_t physicalCores(const std::vector<std::string>& siblingsOfEach) {
    std::vector<std::string> lists = siblingsOfEach;
    if (std::find(lists.begin(), lists.end(), "") != lists.end()) return lists.size();
    std::sort(lists.begin(), lists.end());
    return static_cast<std::size_t>(std::unique(lists.begin(), lists.end()) - lists.begin());
}

}  // namespace detail

CpuCount usableCpus(const std::string& root, const std::vector<int>& affinity) {
    std::vector<std::string> siblings;
    for (int cpu : affinity)
        siblings.emplace_back(trimmed(
            textOf(root + "/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/thread_siblings_list")));
    CpuCount count{detail::physicalCores(siblings), affinity.size()};
    if (const Quota quota = quotaBelow(root)) count = {std::min(count.cores, *quota), std::min(count.threads, *quota)};
    return {std::max<std::size_t>(count.cores, 1), std::max<std::size_t>(count.threads, 1)};
}

CpuCount usableCpus() {
    std::vector<int> affinity = affinityOfThisThread();
    if (affinity.empty())  // not told: all that there are
        for (unsigned i = 0; i < std::thread::hardware_concurrency(); ++i) affinity.push_back(static_cast<int>(i));
    return usableCpus("", affinity);
}

}  // namespace axial
