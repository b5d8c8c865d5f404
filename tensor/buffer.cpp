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
    std::uint64_t serial = 0;
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

}  // namespace

class BufferPool {
  public:
    Block* take(std::size_t bytes) {
        void* raw = nullptr;
        std::uint64_t serial = 0;
        {
            std::lock_guard lock(mutex_);
            serial = ++serial_;
            held_ += bytes;
            for (MemoryMeter* meter = meters_; meter; meter = meter->next_)
                meter->peak_ = std::max(meter->peak_, held_);
            if (auto at = free_.find(bytes); at != free_.end() && !at->second.empty()) {
                raw = at->second.back();
                at->second.pop_back();
                kept_ -= bytes;
            }
        }
        if (!raw) raw = fresh(bytes);
        auto* block = new (raw) Block;
        block->bytes = bytes;
        block->serial = serial;
        return block;
    }
    void give(Block* block) noexcept {
        const std::size_t bytes = block->bytes;
        block->~Block();
        void* const raw = block;
        try {
            std::lock_guard lock(mutex_);
            held_ -= bytes;
            if (kept_ + bytes <= keptBytes) {
                free_[bytes].push_back(raw);
                kept_ += bytes;
                return;
            }
        } catch (...) {  // no memory for the list: do not keep it
        }
        ::operator delete(raw, alignment);
    }

    void add(MemoryMeter& meter) {
        std::lock_guard lock(mutex_);
        meter.peak_ = held_;
        meter.next_ = std::exchange(meters_, &meter);
    }
    void remove(MemoryMeter& meter) {
        std::lock_guard lock(mutex_);
        for (MemoryMeter** at = &meters_; *at; at = &(*at)->next_)
            if (*at == &meter) return static_cast<void>(*at = meter.next_);
    }
    std::size_t held() {
        std::lock_guard lock(mutex_);
        return held_;
    }
    std::size_t takePeak(MemoryMeter& meter) {
        std::lock_guard lock(mutex_);
        return std::exchange(meter.peak_, held_);
    }

  private:
    void* fresh(std::size_t bytes) {
        try {
            void* raw = ::operator new(sizeof(Block) + bytes, alignment);
            askForHugePages(raw, bytes);
            return raw;
        } catch (...) {
            std::lock_guard lock(mutex_);
            held_ -= bytes;
            throw;
        }
    }

    std::mutex mutex_;
    std::unordered_map<std::size_t, std::vector<void*>> free_;
    std::size_t kept_ = 0, held_ = 0;  // bytes
    std::uint64_t serial_ = 0;
    MemoryMeter* meters_ = nullptr;
};

namespace {

// Never destroyed: tensors with static storage may be freed after it would have been.
BufferPool& pool() {
    static BufferPool* const instance = new BufferPool;
    return *instance;
}

}  // namespace

Buffer::Buffer(std::size_t bytes) {
    if (bytes >> 47) throw std::bad_alloc();  // more than can be addressed
    const std::size_t size = sizeClass(bytes);
    block_ = pool().take(size);
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
    if (block_ && block_->holders.fetch_sub(1, std::memory_order_acq_rel) == 1) pool().give(block_);
}

std::uint64_t serialOf(const Block* block) noexcept { return block ? block->serial : 0; }

MemoryMeter::MemoryMeter() { pool().add(*this); }
MemoryMeter::~MemoryMeter() { pool().remove(*this); }
std::size_t MemoryMeter::held() const { return pool().held(); }
std::size_t MemoryMeter::takePeak() { return pool().takePeak(*this); }

}  // namespace axial
