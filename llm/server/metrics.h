// What the server counts, and the text that Prometheus reads.
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <utility>

namespace axial::llm::server {

// How often values fell under each of some bounds. Any thread may call it.
class Histogram {
  public:
    // The bounds ascend, and outlive it.
    explicit Histogram(std::span<const double> bounds) : bounds_(bounds) {}
    void observe(double value);
    // In Prometheus' text format (version 0.0.4), with buckets, sum and count.
    std::string text(const std::string& name, const std::string& help) const;

  private:
    static constexpr std::size_t most = 24;
    std::span<const double> bounds_;
    mutable std::mutex mutex_;
    std::array<std::uint64_t, most> counts_{};
    std::uint64_t count_ = 0;
    double sum_ = 0;
};

class Metrics {
  public:
    Metrics();

    std::atomic<std::uint64_t> promptTokens = 0, cachedTokens = 0, generatedTokens = 0;
    std::atomic<std::uint64_t> steps = 0, cancelled = 0, refused = 0;
    std::atomic<std::int64_t> running = 0, queued = 0, connections = 0;
    std::atomic<std::int64_t> keptBytes = 0, keptCaches = 0;
    Histogram firstToken, betweenTokens, queueTime, requestTime;

    // A request was answered.
    void answered(const std::string& route, unsigned status);
    std::string text() const;

  private:
    mutable std::mutex mutex_;
    std::map<std::pair<std::string, unsigned>, std::uint64_t> answers_;
};

}  // namespace axial::llm::server
