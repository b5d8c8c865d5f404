// The plain definition of groupedAttention: what the kernels are tested against.
#pragma once
#include <cstddef>

namespace axial::plain {

struct Attention {
    std::size_t queries, keys, heads, kvHeads, channels;
    double scale;
    bool causal;
    std::size_t window;  // 0: none
};

// q and out are [query][head][channel], k and v are [key][kvHead][channel], bias is [head][query][key] or null.
void groupedAttention(const Attention& shape, float* out, const float* q, const float* k, const float* v,
                      const float* bias);

}  // namespace axial::plain
