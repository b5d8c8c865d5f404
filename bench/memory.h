// Random numbers to compute on, more of them than any cache holds.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "axial/tensor/buffer.h"

namespace axial::bench {

// Random bytes which, wherever they are read from on an even address, are ordinary numbers in every format: halves,
// bfloat16 and floats from 2^-15 to 2 of either sign, and blocks whose scales and codes are neither infinite nor
// subnormal. So one memory is the operands of all ops, and is filled once.
class Memory {
  public:
    // Twice the last cache, but 256 MB to 1 GB; more if `least` bytes are needed. ValueError if that is more than half
    // of the machine's memory.
    explicit Memory(std::size_t least);
    std::span<const std::byte> bytes() const { return {static_cast<const std::byte*>(buffer_.data()), size_}; }

  private:
    friend class Places;
    std::size_t size_;
    Buffer buffer_;
    mutable std::size_t at_ = 0;  // where the next operands are taken from
};

// Places for operands of `bytes` bytes, one call after the other. Each lies behind the last one that anybody was given,
// through the whole memory before it begins anew, so that what an op reads is in no cache. `cached`: always the same.
class Places {
  public:
    // The memory has at least so many bytes. Not for several threads at once.
    Places(const Memory& memory, std::size_t bytes, bool cached);
    // An address that is a multiple of 128.
    const std::byte* next() {
        if (cached_) return memory_->bytes().data();
        if (memory_->at_ > last_) memory_->at_ = 0;
        const std::byte* place = memory_->bytes().data() + memory_->at_;
        memory_->at_ += stride_;
        return place;
    }

  private:
    const Memory* memory_;
    std::size_t stride_, last_;
    bool cached_;
};

}  // namespace axial::bench
