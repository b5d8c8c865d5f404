// For each instruction set: keys and values as vectors of floats, straight from the format they are stored in or by way
// of a tile of floats. Included by kernel files only.
#if defined(AXIAL_OPS_ATTENTION_ROWS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef AXIAL_OPS_ATTENTION_ROWS_INL_H
#undef AXIAL_OPS_ATTENTION_ROWS_INL_H
#else
#define AXIAL_OPS_ATTENTION_ROWS_INL_H
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <cstring>

#include "axial/ops/attention_kernels.h"
#include "axial/tensor/half.h"

// Whether halves become floats by an instruction. Without it Highway's conversion takes infinities for large numbers:
// there it is done one by one.
#undef AXIAL_HALVES
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128 || HWY_TARGET == HWY_SSE4
#define AXIAL_HALVES 0
#else
#define AXIAL_HALVES 1
#endif

HWY_BEFORE_NAMESPACE();
namespace axial::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr size_t floatLanes = hn::MaxLanes(hn::ScalableTag<float>());

// Rows of floats, `stride` values apart. This and the next two give row j from channel `column` on, once it is
// prepared, as something that loads the floats from its channel c + i on and can be moved to the next row; column and c
// are multiples of `step`, and i is known to the compiler.
struct FloatRows {
    const float* data;
    ptrdiff_t stride;
    static constexpr size_t step = floatLanes;

    struct Row {
        const float* at;
        template <class D>
        HWY_INLINE hn::Vec<D> Load(D d, size_t c, size_t i) const {
            return hn::LoadU(d, at + c + i);
        }
    };
    HWY_INLINE void Prepare(size_t) const {}
    HWY_INLINE Row At(size_t j, size_t column = 0) const {
        return {data + static_cast<ptrdiff_t>(j) * stride + column};
    }
    HWY_INLINE void Next(Row& row) const { row.at += stride; }
};

#if AXIAL_HALVES
struct HalfRows {
    const std::byte* data;
    ptrdiff_t rowBytes;
    static constexpr size_t step = floatLanes;

    struct Row {
        const hwy::float16_t* at;
        template <class D>
        HWY_INLINE hn::Vec<D> Load(D d, size_t c, size_t i) const {
            return hn::PromoteTo(d, hn::LoadU(hn::Rebind<hwy::float16_t, D>(), at + c + i));
        }
    };
    HWY_INLINE void Prepare(size_t) const {}
    HWY_INLINE Row At(size_t j, size_t column = 0) const {
        return {reinterpret_cast<const hwy::float16_t*>(data + static_cast<ptrdiff_t>(j) * rowBytes) + column};
    }
    HWY_INLINE void Next(Row& row) const { row.at += rowBytes / 2; }
};
#endif

constexpr size_t q8Block = 32, q8Bytes = 34;

// The scales of a row of Q8_0.
HWY_INLINE void Q8Scales(const std::byte* row, size_t blocks, float* to) {
    const auto half = [row](size_t block) HWY_ATTR {
        uint16_t bits;
        std::memcpy(&bits, row + block * q8Bytes, 2);
        return bits;
    };
    size_t b = 0;
#if AXIAL_HALVES
    const hn::FixedTag<float, 4> d;
    for (; b + 4 <= blocks; b += 4) {
        const uint64_t four = half(b) | static_cast<uint64_t>(half(b + 1)) << 16 |
                              static_cast<uint64_t>(half(b + 2)) << 32 | static_cast<uint64_t>(half(b + 3)) << 48;
        const auto halves = hn::BitCast(hn::FixedTag<hwy::float16_t, 4>(), hn::Set(hn::FixedTag<uint64_t, 1>(), four));
        hn::StoreU(hn::PromoteTo(d, halves), d, to + b);
    }
#endif
    for (; b < blocks; ++b) to[b] = f16ToF32(half(b));
}

// A scale times a code has at most 19 bits: exact.
struct Q8Rows {
    const std::byte* data;
    ptrdiff_t rowBytes;
    float* scales;  // [row][blocks]
    size_t blocks;
    static constexpr size_t step = q8Block;

    struct Row {
        const std::byte* at;
        const float* scales;
        template <class D>
        HWY_INLINE hn::Vec<D> Load(D d, size_t c, size_t i) const {
            const std::byte* codes = at + (c + c / q8Block * 2) + (i / q8Block * q8Bytes + i % q8Block + 2);
            const auto integers = hn::PromoteTo(
                hn::RebindToSigned<D>(), hn::LoadU(hn::Rebind<int8_t, D>(), reinterpret_cast<const int8_t*>(codes)));
            return hn::Mul(hn::Set(d, scales[c / q8Block + i / q8Block]), hn::ConvertTo(d, integers));
        }
    };
    HWY_INLINE void Prepare(size_t j) const {
        Q8Scales(data + static_cast<ptrdiff_t>(j) * rowBytes, blocks, scales + j * blocks);
    }
    HWY_INLINE Row At(size_t j, size_t column = 0) const {
        return {data + static_cast<ptrdiff_t>(j) * rowBytes + column / q8Block * q8Bytes,
                scales + j * blocks + column / q8Block};
    }
    HWY_INLINE void Next(Row& row) const { row.at += rowBytes, row.scales += blocks; }
};

HWY_INLINE void HalvesToFloats(const std::byte* from, size_t n, float* to) {
    size_t i = 0;
#if AXIAL_HALVES
    const hn::ScalableTag<float> d;
    const HalfRows::Row row{reinterpret_cast<const hwy::float16_t*>(from)};
    for (; i + hn::Lanes(d) <= n; i += hn::Lanes(d)) hn::StoreU(row.Load(d, i, 0), d, to + i);
#endif
    for (; i < n; ++i) {
        uint16_t half;
        std::memcpy(&half, from + 2 * i, 2);
        to[i] = f16ToF32(half);
    }
}

HWY_INLINE void Q8ToFloats(const std::byte* from, size_t n, float* to) {
    const hn::ScalableTag<float> d;
    constexpr size_t most = 4;
    float scales[most];
    while (n > 0) {
        const size_t blocks = HWY_MIN(most, n / q8Block);
        Q8Scales(from, blocks, scales);
        const Q8Rows::Row row{from, scales};
        for (size_t c = 0; c < blocks * q8Block; c += q8Block)
            for (size_t i = 0; i < q8Block; i += hn::Lanes(d)) hn::StoreU(row.Load(d, c, i), d, to + c + i);
        from += blocks * q8Bytes, to += blocks * q8Block, n -= blocks * q8Block;
    }
}

// Asks memory for what comes some KB after a row: first the rows of one kind, then those of another. The machine's own
// prefetching stops at the end of each page.
struct Ahead {
    const std::byte *data = nullptr, *then = nullptr;
    ptrdiff_t rowBytes = 0, thenRowBytes = 0;
    size_t rows = 0;      // of the first kind
    size_t distance = 0;  // in rows
    size_t bytes = 0;     // of a row; 0: ask for nothing

    HWY_INLINE void Stop() { bytes = 0; }

    // For row j, or the part [begin, end) of it.
    HWY_INLINE void Fetch(size_t j, size_t begin, size_t end) const {
        const size_t at = j + distance;
        const std::byte* row = at < rows ? data + static_cast<ptrdiff_t>(at) * rowBytes
                                         : then + static_cast<ptrdiff_t>(at - rows) * thenRowBytes;
        for (size_t i = begin; i < end; i += 64) hwy::Prefetch(row + i);
    }
};
// Of rows that are there already.
struct NothingAhead {
    static constexpr size_t bytes = 0;
    HWY_INLINE void Stop() const {}
    HWY_INLINE void Fetch(size_t, size_t, size_t) const {}
};

// Keys (or values) first ... first + count - 1 as rows of floats with zeros behind the channels: where they are, if
// they are that already, else in `tile`.
HWY_INLINE FloatRows RowsAsFloats(const HeadRows& h, size_t first, size_t count, size_t channels, size_t width,
                                  float* tile, const Ahead& ahead) {
    const std::byte* from = h.data + static_cast<ptrdiff_t>(first) * h.rowBytes;
    if (h.format == Format::f32 && h.channelStride == 1 && channels == width)
        return {reinterpret_cast<const float*>(from), h.rowBytes / static_cast<ptrdiff_t>(sizeof(float))};
    float* to = tile;
    for (size_t j = 0; j < count; ++j, from += h.rowBytes, to += width) {
        ahead.Fetch(j, 0, ahead.bytes);
        if (h.format == Format::q8_0) {
            Q8ToFloats(from, channels, to);
        } else if (h.format == Format::f16) {
            if (h.channelStride == 1)
                HalvesToFloats(from, channels, to);
            else
                for (size_t c = 0; c < channels; ++c)
                    HalvesToFloats(from + 2 * static_cast<ptrdiff_t>(c) * h.channelStride, 1, to + c);
        } else {
            const float* x = reinterpret_cast<const float*>(from);
            for (size_t c = 0; c < channels; ++c) to[c] = x[static_cast<ptrdiff_t>(c) * h.channelStride];
        }
        for (size_t c = channels; c < width; ++c) to[c] = 0;
    }
    return {tile, static_cast<ptrdiff_t>(width)};
}

// f(rows) with keys (or values) first ... first + count - 1 as one of the above. `direct`: in the format they are
// stored in, where that can be. Scratch: `tile`, as above.
template <class F>
HWY_INLINE void WithRows(const HeadRows& h, size_t first, size_t count, size_t channels, size_t width, bool direct,
                         float* tile, const Ahead& ahead, F&& f) {
    [[maybe_unused]] const std::byte* from = h.data + static_cast<ptrdiff_t>(first) * h.rowBytes;
    [[maybe_unused]] const bool asStored = direct && h.channelStride == 1 && channels == width;
#if AXIAL_HALVES
    if (asStored && h.format == Format::f16) return f(HalfRows{from, h.rowBytes}, ahead);
#endif
#if HWY_MAX_BYTES >= 32
    if (asStored && h.format == Format::q8_0) return f(Q8Rows{from, h.rowBytes, tile, channels / q8Block}, ahead);
#endif
    f(RowsAsFloats(h, first, count, channels, width, tile, ahead), NothingAhead());
}

}  // namespace axial::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
