// Room beside a weight for a second form of its numbers: an op that reads a weight again and again may make one that
// suits the machine better, and use it in the weight's place as long as the weight lives.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>

#include "axial/tensor/origin.h"

namespace axial {

// What an op keeps there.
class SecondForm {
  public:
    virtual ~SecondForm() = default;
};

// Of one weight that never changes. For use by several threads at once.
class FormSlot {
  public:
    FormSlot(const void* data, std::size_t bytes, Origin origin)
        : data_(static_cast<const std::byte*>(data)), bytes_(bytes), origin_(origin) {}

    // The whole weight.
    const std::byte* data() const { return data_; }
    std::size_t bytes() const { return bytes_; }

    // The form, once there is one; else null.
    const SecondForm* form() const noexcept { return form_.load(std::memory_order_acquire); }
    // Which reading of the weight this is, from 1 on.
    std::size_t countReading() noexcept { return readings_.fetch_add(1, std::memory_order_relaxed) + 1; }
    // The form, made now if there is none; null if make() gives none, and then it is not asked again.
    template <class Make>
    const SecondForm* formOr(Make&& make) {
        std::lock_guard lock(mutex_);
        if (!tried_) {
            tried_ = true;
            owned_ = make();
            form_.store(owned_.get(), std::memory_order_release);
        }
        return owned_.get();
    }

    // Lets the system take the memory of `bytes` of the weight from `offset` on back; what is touched again is read
    // from the file again.
    void giveBack(std::size_t offset, std::size_t bytes) const noexcept;

  private:
    const std::byte* data_;
    std::size_t bytes_;
    Origin origin_;
    std::atomic<std::size_t> readings_{0};
    std::atomic<const SecondForm*> form_{nullptr};
    std::mutex mutex_;
    bool tried_ = false;
    std::unique_ptr<const SecondForm> owned_;
};

}  // namespace axial
