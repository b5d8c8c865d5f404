// From the inference loop to whoever answers a request: what was generated, piece by piece.
#pragma once
#include <atomic>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <variant>
#include <vector>

#include "axial/llm/logprobs.h"
#include "axial/llm/reply.h"

namespace axial::llm::server {

// A token's logarithm of probability under the model, and those of the most probable tokens in its place.
struct TokenLogprob {
    Logprob chosen;
    std::vector<Logprob> top;
};

// Text that a choice has grown by: whole characters.
struct Piece {
    std::size_t choice = 0;
    std::string text;
    std::vector<TokenLogprob> logprobs;  // of the tokens since the last piece, if they are asked for
    std::size_t tokens = 0;              // of the choice so far
    double seconds = 0;                  // since the first of them
};

// A choice is over. Seconds are of a steady clock.
struct ChoiceEnd {
    std::size_t choice = 0;
    ReplyEnd end = ReplyEnd::stopToken;
    std::size_t promptTokens = 0, reusedTokens = 0;
    std::size_t replyTokens = 0;    // generated, one that ended the reply among them
    std::size_t thoughtTokens = 0;  // of them, those up to the marker </think>; 0: there was none
    double queueSeconds = 0, promptSeconds = 0, replySeconds = 0;
};

// Nothing comes any more, since something went wrong.
struct Failure {
    enum class Kind { request, internal, stopping };
    Kind kind = Kind::internal;
    std::string text;
};

using Event = std::variant<Piece, ChoiceEnd, Failure>;

// One writer and one reader, on two threads. It holds little: the writer looks at full() before it generates more, and
// text without logprobs that nobody has taken yet is joined.
class EventChannel {
  public:
    // `room`: from how many bytes that nobody has taken it is full.
    explicit EventChannel(std::size_t room = 64 << 10) : room_(room) {}

    // The writer's side.
    void push(Event event);
    void close();  // nothing comes any more
    bool full() const;
    // Whether the reader has left, so that nobody needs what is generated.
    bool abandoned() const { return abandoned_.load(std::memory_order_relaxed); }

    // The reader's side: what has come since the last call.
    struct Taken {
        std::deque<Event> events;
        bool closed = false;   // and nothing more will
        bool wasFull = false;  // so that the writer may be waiting
    };
    Taken take();
    // Called, on the writer's thread or on this one, when there is something to take; at most once between two calls
    // of take(). An empty function ends that; none is running then.
    void onReady(std::function<void()> ready);
    void abandon() { abandoned_.store(true, std::memory_order_relaxed); }

  private:
    void tell();

    const std::size_t room_;
    mutable std::mutex mutex_;
    std::deque<Event> events_;
    std::size_t bytes_ = 0;
    bool closed_ = false, told_ = false;
    std::function<void()> ready_;
    std::atomic<bool> abandoned_ = false;
};

}  // namespace axial::llm::server
