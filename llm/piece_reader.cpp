#include "axial/llm/piece_reader.h"

#include <algorithm>
#include <utility>

namespace axial::llm {

void ReadQueue::put(const PieceRead& read, Order order) {
    {
        const std::lock_guard lock(mutex_);
        (order == Order::now ? now_ : ahead_).push_back(read);
    }
    changed_.notify_one();
}

void ReadQueue::hurry(std::uint64_t owner) {
    {
        const std::lock_guard lock(mutex_);
        const auto others = std::stable_partition(ahead_.begin(), ahead_.end(),
                                                  [&](const PieceRead& read) { return read.owner != owner; });
        now_.insert(now_.end(), others, ahead_.end());
        ahead_.erase(others, ahead_.end());
        std::erase(underWayAhead_, owner);  // somebody waits for them now
    }
    changed_.notify_all();
}

bool ReadQueue::withdraw(std::uint64_t owner, std::size_t reads) {
    const std::lock_guard lock(mutex_);
    const auto mine = [&](const PieceRead& read) { return read.owner == owner; };
    if (static_cast<std::size_t>(std::ranges::count_if(ahead_, mine)) != reads) return false;
    std::erase_if(ahead_, mine);
    return true;
}

std::optional<PieceRead> ReadQueue::take(std::size_t mostAhead) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock,
                  [&] { return closed_ || !now_.empty() || (!ahead_.empty() && underWayAhead_.size() < mostAhead); });
    if (closed_) return std::nullopt;
    std::deque<PieceRead>& from = now_.empty() ? ahead_ : now_;
    if (now_.empty()) underWayAhead_.push_back(ahead_.front().owner);
    PieceRead read = from.front();
    from.pop_front();
    return read;
}

void ReadQueue::finished(const PieceRead& read) {
    {
        const std::lock_guard lock(mutex_);
        const auto found = std::ranges::find(underWayAhead_, read.owner);
        if (found == underWayAhead_.end()) return;
        underWayAhead_.erase(found);
    }
    changed_.notify_one();
}

void ReadQueue::close() {
    {
        const std::lock_guard lock(mutex_);
        closed_ = true;
        now_.clear();
        ahead_.clear();
    }
    changed_.notify_all();
}

PieceReader::PieceReader(std::size_t threads, Done done)
    : done_(std::move(done)), mostAhead_(std::max<std::size_t>(1, threads / 2)) {
    threads_.reserve(threads);
    try {
        for (std::size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { run(); });
    } catch (...) {  // the system gives no more threads; those that there are will do
        if (threads_.empty()) throw;
    }
}

PieceReader::~PieceReader() {
    queue_.close();
    for (std::thread& thread : threads_) thread.join();
}

void PieceReader::run() {
    while (const std::optional<PieceRead> read = queue_.take(mostAhead_)) {
        std::exception_ptr error;
        try {
            read->file->read(read->offset, read->into, read->needed);
        } catch (...) {
            error = std::current_exception();
        }
        queue_.finished(*read);
        done_(*read, error);
    }
}

}  // namespace axial::llm
