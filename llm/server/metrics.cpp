#include "axial/llm/server/metrics.h"

#include <cstdio>

namespace axial::llm::server {
namespace {

constexpr double waits[] = {0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300};
constexpr double gaps[] = {0.001, 0.0025, 0.005, 0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.25, 0.5, 1, 2.5};

std::string number(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.9g", value);
    return text;
}

std::string head(const std::string& name, const char* type, const std::string& help) {
    return "# HELP " + name + " " + help + "\n# TYPE " + name + " " + type + "\n";
}

template <class N>
std::string single(const std::string& name, const char* type, const std::string& help, N value) {
    return head(name, type, help) + name + " " + std::to_string(value) + "\n";
}

}  // namespace

void Histogram::observe(double value) {
    std::size_t place = 0;
    while (place < bounds_.size() && value > bounds_[place]) ++place;
    const std::lock_guard lock(mutex_);
    ++counts_[place];
    ++count_;
    sum_ += value;
}

std::string Histogram::text(const std::string& name, const std::string& help) const {
    const std::lock_guard lock(mutex_);
    std::string all = head(name, "histogram", help);
    std::uint64_t below = 0;
    for (std::size_t i = 0; i < bounds_.size(); ++i) {
        below += counts_[i];
        all += name + "_bucket{le=\"" + number(bounds_[i]) + "\"} " + std::to_string(below) + "\n";
    }
    all += name + "_bucket{le=\"+Inf\"} " + std::to_string(count_) + "\n";
    return all + name + "_sum " + number(sum_) + "\n" + name + "_count " + std::to_string(count_) + "\n";
}

Metrics::Metrics() : firstToken(waits), betweenTokens(gaps), queueTime(waits), requestTime(waits) {}

void Metrics::answered(const std::string& route, unsigned status) {
    const std::lock_guard lock(mutex_);
    ++answers_[{route, status}];
}

std::string Metrics::text() const {
    std::string all;
    {
        const std::lock_guard lock(mutex_);
        all += head("axial_http_requests_total", "counter", "Requests answered, by route and status.");
        for (const auto& [key, count] : answers_)
            all += "axial_http_requests_total{route=\"" + key.first + "\",status=\"" + std::to_string(key.second) +
                   "\"} " + std::to_string(count) + "\n";
    }
    all += single("axial_prompt_tokens_total", "counter", "Tokens of prompts, those from a cache among them.",
                  promptTokens.load());
    all += single("axial_prompt_tokens_cached_total", "counter", "Tokens of prompts that a cache already held.",
                  cachedTokens.load());
    all += single("axial_generated_tokens_total", "counter", "Tokens generated.", generatedTokens.load());
    all += single("axial_steps_total", "counter", "Forward passes.", steps.load());
    all += single("axial_choices_cancelled_total", "counter", "Replies that ended because nobody waited for them.",
                  cancelled.load());
    all += single("axial_requests_refused_total", "counter", "Requests refused because the queue was full.",
                  refused.load());
    all += single("axial_choices_running", "gauge", "Replies that are being generated.", running.load());
    all += single("axial_requests_queued", "gauge", "Requests that wait.", queued.load());
    all += single("axial_connections", "gauge", "Open connections.", connections.load());
    all += single("axial_kept_cache_bytes", "gauge", "Memory of kept keys and values.", keptBytes.load());
    all += single("axial_kept_caches", "gauge", "Prompts whose keys and values are kept.", keptCaches.load());
    all += firstToken.text("axial_time_to_first_token_seconds", "From a request's arrival to its first token.");
    all += betweenTokens.text("axial_inter_token_seconds", "From a token to the next one of the same reply.");
    all += queueTime.text("axial_queue_seconds", "From a request's arrival to its start.");
    return all + requestTime.text("axial_request_seconds", "From a request's arrival to its end.");
}

}  // namespace axial::llm::server
