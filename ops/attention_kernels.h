// Attention of some query rows over one block of keys; Highway code behind plain declarations.
#pragma once
#include <cstddef>

#include "axial/tensor/format.h"

namespace axial::kernels {

// Keys come in blocks of this many positions, counted from key 0. A row's softmax is formed block by block and the
// blocks are merged in their order, whatever else is computed beside the row: so its bits depend on nothing else.
inline constexpr std::size_t keyBlock = 256;
// So many keys or values are brought to floats at a time; they stay in the first-level cache while all rows use them.
inline constexpr std::size_t keyTile = 32;
// Rows of floats are padded with zeros to a multiple of this: a vector of the widest target.
inline constexpr std::size_t attentionPadding = 16;

// The keys, or the values, of one head.
struct HeadRows {
    const std::byte* data = nullptr;   // key 0, channel 0
    Format format = Format::f32;       // F32, F16 or Q8_0
    std::ptrdiff_t rowBytes = 0;       // from a key to the next
    std::ptrdiff_t channelStride = 1;  // in values; 1 for Q8_0
};

// Some rows, each a query of one of the heads that share these keys and values.
struct AttentionRows {
    std::size_t rows = 0;
    std::size_t channels = 0;
    std::size_t width = 0;               // channels, padded
    const float* q = nullptr;            // [rows][width]
    const std::size_t* begin = nullptr;  // row r sees the keys begin[r] ... end[r] - 1
    const std::size_t* end = nullptr;
    const float* const* bias = nullptr;  // added to row r's score of key j: bias[r][j * biasStride]; null: none
    std::ptrdiff_t biasStride = 0;
    float scale = 1;
    HeadRows k, v;
};

// What is known of each row after some blocks: the largest score, the sum of e^(score - largest), and the sum of
// e^(score - largest) times the value. Of no keys: minus infinity, 0 and zeros.
struct AttentionState {
    float* largest = nullptr;  // [rows]
    float* sum = nullptr;      // [rows]
    float* mixed = nullptr;    // [rows][width]
};

// The state of the keys firstKey ... endKey - 1, which are one block or the beginning of one. Scratch: `scores` is
// [rows][keyBlock], `tile` is [keyTile][width].
void attendBlock(const AttentionRows& rows, std::size_t firstKey, std::size_t endKey, const AttentionState& block,
                 float* scores, float* tile) noexcept;

void clearAttention(const AttentionRows& rows, const AttentionState& state) noexcept;
// state = the state of both.
void mergeAttention(const AttentionRows& rows, const AttentionState& state, const AttentionState& block) noexcept;
// mixed = mixed / sum; zeros for a row that sees nothing.
void finishAttention(const AttentionRows& rows, const AttentionState& state) noexcept;

}  // namespace axial::kernels
