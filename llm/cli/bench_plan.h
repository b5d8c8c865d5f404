// Which tests a benchmark runs, and what comes of one.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "axial/llm/kv_cache.h"
#include "bench_profile.h"
#include "options.h"

namespace axial::cli {

// What the replies of a test of speculation say.
enum class BenchText { none, free, copy };

struct BenchTest {
    std::size_t prompt = 0, generate = 0, depth = 0;  // tokens
    std::size_t threads = 0, batch = 0, ubatch = 0;
    llm::CacheFormats cache = Format::f16;

    std::size_t streams = 1;  // conversations together
    BenchText text = BenchText::none;
    bool drafts = false;

    // "pp512", "tg128", "pp512+tg128", with " @ d1024" at a depth, " x 8" for streams, " copy +spec" for speculation.
    std::string name() const;
};

// "512,1024", "64-512*2", "0-100+50". UsageError for what is none of these.
std::vector<std::size_t> numbersIn(const std::string& list);

// Every combination of the flags' lists, in llama-bench's order. UsageError for a list that cannot be read.
std::vector<BenchTest> planOf(const Options& options);

struct BenchResult {
    BenchTest test;
    std::vector<double> seconds;            // of each repetition
    std::string time;                       // when it began, in UTC
    std::size_t drafted = 0, accepted = 0;  // tokens, in the last repetition
    std::optional<BenchProfile> profile;    // of one more, if that was asked for

    std::vector<double> rates() const;  // tokens per second
};

double mean(const std::vector<double>& values);
// The standard deviation of a sample (n - 1); 0 for a single value.
double deviation(const std::vector<double>& values);

}  // namespace axial::cli
