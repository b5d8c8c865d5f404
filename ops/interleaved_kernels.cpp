#include "axial/ops/targets.h"
// After targets.h:
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "axial/ops/interleaved_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "axial/ops/interleaved_blocks-inl.h"
#include "axial/ops/interleaved_kernels.h"
#include "axial/ops/split_floats.h"

HWY_BEFORE_NAMESPACE();
namespace axial::kernels::HWY_NAMESPACE {

// The two bytes of each row's block that stand by themselves, all of a group behind its dwords.
template <class F>
HWY_INLINE void ForEachHalf(Format format, size_t k, const F& f) {
    const BlockCut cut = cutOf(format);
    if (cut.half == BlockCut::none) return;
    const size_t blocks = k / static_cast<size_t>(infoOf(format).blockElements);
    for (size_t b = 0; b < blocks; ++b)
        for (size_t r = 0; r < 16; ++r)
            f(r, b * static_cast<size_t>(infoOf(format).blockBytes) + cut.half,
              64 * blocks * cut.dwords + 32 * b + 2 * r);
}

void Interleave(Format format, const uint8_t* rows, ptrdiff_t rowBytes, size_t k, uint8_t* group) {
    const BlockCut cut = cutOf(format);
    const size_t blockBytes = static_cast<size_t>(infoOf(format).blockBytes), dwords = cut.dwords;
    const size_t blocks = k / static_cast<size_t>(infoOf(format).blockElements);
    for (size_t b = 0; b < blocks; ++b) {
        uint8_t* to = group + 64 * dwords * b;
#if HWY_TARGET == HWY_SCALAR
        for (size_t r = 0; r < 16; ++r)
            for (size_t u = 0; u < dwords; ++u)
                memcpy(to + 64 * u + 4 * r,
                       rows + static_cast<ptrdiff_t>(r) * rowBytes + b * blockBytes + cut.first + 4 * u, 4);
#else
        for (size_t r = 0; r < 16; r += lanes) {
            const uint8_t* first = rows + static_cast<ptrdiff_t>(r) * rowBytes + b * blockBytes + cut.first;
            const BlockRows w{first, rowBytes, 3 * rowBytes};
            const auto put = [&](VI v, size_t u) HWY_ATTR { hn::StoreU(Bytes(v), DB(), to + 64 * u + 4 * r); };
            size_t u = 0;
            for (; u + 4 <= dwords; u += 4) {
                VI v[4];
                Turn(w, 4 * u, v);
                for (size_t i = 0; i < 4; ++i) put(v[i], u + i);
            }
            for (; u < dwords; ++u) put(Dwords(w, 4 * u), u);
        }
#endif
    }
    ForEachHalf(format, k, [&](size_t r, size_t at, size_t to) {
        memcpy(group + to, rows + static_cast<ptrdiff_t>(r) * rowBytes + at, 2);
    });
}

void Restore(Format format, const uint8_t* group, size_t k, uint8_t* rows) {
    const BlockCut cut = cutOf(format);
    const size_t rowBytes = bytesOf(format, k), dwords = cut.dwords;
    const size_t blockBytes = static_cast<size_t>(infoOf(format).blockBytes);
    const size_t blocks = k / static_cast<size_t>(infoOf(format).blockElements);
    for (size_t b = 0; b < blocks; ++b) {
        const uint8_t* from = group + 64 * dwords * b;
        uint8_t* to = rows + b * blockBytes + cut.first;
        size_t u = 0;
#if HWY_TARGET != HWY_SCALAR
        for (; u + 4 <= dwords; u += 4)
            for (size_t r = 0; r < 16; r += lanes) {
                const hn::Full128<uint8_t> sixteen;
                VI v[4], turned[4];
                for (size_t i = 0; i < 4; ++i) v[i] = Bits(hn::LoadU(DB(), from + 64 * (u + i) + 4 * r));
                TurnFours(v, turned);
                for (size_t i = 0; i < 4; ++i) {
                    uint8_t* row = to + (r + i) * rowBytes + 4 * u;
#if HWY_MAX_BYTES >= 32
                    hn::StoreU(hn::LowerHalf(sixteen, Bytes(turned[i])), sixteen, row);
                    hn::StoreU(hn::UpperHalf(sixteen, Bytes(turned[i])), sixteen, row + 4 * rowBytes);
#else
                    hn::StoreU(Bytes(turned[i]), sixteen, row);
#endif
                }
            }
#endif
        for (; u < dwords; ++u)
            for (size_t r = 0; r < 16; ++r) memcpy(to + r * rowBytes + 4 * u, from + 64 * u + 4 * r, 4);
    }
    ForEachHalf(format, k, [&](size_t r, size_t to, size_t at) { memcpy(rows + r * rowBytes + to, group + at, 2); });
}

#if HWY_TARGET == HWY_AVX2
void DotInterleavedMadd(const BlockProduct& p) { InterleavedBy<Madd>(p); }
#endif
// Whether interleaved rows are met by what AVX2 has.
bool HasAVX2() { return HWY_TARGET == HWY_AVX2 || (HWY_TARGET == HWY_AVX3 && (HWY_TARGETS & HWY_AVX2) != 0); }

}  // namespace axial::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace axial::kernels {
HWY_EXPORT(Interleave);
HWY_EXPORT(Restore);
HWY_EXPORT(HasAVX2);

void interleave(Format format, const std::byte* rows, std::ptrdiff_t rowBytes, std::size_t k,
                std::byte* group) noexcept {
    if (infoOf(format).blockElements == 1) return interleaveHalves(rows, rowBytes, 16, k, group);
    HWY_DYNAMIC_DISPATCH(Interleave)
    (format, reinterpret_cast<const std::uint8_t*>(rows), rowBytes, k, reinterpret_cast<std::uint8_t*>(group));
}
void restore(Format format, const std::byte* group, std::size_t k, std::byte* rows) noexcept {
    if (infoOf(format).blockElements == 1) return restoreHalves(group, k, rows);
    HWY_DYNAMIC_DISPATCH(Restore)
    (format, reinterpret_cast<const std::uint8_t*>(group), k, reinterpret_cast<std::uint8_t*>(rows));
}

bool interleavedWanted(Format format) noexcept {
    if (splitWanted(format)) return true;
    if (cutOf(format).dwords == 0) return false;
    if (integerUnit() >= IntegerUnit::vnni) return infoOf(format).blockElements == 32 || superblocksWanted(format);
    return HWY_DYNAMIC_DISPATCH(HasAVX2)();
}

std::size_t mostInterleaved(Format format) noexcept {
    if (splitWanted(format)) return mostSplitAtReading;
    const bool small = infoOf(format).blockElements == 32;
    // With AMX, restored rows meet tiles, which take a fixed time for up to 16 rows of activations more (measured,
    // Q4_0: 16 rows 290 us, 28 as they stand 510, 17 to 32 restored 530; Q4_K: 32 rows 350 us, 33 restored 650).
    if (integerUnit() == IntegerUnit::amx) return small ? 28 : 64;
    if (integerUnit() == IntegerUnit::vnni) return small ? 16 : 32;
    // With AVX2, codes that are much to unpack are better unpacked once (measured: 16 rows of Q5_0 82 us instead of
    // 67).
    return small && format != Format::q5_0 && format != Format::q5_1 ? 16 : 8;
}

void dotInterleaved(const BlockProduct& product) noexcept {
    const IntegerUnit unit = integerUnit();
    if (unit >= IntegerUnit::vnni) return dotInterleavedVnni(product);
#if HWY_TARGETS & HWY_AVX2
    unit == IntegerUnit::avxVnni ? dotInterleavedAvxVnni(product) : N_AVX2::DotInterleavedMadd(product);
#endif
}

}  // namespace axial::kernels
#endif
