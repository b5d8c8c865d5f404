#include "axial/llm/server/event_channel.h"

#include <utility>

namespace axial::llm::server {
namespace {

std::size_t sizeOf(const Event& event) {
    std::size_t bytes = sizeof(Event);
    if (const auto* piece = std::get_if<Piece>(&event)) {
        bytes += piece->text.size();
        for (const TokenLogprob& token : piece->logprobs) bytes += sizeof token + token.top.size() * sizeof(Logprob);
    }
    return bytes;
}

}  // namespace

void EventChannel::push(Event event) {
    const std::lock_guard lock(mutex_);
    bytes_ += sizeOf(event);
    auto* piece = std::get_if<Piece>(&event);
    auto* last = events_.empty() ? nullptr : std::get_if<Piece>(&events_.back());
    if (piece && last && last->choice == piece->choice && piece->logprobs.empty() && last->logprobs.empty()) {
        last->text += piece->text;
        last->tokens = piece->tokens;
        last->seconds = piece->seconds;
        bytes_ -= sizeof(Event);
    } else {
        events_.push_back(std::move(event));
    }
    tell();
}

void EventChannel::close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    tell();
}

bool EventChannel::full() const {
    const std::lock_guard lock(mutex_);
    return bytes_ >= room_;
}

EventChannel::Taken EventChannel::take() {
    const std::lock_guard lock(mutex_);
    told_ = false;
    const bool wasFull = std::exchange(bytes_, 0) >= room_;
    return {std::exchange(events_, {}), closed_, wasFull};
}

void EventChannel::onReady(std::function<void()> ready) {
    const std::lock_guard lock(mutex_);
    ready_ = std::move(ready);
    told_ = false;
    if (!events_.empty() || closed_) tell();
}

// With the lock held, so that onReady() can promise that no call is running.
void EventChannel::tell() {
    if (!ready_ || std::exchange(told_, true)) return;
    ready_();
}

}  // namespace axial::llm::server
