// The one thread that runs the model, for all requests together.
#pragma once
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "axial/llm/batch.h"
#include "axial/llm/model.h"
#include "axial/llm/server/generation.h"
#include "axial/llm/server/kept_caches.h"
#include "axial/llm/tokenizer.h"
#include "axial/ops/activations.h"

namespace axial::llm::server {

class Metrics;

struct LoopSettings {
    std::size_t contextSize = 4096;  // tokens of a prompt and its reply, for each choice
    std::size_t parallel = 4;        // choices that are generated together
    std::size_t stepTokens = 128;    // most tokens in one forward pass: cancelling takes one pass
    std::size_t queue = 64;          // most requests that wait
    CacheFormats cacheFormats = Format::f16;
    std::size_t keptBytes = std::size_t{1} << 30;  // budget of kept caches
    std::size_t threads = 0;                       // as ThreadTeam
    Activations activations = Activations::int16;
};

// Requests start in the order of their arrival as soon as there is room, join the others between two forward passes,
// and leave as soon as they are over or abandoned. One whose prompt begins as that of another, which is being read,
// waits until it can have what that has computed; those behind it may start before. Everything that a text depends on
// is in its request, so it is the same whatever else runs.
class InferenceLoop {
  public:
    // Starts the thread. Borrows the metrics.
    InferenceLoop(std::shared_ptr<const Model> model, std::shared_ptr<const Tokenizer> tokenizer, LoopSettings settings,
                  Metrics& metrics);
    // Ends what is running.
    ~InferenceLoop();
    InferenceLoop(const InferenceLoop&) = delete;
    InferenceLoop& operator=(const InferenceLoop&) = delete;

    const LoopSettings& settings() const { return settings_; }

    enum class Admission { accepted, full, stopping };
    // Puts a request at the end of the queue; what becomes of it, its channel tells. The prompts are not empty, have
    // tokens of the vocabulary only, and leave room in the context.
    Admission submit(GenerationRequest request);
    // A channel was abandoned, or has room again.
    void wake();
    // Takes no more requests, and ends those that are not over by the deadline: their channels say so.
    void stop(std::chrono::steady_clock::time_point deadline);

  private:
    struct Request;
    struct Choice;
    class CountingDecoder;
    using Clock = std::chrono::steady_clock;

    void run();
    bool waitForWork();
    std::shared_ptr<Request> nextToStart();
    bool shouldWait(const Request& request) const;
    void start(const std::shared_ptr<Request>& request);
    Conversation<Model> conversationFor(std::span<const TokenId> prompt, std::size_t capacity);
    void lookAtReaders();
    void step();
    void finish(Conversation<Model>& conversation);
    static void fail(Request& request, Failure::Kind kind, const std::string& text);
    void failAll(Failure::Kind kind, const std::string& text);

    std::shared_ptr<const Model> model_;
    std::shared_ptr<const Tokenizer> tokenizer_;
    LoopSettings settings_;
    Metrics& metrics_;

    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<std::shared_ptr<Request>> waiting_;  // guarded by the mutex, as the next three
    bool woken_ = false, stopping_ = false;
    Clock::time_point deadline_ = {};

    Batch<Model> batch_;  // the thread's own, as all below
    std::vector<std::unique_ptr<Choice>> running_;
    bool allPaused_ = false;  // no reader takes what there is
    KeptCaches kept_;
    std::thread thread_;
};

}  // namespace axial::llm::server
