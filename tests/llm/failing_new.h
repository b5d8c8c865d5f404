// Memory that runs out at a chosen moment.
#pragma once
#include <cstddef>

// Lets the allocation number `nth` of this thread, counted from 0, throw std::bad_alloc, and no other.
class FailingNew {
  public:
    explicit FailingNew(std::size_t nth);
    ~FailingNew();
    FailingNew(const FailingNew&) = delete;
    FailingNew& operator=(const FailingNew&) = delete;
    // Whether it has thrown.
    static bool hasFailed();
    // How many allocations there were so far, or since the last one.
    static std::size_t counted();
};
