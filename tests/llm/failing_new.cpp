#include "llm/failing_new.h"

#include <cstdlib>
#include <new>

namespace {

thread_local std::size_t left = 0;  // allocations until one fails, that one included; 0: none fails
thread_local bool failed = false;
thread_local std::size_t count = 0;

void* allocate(std::size_t size, std::size_t alignment) {
    ++count;
    if (left != 0 && --left == 0) {
        failed = true;
        throw std::bad_alloc();
    }
    const std::size_t bytes = (size + alignment - 1) / alignment * alignment;
    void* memory = alignment <= alignof(std::max_align_t) ? std::malloc(size == 0 ? 1 : size)
                                                          : std::aligned_alloc(alignment, bytes);
    if (!memory) throw std::bad_alloc();
    return memory;
}

}  // namespace

FailingNew::FailingNew(std::size_t nth) {
    failed = false;
    count = 0;
    left = nth + 1;
}
FailingNew::~FailingNew() { left = 0; }
bool FailingNew::hasFailed() { return failed; }
std::size_t FailingNew::counted() { return count; }

// The other forms call these; the one that returns null is here because sanitizers have one of their own.
void* operator new(std::size_t size) { return allocate(size, alignof(std::max_align_t)); }
void* operator new(std::size_t size, std::align_val_t alignment) {
    return allocate(size, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
    try {
        return operator new(size);
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
