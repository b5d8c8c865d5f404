// Reads pieces of files in the background: those that somebody waits for before those that may be wanted soon.
#pragma once
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "axial/llm/piece_file.h"

namespace axial::llm {

struct PieceRead {
    const PieceFile* file = nullptr;
    std::uint64_t offset = 0;
    std::span<std::byte> into;
    std::size_t needed = 0;   // of them, as in PieceFile::read
    std::uint64_t owner = 0;  // whose read it is, in the caller's own numbers
};

// The reads that wait, and who does them. For use by several threads at once.
class ReadQueue {
  public:
    enum class Order { now, ahead };

    void put(const PieceRead& read, Order order);
    // All waiting reads of this owner move from `ahead` to the end of `now`.
    void hurry(std::uint64_t owner);
    // Takes the waiting reads of this owner out, if they are all still waiting `ahead`: `reads` of them.
    bool withdraw(std::uint64_t owner, std::size_t reads);

    // The next read, in the order in which they were put; waits for one. Nothing once the queue is closed. At most
    // `mostAhead` reads of `ahead` are under way at once, so that what is wanted now finds somebody free.
    std::optional<PieceRead> take(std::size_t mostAhead);
    // A read that take() gave is over.
    void finished(const PieceRead& read);
    // Forgets what waits, and lets everybody who waits go.
    void close();

  private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<PieceRead> now_, ahead_;
    std::vector<std::uint64_t> underWayAhead_;  // owners, once for each read
    bool closed_ = false;
};

// Threads that do the reads of a queue, each one at a time.
class PieceReader {
  public:
    // Called when a read is over, on one of the threads, with the error if there was one. Must not throw.
    using Done = std::function<void(const PieceRead&, std::exception_ptr)>;

    PieceReader(std::size_t threads, Done done);
    // Forgets reads that have not begun, and waits for those that have.
    ~PieceReader();
    PieceReader(const PieceReader&) = delete;
    PieceReader& operator=(const PieceReader&) = delete;

    ReadQueue& queue() { return queue_; }

  private:
    void run();

    ReadQueue queue_;
    Done done_;
    std::size_t mostAhead_;
    std::vector<std::thread> threads_;
};

}  // namespace axial::llm
