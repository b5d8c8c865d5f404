#include "axial/llm/server/inference_loop.h"

#include <algorithm>
#include <new>
#include <utility>

#include "axial/llm/sampler_random.h"
#include "axial/llm/server/logprob_recorder.h"
#include "axial/llm/server/metrics.h"
#include "axial/llm/stream_decoder.h"
#include "axial/tensor/parallel.h"

namespace axial::llm::server {
namespace {

// So many tokens are worth waiting for, if another request computes them.
constexpr std::size_t worthWaiting = 32;

double seconds(std::chrono::steady_clock::duration time) { return std::chrono::duration<double>(time).count(); }

}  // namespace

struct InferenceLoop::Request {
    GenerationRequest ask;
    std::size_t started = 0, over = 0;  // choices
    std::uint64_t seed = ask.sampling.seed ? *ask.sampling.seed : freshSeed();

    bool abandoned() const { return ask.events->abandoned(); }
    std::span<const TokenId> promptOf(std::size_t choice) const { return ask.prompts[choice / ask.choicesEach]; }
};

struct InferenceLoop::Choice {
    std::shared_ptr<Request> request;
    std::size_t index;
    Conversation<Model> conversation;
    std::shared_ptr<LogprobRecorder::List> logprobs;
    Sampler sampler;
    Clock::time_point begun = Clock::now(), first = {}, last = {};
    std::size_t tokens = 0, thoughtTokens = 0;

    std::span<const TokenId> prompt() const { return request->promptOf(index); }
    bool reads() const { return conversation.history().size() < prompt().size(); }
};

// A StreamDecoder that notices when tokens come.
class InferenceLoop::CountingDecoder {
  public:
    CountingDecoder(const Tokenizer& tokenizer, Choice& choice, Metrics& metrics)
        : decoder_(tokenizer),
          choice_(&choice),
          metrics_(&metrics),
          thoughtsEnd_(tokenizer.vocabulary().marker("</think>").value_or(Vocabulary::noToken)) {}

    std::string push(TokenId token) {
        const auto now = Clock::now();
        if (choice_->tokens++ == 0) {
            choice_->first = now;
            metrics_->firstToken.observe(seconds(now - choice_->request->ask.arrived));
        } else {
            metrics_->betweenTokens.observe(seconds(now - choice_->last));
        }
        choice_->last = now;
        if (token == thoughtsEnd_ && choice_->thoughtTokens == 0) choice_->thoughtTokens = choice_->tokens;
        return decoder_.push(token);
    }
    std::string finish() { return decoder_.finish(); }

  private:
    StreamDecoder decoder_;
    Choice* choice_;
    Metrics* metrics_;
    TokenId thoughtsEnd_;
};

InferenceLoop::InferenceLoop(std::shared_ptr<const Model> model, std::shared_ptr<const Tokenizer> tokenizer,
                             LoopSettings settings, Metrics& metrics)
    : model_(std::move(model)),
      tokenizer_(std::move(tokenizer)),
      settings_(settings),
      metrics_(metrics),
      batch_(*model_, settings.stepTokens),
      kept_(settings.keptBytes),
      thread_([this] { run(); }) {}

InferenceLoop::~InferenceLoop() {
    stop(Clock::now());
    thread_.join();
}

InferenceLoop::Admission InferenceLoop::submit(GenerationRequest ask) {
    auto request = std::make_shared<Request>(Request{.ask = std::move(ask)});
    const std::lock_guard lock(mutex_);
    if (stopping_) return Admission::stopping;
    std::erase_if(waiting_, [](const auto& other) { return other->abandoned(); });
    if (waiting_.size() >= settings_.queue) {
        ++metrics_.refused;
        return Admission::full;
    }
    waiting_.push_back(std::move(request));
    metrics_.queued = std::ssize(waiting_);
    changed_.notify_one();
    return Admission::accepted;
}

void InferenceLoop::wake() {
    const std::lock_guard lock(mutex_);
    woken_ = true;
    changed_.notify_one();
}

void InferenceLoop::stop(Clock::time_point deadline) {
    const std::lock_guard lock(mutex_);
    deadline_ = stopping_ ? std::min(deadline_, deadline) : deadline;
    stopping_ = true;
    changed_.notify_one();
}

void InferenceLoop::run() {
    ThreadTeam team(settings_.threads);
    const UseTeam threads(team);
    const UseActivations arithmetic(settings_.activations);
    while (waitForWork()) {
        lookAtReaders();
        while (running_.size() < settings_.parallel) {
            const std::shared_ptr<Request> next = nextToStart();
            if (!next) break;
            start(next);
        }
        metrics_.running = std::ssize(running_);
        step();
        metrics_.running = std::ssize(running_);
    }
}

// False when all is over.
bool InferenceLoop::waitForWork() {
    std::unique_lock lock(mutex_);
    const auto work = [&] { return woken_ || (running_.empty() ? !waiting_.empty() : !allPaused_); };
    while (!work() && !stopping_) changed_.wait(lock);
    while (!work() && !(running_.empty() && waiting_.empty()) && Clock::now() < deadline_)
        changed_.wait_until(lock, deadline_);
    woken_ = false;
    if (!stopping_) return true;
    if (running_.empty() && waiting_.empty()) return false;
    if (Clock::now() < deadline_) return true;
    lock.unlock();
    failAll(Failure::Kind::stopping, "the server is shutting down");
    return false;
}

// The first request in the queue that can begin another choice. It leaves the queue with its last one.
std::shared_ptr<InferenceLoop::Request> InferenceLoop::nextToStart() {
    const std::lock_guard lock(mutex_);
    std::erase_if(waiting_, [](const auto& request) { return request->abandoned(); });
    const auto place = std::ranges::find_if(waiting_, [this](const auto& request) { return !shouldWait(*request); });
    std::shared_ptr<Request> request = place == waiting_.end() ? nullptr : *place;
    if (request && ++request->started == request->ask.choices()) waiting_.erase(place);
    metrics_.queued = std::ssize(waiting_);
    return request;
}

bool InferenceLoop::shouldWait(const Request& request) const {
    const std::span<const TokenId> prompt = request.promptOf(request.started);
    std::size_t available = kept_.longest(prompt), promised = 0, least = worthWaiting;
    for (const auto& choice : running_) {
        available = std::max(available, commonPrefix(choice->conversation.history(), prompt));
        if (!choice->reads()) continue;
        promised = std::max(promised, commonPrefix(choice->prompt(), prompt));
        if (choice->request.get() == &request) least = 1;
    }
    return std::min(promised, prompt.size() - 1) >= available + least;
}

Conversation<Model> InferenceLoop::conversationFor(std::span<const TokenId> prompt, std::size_t capacity) {
    const Choice* source = nullptr;
    std::size_t most = kept_.longest(prompt);
    for (const auto& choice : running_)
        if (const std::size_t both = commonPrefix(choice->conversation.history(), prompt); both > most) {
            most = both;
            source = choice.get();
        }
    if (source) return source->conversation.fork(most, capacity);
    if (auto kept = kept_.take(prompt, capacity))
        return Conversation<Model>(*model_, std::move(kept->cache), std::move(kept->tokens));
    return Conversation<Model>(*model_, model_->makeCache(capacity, settings_.cacheFormats));
}

void InferenceLoop::start(const std::shared_ptr<Request>& request) {
    GenerationRequest& ask = request->ask;
    const std::size_t index = request->started - 1;
    const std::span<const TokenId> prompt = request->promptOf(index);
    try {
        SamplerSettings sampling = ask.sampling;
        sampling.seed = seedOf(request->seed, index % ask.choicesEach);
        std::shared_ptr<LogprobRecorder::List> logprobs;
        std::vector<std::unique_ptr<LogitProcessor>> processors;
        if (ask.logprobs) {
            logprobs = std::make_shared<LogprobRecorder::List>();
            processors.push_back(std::make_unique<LogprobRecorder>(*ask.logprobs, logprobs));
        }
        for (const auto& processor : ask.processors) processors.push_back(processor->clone());
        std::size_t capacity = settings_.contextSize;
        if (ask.maxTokens >= 0 && static_cast<std::size_t>(ask.maxTokens) < capacity)
            capacity = std::min(capacity, prompt.size() + static_cast<std::size_t>(ask.maxTokens) + 1);

        auto choice =
            std::make_unique<Choice>(Choice{request, index, conversationFor(prompt, capacity), std::move(logprobs),
                                            Sampler(std::move(sampling), std::move(processors))});
        Choice& c = *choice;
        metrics_.queueTime.observe(seconds(c.begun - ask.arrived));
        ReplyOptions options;
        options.maxTokens = ask.maxTokens;
        if (!ask.ignoresEnd) options.stopTokens = tokenizer_->vocabulary().endOfGeneration;
        options.stopTexts = ask.stopTexts;
        options.batch = settings_.stepTokens;
        options.cancelled = [&c] { return c.request->abandoned(); };
        const auto onText = [this, &c](std::string_view text) {
            Piece piece{c.index, std::string(text), {}, c.tokens, seconds(c.last - c.first)};
            if (c.logprobs) piece.logprobs = std::exchange(*c.logprobs, {});
            std::erase_if(piece.logprobs,
                          [this](const TokenLogprob& one) { return tokenizer_->endsGeneration(one.chosen.token); });
            c.request->ask.events->push(std::move(piece));
        };
        running_.push_back(std::move(choice));
        try {
            batch_.join(c.conversation,
                        c.conversation.begin(prompt, c.sampler, CountingDecoder(*tokenizer_, c, metrics_),
                                             std::move(options), onText));
        } catch (...) {
            running_.pop_back();
            throw;
        }
    } catch (const std::bad_alloc&) {
        fail(*request, Failure::Kind::internal, "not enough memory for the request's keys and values");
    } catch (const Error& error) {
        fail(*request, Failure::Kind::request, error.what());
    } catch (const std::exception& error) {
        fail(*request, Failure::Kind::internal, error.what());
    }
}

// Those that nobody waits for leave; those whose readers are slow pause.
void InferenceLoop::lookAtReaders() {
    std::vector<Conversation<Model>*> left;
    allPaused_ = !running_.empty();
    for (const auto& choice : running_) {
        const EventChannel& events = *choice->request->ask.events;
        if (events.abandoned()) {
            left.push_back(&choice->conversation);
            continue;
        }
        const bool slow = events.full();
        batch_.pause(choice->conversation, slow);
        allPaused_ = allPaused_ && slow;
    }
    for (Conversation<Model>* conversation : left) finish(*conversation);
}

void InferenceLoop::step() {
    try {
        ++metrics_.steps;
        for (Conversation<Model>* conversation : batch_.step()) finish(*conversation);
    } catch (const std::bad_alloc&) {
        failAll(Failure::Kind::internal, "not enough memory for a step");
    } catch (const std::exception& error) {
        failAll(Failure::Kind::internal, error.what());
    }
}

void InferenceLoop::finish(Conversation<Model>& conversation) {
    const auto place =
        std::ranges::find_if(running_, [&](const auto& choice) { return &choice->conversation == &conversation; });
    const std::unique_ptr<Choice> choice = std::move(*place);
    running_.erase(place);
    Request& request = *choice->request;
    try {
        const Reply reply = batch_.leave(conversation);
        ChoiceEnd end{choice->index,
                      reply.end,
                      reply.promptTokens,
                      reply.reusedTokens,
                      reply.tokens.size() + (reply.end == ReplyEnd::stopToken ? 1 : 0),
                      choice->thoughtTokens,
                      seconds(choice->begun - request.ask.arrived),
                      reply.promptSeconds,
                      reply.replySeconds};
        metrics_.promptTokens += end.promptTokens;
        metrics_.cachedTokens += end.reusedTokens;
        metrics_.generatedTokens += end.replyTokens;
        if (reply.end == ReplyEnd::cancelled) ++metrics_.cancelled;
        request.ask.events->push(end);
        if (++request.over == request.ask.choices()) {
            metrics_.requestTime.observe(seconds(Clock::now() - request.ask.arrived));
            request.ask.events->close();
        }
        auto kept = conversation.takeCache();
        kept_.keep(std::move(kept.tokens), std::move(kept.cache));
    } catch (const Error& error) {
        fail(request, Failure::Kind::request, error.what());
    } catch (const std::bad_alloc&) {
        fail(request, Failure::Kind::internal, "not enough memory for the reply");
    } catch (const std::exception& error) {
        fail(request, Failure::Kind::internal, error.what());
    }
    metrics_.keptBytes = static_cast<std::int64_t>(kept_.bytes());
    metrics_.keptCaches = static_cast<std::int64_t>(kept_.size());
}

// What else of the request runs or waits is not wanted any more.
void InferenceLoop::fail(Request& request, Failure::Kind kind, const std::string& text) {
    if (request.abandoned()) return;
    request.ask.events->push(Failure{kind, text});
    request.ask.events->close();
    request.ask.events->abandon();
}

void InferenceLoop::failAll(Failure::Kind kind, const std::string& text) {
    while (!running_.empty()) {
        fail(*running_.back()->request, kind, text);
        finish(running_.back()->conversation);
    }
    if (kind != Failure::Kind::stopping) return;
    const std::lock_guard lock(mutex_);
    for (const auto& request : waiting_) fail(*request, kind, text);
    waiting_.clear();
}

}  // namespace axial::llm::server
