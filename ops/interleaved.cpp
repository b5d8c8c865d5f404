#include "axial/ops/interleaved.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <memory>
#include <mutex>
#include <new>

#include "axial/ops/interleaved_kernels.h"
#include "axial/tensor/form_slot.h"
#include "axial/tensor/parallel.h"

namespace axial::erased {
namespace {

std::atomic<std::size_t> atReading{3};

// All interleaved weights of the process may take half of the memory that it can have: what lies in a file's mapping
// can be dropped when memory is short, they cannot.
class Allowance {
  public:
    bool take(std::size_t bytes) noexcept {
        if (taken_.fetch_add(bytes) + bytes <= limit_) return true;
        give(bytes);
        return false;
    }
    void give(std::size_t bytes) noexcept { taken_.fetch_sub(bytes); }

  private:
    static std::size_t memory() noexcept {
        auto all = static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
        std::ifstream file("/sys/fs/cgroup/memory.max");  // of a container
        std::size_t most = 0;
        if (file >> most && most < all) all = most;
        return all;
    }
    const std::size_t limit_ = memory() / 2;
    std::atomic<std::size_t> taken_{0};
};
Allowance& allowance() {
    static Allowance one;
    return one;
}

// Memory for the weights of a model one behind the other, in large pages: a weight by itself fills few of those, and
// the processor fetches ahead only within a page (measured: 31 GB/s from large pages, 20 from scattered small ones).
class LargePages {
  public:
    // Throws std::bad_alloc.
    static std::shared_ptr<std::byte> take(std::size_t bytes) {
        static std::mutex mutex;
        static std::weak_ptr<LargePages> last;
        const std::lock_guard lock(mutex);
        bytes = (bytes + 127) / 128 * 128;
        std::shared_ptr<LargePages> pages = last.lock();
        if (!pages || pages->bytes_ - pages->used_ < bytes) last = pages = std::make_shared<LargePages>(bytes);
        std::byte* const start = pages->memory_ + pages->used_;
        pages->used_ += bytes;
        return {std::move(pages), start};
    }

    explicit LargePages(std::size_t least)
        : bytes_((std::max(least, usual) + page - 1) / page * page),
          memory_(static_cast<std::byte*>(::operator new(bytes_, std::align_val_t{page}))) {
        ::madvise(memory_, bytes_, MADV_HUGEPAGE);
    }
    ~LargePages() { ::operator delete(memory_, std::align_val_t{page}); }
    LargePages(const LargePages&) = delete;

  private:
    static constexpr std::size_t page = std::size_t{2} << 20, usual = 16 * page;
    std::size_t bytes_, used_ = 0;
    std::byte* memory_;
};

struct Interleaved final : SecondForm {
    Interleaved(Format f, std::size_t values, std::size_t byteCount)
        : format(f), k(values), bytes(byteCount), memory(LargePages::take(byteCount)) {}
    ~Interleaved() override { allowance().give(bytes); }

    Format format;
    std::size_t k, bytes;
    std::shared_ptr<std::byte> memory;
};

// Whole groups of the weight's rows. A part at a time, so that little is there twice at any moment.
std::unique_ptr<const Interleaved> make(const WeightRows& w, std::size_t k) {
    const std::size_t rowBytes = bytesOf(w.format, k), groups = w.slot->bytes() / rowBytes / 16;
    const std::size_t bytes = groups * 16 * rowBytes;
    if (groups == 0 || !allowance().take(bytes)) return nullptr;
    std::unique_ptr<Interleaved> form;
    try {
        form = std::make_unique<Interleaved>(w.format, k, bytes);
    } catch (const std::bad_alloc&) {
        allowance().give(bytes);
        return nullptr;
    }
    auto* to = form->memory.get();
    constexpr std::size_t partBytes = std::size_t{8} << 20;
    const std::size_t part = std::max<std::size_t>(1, partBytes / (16 * rowBytes));
    for (std::size_t first = 0; first < groups; first += part) {
        const std::size_t count = std::min(part, groups - first);
        parallelFor(count, std::max<std::size_t>(1, part / 32), [&](std::size_t begin, std::size_t end) {
            for (std::size_t i = first + begin; i < first + end; ++i)
                kernels::interleave(w.format, w.slot->data() + i * 16 * rowBytes, static_cast<std::ptrdiff_t>(rowBytes),
                                    k, to + i * 16 * rowBytes);
        });
        w.slot->giveBack(first * 16 * rowBytes, count * 16 * rowBytes);
    }
    return form;
}

}  // namespace

const std::byte* interleaved(const WeightRows& w, std::size_t n, std::size_t k, bool few) {
    if (!w.slot || !kernels::interleavedWanted(w.format)) return nullptr;
    const std::size_t rowBytes = bytesOf(w.format, k);
    if (w.rowBytes != static_cast<std::ptrdiff_t>(rowBytes)) return nullptr;
    const auto* form = static_cast<const Interleaved*>(w.slot->form());
    if (!form) {
        const std::size_t reading = atReading.load(std::memory_order_relaxed);
        // Part of a weight (an expert) is none of those that every token reads.
        if (!few || reading == 0 || w.data != w.slot->data() || n * rowBytes != w.slot->bytes()) return nullptr;
        if (w.slot->countReading() < reading) return nullptr;
        form = static_cast<const Interleaved*>(w.slot->formOr([&] { return make(w, k); }));
        if (!form) return nullptr;
    }
    const auto offset = static_cast<std::size_t>(w.data - w.slot->data());
    if (form->format != w.format || form->k != k || offset % (16 * rowBytes) != 0) return nullptr;
    return form->memory.get() + offset;
}

const std::byte* restoredRow(const WeightRows& row, std::size_t k, std::byte* rows) {
    const auto* form = row.slot ? static_cast<const Interleaved*>(row.slot->form()) : nullptr;
    if (!form || form->format != row.format || form->k != k) return nullptr;
    const std::size_t rowBytes = bytesOf(row.format, k), offset = static_cast<std::size_t>(row.data - row.slot->data());
    const std::size_t group = offset / (16 * rowBytes) * (16 * rowBytes);
    if (offset % rowBytes != 0 || group + 16 * rowBytes > form->bytes) return nullptr;
    kernels::restore(row.format, form->memory.get() + group, k, rows);
    return rows + (offset - group);
}

void interleaveAtReading(std::size_t reading) noexcept { atReading = reading; }

}  // namespace axial::erased
