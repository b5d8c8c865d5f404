#include "axial/bench/memory.h"

#include <unistd.h>

#include <algorithm>
#include <string>

#include "axial/tensor/error.h"
#include "axial/tensor/parallel.h"

namespace axial::bench {
namespace {

constexpr std::size_t megabyte = std::size_t{1} << 20;

std::size_t sizeFor(std::size_t least) {
    const long lastCache = sysconf(_SC_LEVEL3_CACHE_SIZE);  // 0 or -1 where the system does not know
    const std::size_t wanted = 2 * static_cast<std::size_t>(std::max(0L, lastCache));
    const std::size_t half =
        static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) / 2 * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    if (least > half)
        throw ValueError("the operands of one call take " + std::to_string(least / megabyte) +
                         " MB, which is more than half of this machine's memory (" + std::to_string(half / megabyte) +
                         " MB)");
    return std::max(least, std::min(half, std::clamp(wanted, 256 * megabyte, 1024 * megabyte)));
}

// The generator of Steele, Lea and Flood 2014, "Fast splittable pseudorandom number generators": number i of its
// sequence.
std::uint64_t random(std::uint64_t i) {
    std::uint64_t x = (i + 1) * 0x9e3779b97f4a7c15ULL;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
}

// Each 16 bits are s0111eee xymmmmmm with y = not x: as a half 2^-1 or 2^0 and a fraction, as the upper part of a float
// 2^-15 to 2^0; a byte by itself is never an extreme power of two, as which MXFP4 reads its scales.
constexpr std::uint64_t of16(std::uint64_t x) { return x * 0x0001000100010001ULL; }
std::uint64_t ordinary(std::uint64_t x) { return (x & of16(0x87bf)) | of16(0x3800) | ((~x >> 1) & of16(0x0040)); }

}  // namespace

Memory::Memory(std::size_t least) : size_((sizeFor(least) + 127) / 128 * 128), buffer_(size_) {
    auto* words = static_cast<std::uint64_t*>(buffer_.data());
    parallelFor(size_ / 8, megabyte, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) words[i] = ordinary(random(i));
    });
}

Places::Places(const Memory& memory, std::size_t bytes, bool cached)
    : memory_(&memory),
      stride_(std::max<std::size_t>(128, (bytes + 127) / 128 * 128)),
      last_(memory.bytes().size() - std::min(memory.bytes().size(), stride_)),
      cached_(cached) {}

}  // namespace axial::bench
