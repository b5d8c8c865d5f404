// Reference-counted storage from a pool: a freed buffer's address goes to the next taker of its size.
#pragma once
#include <cstddef>
#include <cstdint>
#include <utility>

namespace axial {

struct Block;

class Buffer {
  public:
    Buffer() = default;
    // `bytes` of uninitialised memory, aligned to 128 bytes. Throws std::bad_alloc.
    explicit Buffer(std::size_t bytes);
    Buffer(const Buffer& o) noexcept : block_(o.block_) { retain(); }
    Buffer(Buffer&& o) noexcept : block_(std::exchange(o.block_, nullptr)) {}
    Buffer& operator=(Buffer o) noexcept {
        std::swap(block_, o.block_);
        return *this;
    }
    ~Buffer() { release(); }

    // Another holder of the block behind a TensorRef::owner.
    static Buffer sharing(Block* block) noexcept;
    Block* block() const noexcept { return block_; }
    void* data() const noexcept;
    // False while something else (an observer that keeps values) also holds it: then ops must not write into it.
    bool unique() const noexcept;
    explicit operator bool() const noexcept { return block_; }

  private:
    void retain() noexcept;
    void release() noexcept;
    Block* block_ = nullptr;
};

// Which allocation a block is: no two have the same number, though one may get the other's address. 0 for null.
std::uint64_t serialOf(const Block*) noexcept;

// Measures the memory that all buffers of the process hold together, as long as it lives.
class MemoryMeter {
  public:
    MemoryMeter();
    ~MemoryMeter();
    MemoryMeter(const MemoryMeter&) = delete;
    MemoryMeter& operator=(const MemoryMeter&) = delete;
    // Bytes, now.
    std::size_t held() const;
    // The most that was held at any time since this was last asked, or since the meter was made.
    std::size_t takePeak();

  private:
    friend class BufferPool;
    std::size_t peak_ = 0;
    MemoryMeter* next_ = nullptr;
};

}  // namespace axial
