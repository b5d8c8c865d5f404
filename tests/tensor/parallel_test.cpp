#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <memory>
#include <numeric>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <sys/resource.h>

#include "axial/tensor/cores.h"
#include "axial/tensor/error.h"
#include "axial/tensor/parallel.h"

using namespace axial;

namespace {

double secondsNow() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}
double cpuSeconds() {
    rusage use{};
    getrusage(RUSAGE_SELF, &use);
    return double(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
           1e-6 * double(use.ru_utime.tv_usec + use.ru_stime.tv_usec);
}

// About 20 microseconds of arithmetic.
double work() {
    double sum = 0;
    for (int i = 1; i < 4000; ++i) sum += 1 / std::sqrt(double(i));
    return sum;
}

// Jobs of 16 tasks each, a second.
double jobsPerSecond(ThreadTeam& team) {
    std::vector<double> out(16);
    const int jobs = 100;
    const double start = secondsNow();
    auto task = [&](std::size_t i) { out[i] = work(); };
    for (int j = 0; j < jobs; ++j) team.run(out.size(), task);
    const double speed = jobs / (secondsNow() - start);
    CHECK(out[15] == doctest::Approx(work()));
    return speed;
}

// The best speeds that two ways reach, measured in turns, since the machine may have other things to do: at least three
// turns, and up to twenty until the second is a quarter of the first.
template <class First, class Second>
std::pair<double, double> bestOf(First first, Second second) {
    std::pair<double, double> best;
    for (int turn = 0; turn < 3 || (turn < 20 && best.second < best.first / 4); ++turn) {
        best.first = std::max(best.first, first());
        best.second = std::max(best.second, second());
    }
    return best;
}

}  // namespace

TEST_CASE("each task runs once, whatever the number of tasks and threads") {
    for (std::size_t threads : {1, 2, 3, 8}) {
        ThreadTeam team(threads);
        CHECK(team.size() == threads);
        for (std::size_t tasks : {0, 1, 2, 3, 7, 64, 1000}) {
            for (int again = 0; again < 20; ++again) {
                std::vector<int> runs(tasks);  // not atomic: the end of run() must make them visible
                auto task = [&](std::size_t i) { ++runs[i]; };
                team.run(tasks, task);
                REQUIRE(std::count(runs.begin(), runs.end(), 1) == std::ptrdiff_t(tasks));
            }
        }
    }
}

TEST_CASE("many small jobs in a row, each of which reads what the one before wrote") {
    ThreadTeam team(3);
    std::vector<long> a(24), b(24);
    std::iota(a.begin(), a.end(), 0L);
    const long first = std::accumulate(a.begin(), a.end(), 0L);
    const int jobs = 20000;
    for (int job = 0; job < jobs; ++job) {
        const std::size_t n = 2 + std::size_t(job) % 23;
        auto task = [&](std::size_t i) { b[i] = a[(i + 1) % n] + 1; };
        team.run(n, task);
        std::copy(b.begin(), b.begin() + std::ptrdiff_t(n), a.begin());
    }
    long added = 0;
    for (int job = 0; job < jobs; ++job) added += 2 + job % 23;
    CHECK(std::accumulate(a.begin(), a.end(), 0L) == first + added);
}

TEST_CASE("jobs with pauses in which the workers go to sleep") {
    ThreadTeam team(4);
    std::atomic<int> count = 0;
    auto task = [&](std::size_t) { ++count; };
    for (int job = 0; job < 60; ++job) {
        team.run(6, task);
        std::this_thread::sleep_for(std::chrono::microseconds(job * 10));
    }
    CHECK(count == 360);
}

TEST_CASE("a sleeping team uses no time, and can be destroyed") {
    for (int i = 0; i < 20; ++i) {
        ThreadTeam never(4);
        if (i % 2) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    ThreadTeam team(2);
    std::atomic<int> count = 0;
    auto task = [&](std::size_t) { ++count; };
    team.run(2, task);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    const double before = cpuSeconds();
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    CHECK(cpuSeconds() - before < 0.05);
    CHECK(count == 2);
}

TEST_CASE("a call from inside a task runs on that thread, also if it is for another team") {
    ThreadTeam team(3), other(2);
    std::atomic<int> count = 0, elsewhere = 0;
    auto outer = [&](std::size_t) {
        const auto here = std::this_thread::get_id();
        auto inner = [&](std::size_t) {
            ++count;
            if (std::this_thread::get_id() != here) ++elsewhere;
        };
        team.run(5, inner);
        other.run(5, inner);
        UseTeam use(other);
        parallelFor(50, 10, [&](std::size_t, std::size_t) { inner(0); });
    };
    team.run(8, outer);
    CHECK(count == 8 * 15);
    CHECK(elsewhere == 0);
}

TEST_CASE("two threads may use one team at the same time") {
    ThreadTeam team(2);
    std::atomic<long> sum = 0;
    const auto use = [&] {
        for (int job = 0; job < 500; ++job) {
            auto task = [&](std::size_t i) { sum += long(i); };
            team.run(10, task);
        }
    };
    std::thread a(use), b(use);
    use();
    a.join();
    b.join();
    CHECK(sum == 3 * 500 * 45);
}

TEST_CASE("parallelFor covers the range in parts that do not depend on the team") {
    std::vector<std::vector<std::size_t>> seen;
    for (std::size_t threads : {1, 2, 5}) {
        ThreadTeam team(threads);
        UseTeam use(team);
        CHECK(&currentTeam() == &team);
        std::vector<std::size_t> endOf(103);
        parallelFor(103, 10, [&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i) endOf[i] = end;
        });
        seen.push_back(endOf);
        CHECK(endOf.front() == 10);
        CHECK(endOf.back() == 103);
    }
    CHECK(seen[0] == seen[1]);
    CHECK(seen[0] == seen[2]);
    int calls = 0;
    parallelFor(0, 4, [&](std::size_t, std::size_t) { ++calls; });
    CHECK(calls == 0);
    parallelFor(9, 0, [&](std::size_t begin, std::size_t end) { calls += int(end - begin); });
    CHECK(calls == 9);
    const std::size_t huge = SIZE_MAX;  // the number of parts must not overflow
    parallelFor(huge, huge - 1, [&](std::size_t begin, std::size_t end) { CHECK(begin < end); });
}

TEST_CASE("the process has a team of its own, with as many threads as there are usable cores") {
    CHECK(currentTeam().size() == usableCores());
    CHECK(usableCores() >= 1);
    CHECK(usableCores() <= usableCpus().threads);
}

TEST_CASE("odd numbers of threads are refused or replaced (PERF-02)") {
    CHECK(ThreadTeam(0).size() == usableCores());
    CHECK_THROWS_WITH_AS(ThreadTeam(100000),
                         "ThreadTeam: 100000 threads were asked for, but at most 256 can be had; 0 chooses by itself",
                         ValueError);
    CHECK_THROWS_AS(ThreadTeam(static_cast<std::size_t>(-1)), ValueError);
}

TEST_CASE("more threads than CPUs keep at least a quarter of the speed (PERF-02)") {
    ThreadTeam right(usableCpus().threads), tooMany(std::min(8 * usableCpus().threads, ThreadTeam::maxThreads));
    const auto [fast, slow] = bestOf([&] { return jobsPerSecond(right); }, [&] { return jobsPerSecond(tooMany); });
    MESSAGE("jobs of 16 tasks a second: " << fast << " with " << right.size() << " threads, " << slow << " with "
                                          << tooMany.size());
    CHECK(slow >= fast / 4);
}

TEST_CASE("other programs beside keep at least a quarter of the speed (PERF-02)") {
    ThreadTeam team(std::min(usableCpus().threads, ThreadTeam::maxThreads));
    const auto beside = [&] {
        std::atomic<bool> stop = false;
        std::vector<std::thread> busy;
        for (std::size_t i = 0; i < usableCpus().threads; ++i)
            busy.emplace_back([&] {
                while (!stop) (void)work();
            });
        const double speed = jobsPerSecond(team);
        stop = true;
        for (std::thread& t : busy) t.join();
        return speed;
    };
    const auto [alone, together] = bestOf([&] { return jobsPerSecond(team); }, beside);
    MESSAGE("jobs of 16 tasks a second: " << alone << " alone, " << together << " beside busy loops");
    CHECK(together >= alone / 4);
}

TEST_CASE("the cost of handing out a job and of coming back from it") {
    ThreadTeam team(2);
    auto nothing = [](std::size_t) {};
    // Each of two tasks waits until the other has begun: two threads must meet in every job.
    std::atomic<int> begun = 0;
    auto meet = [&](std::size_t) {
        begun.fetch_add(1);
        const double start = secondsNow();
        while (begun.load() < 2 && secondsNow() - start < 1) {
        }
    };
    double empty = 1, both = 1;
    for (int attempt = 0; attempt < 50; ++attempt) {
        double start = secondsNow();
        for (int i = 0; i < 1000; ++i) team.run(2, nothing);
        empty = std::min(empty, (secondsNow() - start) / 1000);
        start = secondsNow();
        for (int i = 0; i < 20; ++i) {
            begun = 0;
            team.run(2, meet);
        }
        both = std::min(both, (secondsNow() - start) / 20);
    }
    MESSAGE("run() of 2 tasks on 2 threads: " << empty * 1e6 << " us if empty, " << both * 1e6
                                              << " us if both threads must take part");
    CHECK(empty < 1e-3);
}
