// Reference-counted storage from a pool: a freed buffer's address goes to the next taker of its size.
#pragma once
#include <cstddef>
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

}  // namespace axial
