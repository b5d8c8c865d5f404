// For each instruction set: asking memory early for the rows of weights that come next. Included by kernel files only.
#if defined(AXIAL_OPS_FETCH_AHEAD_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef AXIAL_OPS_FETCH_AHEAD_INL_H
#undef AXIAL_OPS_FETCH_AHEAD_INL_H
#else
#define AXIAL_OPS_FETCH_AHEAD_INL_H
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace axial::kernels::HWY_NAMESPACE {

// Asks for what comes 2 KB after a row: computing on it takes about as long as memory does. The machine's own prefetching
// stops at the end of each page. Measured on a server with 25 GB/s of memory, two threads, VNNI: Q4_K 11.4 to 16.4 GB/s,
// Q8_0 17 to 21; half or twice the distance gives less.
HWY_INLINE void FetchAhead(const uint8_t* row, ptrdiff_t bytes) {
    for (ptrdiff_t i = 0; i < bytes; i += 64) hwy::Prefetch(row + 2048 + i);
}

}  // namespace axial::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
