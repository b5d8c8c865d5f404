#include "axial/tensor/form_slot.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

#include "axial/tensor/stored.h"

namespace axial {

void FormSlot::giveBack(std::size_t offset, std::size_t bytes) const noexcept {
    if (origin_ != Origin::onDisk) return;
    // whole pages only: the others hold bytes of the weights beside this one
    const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
    const auto begin = reinterpret_cast<std::uintptr_t>(data_) + offset, end = begin + bytes;
    const std::uintptr_t first = (begin + page - 1) / page * page, last = end / page * page;
    if (last <= first) return;
    void* const start = reinterpret_cast<void*>(first);
#ifdef MADV_NOHUGEPAGE
    ::madvise(start, last - first, MADV_NOHUGEPAGE);  // else touching a small weight in between brings 2 MB back
#endif
    ::madvise(start, last - first, MADV_DONTNEED);
}

std::shared_ptr<FormSlot> detail::formSlot(const TensorRef& weight, Origin origin) {
    if (origin == Origin::writable) return nullptr;
    return std::make_shared<FormSlot>(weight.data, bytesOf(weight.format, weight.size()), origin);
}

}  // namespace axial
