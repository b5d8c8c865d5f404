#include "axial/tensor/buffer.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <mutex>
#include <new>
#include <unordered_map>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace axial {

struct alignas(128) Block {
    std::atomic<std::size_t> holders{1};
    std::size_t bytes = 0;
};

namespace {

constexpr std::align_val_t alignment{alignof(Block)};

#if defined(__SANITIZE_ADDRESS__)
constexpr std::size_t keptBytes = 0;  // reused memory would hide a use after free from the sanitizer
#elif defined(__has_feature)
constexpr std::size_t keptBytes = __has_feature(address_sanitizer) ? 0 : std::size_t{256} << 20;
#else
constexpr std::size_t keptBytes = std::size_t{256} << 20;
#endif

// Sizes go in steps of an eighth of their power of two, so that prompts of different lengths share buffers; never of
// more than 1 MB, which a key-value cache of gigabytes would feel.
std::size_t sizeClass(std::size_t bytes) {
    if (bytes <= 1024) return (bytes + 127) / 128 * 128;
    const std::size_t step = std::min(std::bit_floor(bytes) / 8, std::size_t{1} << 20);
    return (bytes + step - 1) / step * step;
}

// Large buffers in large pages: a prompt's activations otherwise need more page translations than the core remembers.
void askForHugePages([[maybe_unused]] void* raw, [[maybe_unused]] std::size_t bytes) {
#if defined(__linux__)
    constexpr std::uintptr_t page = std::uintptr_t{2} << 20;
    const std::uintptr_t start = reinterpret_cast<std::uintptr_t>(raw), first = (start + page - 1) / page * page;
    const std::uintptr_t last = (start + bytes) / page * page;
    if (last > first) madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);  // only advice
#endif
}

class Pool {
  public:
    void* take(std::size_t bytes) {
        {
            std::lock_guard lock(mutex_);
            if (auto at = free_.find(bytes); at != free_.end() && !at->second.empty()) {
                void* raw = at->second.back();
                at->second.pop_back();
                kept_ -= bytes;
                return raw;
            }
        }
        void* raw = ::operator new(sizeof(Block) + bytes, alignment);
        askForHugePages(raw, bytes);
        return raw;
    }
    void give(void* raw, std::size_t bytes) noexcept {
        try {
            std::lock_guard lock(mutex_);
            if (kept_ + bytes <= keptBytes) {
                free_[bytes].push_back(raw);
                kept_ += bytes;
                return;
            }
        } catch (...) {  // no memory for the list: do not keep it
        }
        ::operator delete(raw, alignment);
    }

  private:
    std::mutex mutex_;
    std::unordered_map<std::size_t, std::vector<void*>> free_;
    std::size_t kept_ = 0;
};

// Never destroyed: tensors with static storage may be freed after it would have been.
Pool& pool() {
    static Pool* const instance = new Pool;
    return *instance;
}

}  // namespace

Buffer::Buffer(std::size_t bytes) {
    if (bytes >> 47) throw std::bad_alloc();  // more than can be addressed
    const std::size_t size = sizeClass(bytes);
    block_ = new (pool().take(size)) Block;
    block_->bytes = size;
}
Buffer Buffer::sharing(Block* block) noexcept {
    Buffer buffer;
    buffer.block_ = block;
    buffer.retain();
    return buffer;
}
void* Buffer::data() const noexcept { return block_ ? block_ + 1 : nullptr; }
bool Buffer::unique() const noexcept { return block_ && block_->holders.load(std::memory_order_acquire) == 1; }
void Buffer::retain() noexcept {
    if (block_) block_->holders.fetch_add(1, std::memory_order_relaxed);
}
void Buffer::release() noexcept {
    if (block_ && block_->holders.fetch_sub(1, std::memory_order_acq_rel) == 1) {
        const std::size_t bytes = block_->bytes;
        block_->~Block();
        pool().give(block_, bytes);
    }
}

}  // namespace axial
