// Rows PERF-01 and PERF-02 of the public reports in oracle/reports.jsonl, and the files that a system really has.
#include <filesystem>
#include <fstream>
#include <numeric>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "axial/tensor/cores.h"

using namespace axial;
using nlohmann::json;

namespace {

// A folder that looks like the root of a system, removed at the end.
class Root {
  public:
    Root() {
        std::string name = (std::filesystem::temp_directory_path() / "axial-cores-XXXXXX").string();
        REQUIRE(mkdtemp(name.data()));
        path = name;
    }
    ~Root() { std::filesystem::remove_all(path); }
    Root(const Root&) = delete;
    Root& operator=(const Root&) = delete;

    void write(const std::string& file, const std::string& text) const {
        std::filesystem::create_directories(std::filesystem::path(path + "/" + file).parent_path());
        std::ofstream(path + "/" + file) << text;
    }
    void siblings(int cpu, const std::string& list) const {
        write("sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/thread_siblings_list", list + "\n");
    }
    CpuCount count(std::size_t affinity) const {
        std::vector<int> cpus(affinity);
        std::iota(cpus.begin(), cpus.end(), 0);
        return usableCpus(path, cpus);
    }
    std::string path;
};

const std::string v2Mount = "25 18 0:22 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";
const std::string v1Mount = "30 25 0:26 / /sys/fs/cgroup/cpu,cpuacct rw shared:9 - cgroup cgroup rw,cpu,cpuacct\n";

// The row of the public reports, or null where they are not at hand.
json report(const std::string& id) {
    std::ifstream file(AXIAL_ORACLE "/reports.jsonl");
    for (std::string line; std::getline(file, line);)
        if (const json row = json::parse(line); row["id"] == id) return row;
    MESSAGE("oracle/reports.jsonl has no " << id << ", or is not there: not checked");
    return {};
}

}  // namespace

TEST_CASE("the number of threads where CPU time is limited (PERF-01)") {
    const json row = report("PERF-01");
    if (row.is_null()) return;
    const json& cases = row["input"]["cases"];
    REQUIRE(cases.size() == row["expected"]["threads"].size());
    for (std::size_t i = 0; i < cases.size(); ++i) {
        const json& c = cases[i];
        CAPTURE(c.dump());
        const Root root;
        const auto affinity = c["affinity"].get<std::size_t>(), physical = c["physical"].get<std::size_t>();
        for (std::size_t cpu = 0; cpu < affinity; ++cpu) root.siblings(int(cpu), std::to_string(cpu % physical));
        if (c.contains("v1_quota")) {
            root.write("proc/self/mountinfo", v1Mount);
            root.write("proc/self/cgroup", "4:cpu,cpuacct:/a/b\n");
            root.write("sys/fs/cgroup/cpu,cpuacct/a/b/cpu.cfs_quota_us", c["v1_quota"].dump() + "\n");
            root.write("sys/fs/cgroup/cpu,cpuacct/a/b/cpu.cfs_period_us", c["v1_period"].dump() + "\n");
        } else {
            root.write("proc/self/mountinfo", v2Mount);
            root.write("proc/self/cgroup", "0::/parent/own\n");
            if (c["cpu_max"].is_string())
                root.write("sys/fs/cgroup/parent/own/cpu.max", c["cpu_max"].get<std::string>() + "\n");
            if (c.contains("parent_cpu_max"))
                root.write("sys/fs/cgroup/parent/cpu.max", c["parent_cpu_max"].get<std::string>() + "\n");
        }
        CHECK(root.count(affinity).cores == row["expected"]["threads"][i].get<std::size_t>());
    }
}

TEST_CASE("physical cores are counted by who shares one (PERF-02)") {
    const json row = report("PERF-02");
    if (row.is_null()) return;
    const std::size_t expected[] = {4, 2};
    for (std::size_t i = 0; i < 2; ++i) {
        const auto files = row["input"]["siblings"][i]["files"].get<std::vector<std::string>>();
        CHECK(row["expected"]["physical"][i] == expected[i]);
        CHECK(detail::physicalCores(files) == expected[i]);
        const Root root;
        for (std::size_t cpu = 0; cpu < files.size(); ++cpu) root.siblings(int(cpu), files[cpu]);
        CHECK(root.count(files.size()).cores == expected[i]);
        CHECK(root.count(files.size()).threads == files.size());
    }
    CHECK(Root().count(6).cores == 6);  // no files: each logical CPU counts
}

TEST_CASE("what cgroup files say") {
    CHECK(detail::quotaV2("max 100000\n") == std::nullopt);
    CHECK(detail::quotaV2("250000 100000\n") == 2u);
    CHECK(detail::quotaV2("50000 100000") == 1u);
    CHECK(detail::quotaV2("300000") == std::nullopt);
    CHECK(detail::quotaV2("300000 0") == std::nullopt);
    CHECK(detail::quotaV2("99999999999999999999 100000") == std::nullopt);
    CHECK(detail::quotaV2("") == std::nullopt);
    CHECK(detail::quotaV1("-1\n", "100000\n") == std::nullopt);
    CHECK(detail::quotaV1("150000\n", "50000\n") == 3u);
    CHECK(detail::quotaV1("", "") == std::nullopt);
}

TEST_CASE("both hierarchies at once, and a container that sees the host's path") {
    const Root hybrid;
    hybrid.write("proc/self/mountinfo", "24 1 0:20 / /proc rw - proc proc rw\n" + v1Mount +
                                            "38 31 0:41 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
    hybrid.write("proc/self/cgroup", "5:cpu,cpuacct:/job\n0::/\n");
    hybrid.write("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "300000");
    hybrid.write("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us", "100000");
    CHECK(hybrid.count(8).cores == 3);
    hybrid.write("sys/fs/cgroup/unified/cpu.max", "200000 100000");
    CHECK(hybrid.count(8).cores == 2);
    CHECK(hybrid.count(8).threads == 2);

    const Root container;
    container.write("proc/self/mountinfo",
                    "30 25 0:26 /docker/abc /sys/fs/cgroup/cpu rw shared:9 - cgroup cgroup rw,cpu\n");
    container.write("proc/self/cgroup", "4:cpu:/docker/abc/inner\n");
    container.write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "400000");
    container.write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000");
    CHECK(container.count(8).cores == 4);
    container.write("sys/fs/cgroup/cpu/inner/cpu.cfs_quota_us", "100000");
    container.write("sys/fs/cgroup/cpu/inner/cpu.cfs_period_us", "100000");
    CHECK(container.count(8).cores == 1);
    container.write("proc/self/cgroup", "4:cpu:/somewhere/else\n");
    CHECK(container.count(8).cores == 4);
}

TEST_CASE("nonsense in the system's files sets no limit") {
    const Root root;
    root.write("proc/self/mountinfo", "\n- - -\n1 2 3\n30 25 0:26 / /x rw - cgroup\n\n");
    root.write("proc/self/cgroup", ":\n::::\nx:cpu\n0:\n");
    CHECK(root.count(5).cores == 5);
    CHECK(root.count(0).cores == 1);
    const CpuCount here = usableCpus();
    CHECK(here.cores >= 1);
    CHECK(here.cores <= here.threads);
}
