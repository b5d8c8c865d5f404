// What this machine can do at most: how fast memory is read, and how many products of each kind are added up.
#pragma once
#include <array>
#include <cstddef>
#include <string_view>

#include "axial/bench/memory.h"

namespace axial::bench {

// The kinds of multiply-accumulate that kernels are made of.
enum class Product {
    float32,     // c += a b, fused where the instruction set can
    int16Pairs,  // products of two 16-bit numbers, added in pairs (pmaddwd), then to the sum
    bytesVnni,   // four products of bytes added to a sum at once (vpdpbusd)
    bytesAmx,    // tiles of them (tdpbssd)
};
inline constexpr std::size_t products = 4;

// What an op's products are of, which says by which instructions they could be computed.
enum class Arithmetic {
    float32,
    int8,   // codes of 8 bits with codes of 8 bits: any kind will do
    int16,  // codes of 16 bits with codes of 8 bits: any kind, but a product takes two of bytes, one for each half
};

struct ProductLimit {
    std::string_view name;
    double rate;  // multiply-accumulates a second
};

// Of a number of threads on an instruction set.
struct Limits {
    std::size_t threads;
    double readRate;                           // bytes a second
    std::array<double, products> productRate;  // by Product, in multiply-accumulates a second; 0 where there are none

    // The fastest that an arithmetic allows.
    ProductLimit productLimit(Arithmetic) const;
};
std::string_view nameOf(Product);

// Bytes a second that `threads` threads read together in long runs from the memory, at best of several rounds.
double measureReadRate(std::size_t threads, const Memory&);
// The other limits, on the instruction set that is in use (ops/instruction_set.h).
std::array<double, products> measureProductRates(std::size_t threads);

}  // namespace axial::bench
