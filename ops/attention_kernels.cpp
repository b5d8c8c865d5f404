#include "axial/ops/attention_kernels.h"

#include "axial/ops/targets.h"
// After targets.h:
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "axial/ops/attention_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cstring>

#include "axial/ops/attention_rows-inl.h"
#include "axial/ops/exp-inl.h"

#define AXIAL_UNROLL _Pragma("GCC unroll 8")

// GCC turns a vector that several multiply-adds use into a load for each of them, which makes 512-bit loops wait for
// loads. This keeps it in its register.
#undef AXIAL_KEEP
#if HWY_COMPILER_GCC_ACTUAL && HWY_TARGET == HWY_AVX3
#define AXIAL_KEEP(vector) asm("" : "+v"((vector).raw))
#else
#define AXIAL_KEEP(vector) static_cast<void>(vector)
#endif

HWY_BEFORE_NAMESPACE();
namespace axial::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

constexpr float none = -__builtin_inff();

// So many rows are computed together, at most: each row more takes registers, and saves loads.
constexpr size_t mostRows = HWY_TARGET == HWY_AVX3 ? 4 : 3;

// Few rows meet keys and values in the format they are stored in; for more of them these pay to be brought to floats
// once. Measured for 1 to 16 rows of 128 channels.
HWY_INLINE bool MeetsDirectly(const HeadRows& h, size_t rows) {
    return rows <= (h.format == Format::f16 ? 2 * mostRows : mostRows);
}

// The lanes of each of four vectors added up, always in the same tree; to[0 ... 3].
HWY_INLINE void StoreFourSums(V a, V b, V c, V e, float* to) {
    const D d;
#if HWY_TARGET == HWY_SCALAR
    (void)d;
    to[0] = hn::GetLane(a), to[1] = hn::GetLane(b), to[2] = hn::GetLane(c), to[3] = hn::GetLane(e);
#else
    // in each group of four lanes: a0+a2 b0+b2 a1+a3 b1+b3, and so on
    const hn::Repartition<uint64_t, D> d64;
    const V ab = hn::Add(hn::InterleaveLower(d, a, b), hn::InterleaveUpper(d, a, b));
    const V ce = hn::Add(hn::InterleaveLower(d, c, e), hn::InterleaveUpper(d, c, e));
    const V lower = hn::BitCast(d, hn::InterleaveLower(d64, hn::BitCast(d64, ab), hn::BitCast(d64, ce)));
    const V upper = hn::BitCast(d, hn::InterleaveUpper(d64, hn::BitCast(d64, ab), hn::BitCast(d64, ce)));
    const V sums = hn::Add(lower, upper);  // a b c e of each group
#if HWY_MAX_BYTES == 16
    hn::StoreU(sums, d, to);
#elif HWY_MAX_BYTES == 32
    const hn::Half<D> dh;
    hn::StoreU(hn::Add(hn::LowerHalf(dh, sums), hn::UpperHalf(dh, sums)), dh, to);
#else
    const hn::Half<D> dh;
    const hn::Half<decltype(dh)> dq;
    const auto half = hn::Add(hn::LowerHalf(dh, sums), hn::UpperHalf(dh, sums));
    hn::StoreU(hn::Add(hn::LowerHalf(dq, half), hn::UpperHalf(dq, half)), dq, to);
#endif
#endif
}

// The products of R query rows with keys j ... j + 3. Lane i of a vector adds up the channels i, i + lanes, ... in
// order.
template <int R, class Rows>
HWY_INLINE void FourKeys(const float* q, size_t width, const Rows& k, size_t j, size_t keys, float* scores) {
    const D d;
    const typename Rows::Row key[4] = {k.At(j), k.At(HWY_MIN(j + 1, keys - 1)), k.At(HWY_MIN(j + 2, keys - 1)),
                                       k.At(HWY_MIN(j + 3, keys - 1))};
    V sum[R][4];
    AXIAL_UNROLL
    for (int r = 0; r < R; ++r) {
        AXIAL_UNROLL
        for (int i = 0; i < 4; ++i) sum[r][i] = hn::Zero(d);
    }
    for (size_t c = 0; c < width; c += Rows::step) {
        AXIAL_UNROLL
        for (size_t step = 0; step < Rows::step; step += hn::Lanes(d)) {
            V x[R];
            AXIAL_UNROLL
            for (int r = 0; r < R; ++r) x[r] = hn::LoadU(d, q + static_cast<size_t>(r) * width + c + step);
            AXIAL_UNROLL
            for (int i = 0; i < 4; ++i) {
                V y = key[i].Load(d, c, step);
                AXIAL_KEEP(y);
                AXIAL_UNROLL
                for (int r = 0; r < R; ++r) sum[r][i] = hn::MulAdd(x[r], y, sum[r][i]);
            }
        }
    }
    AXIAL_UNROLL
    for (int r = 0; r < R; ++r) StoreFourSums(sum[r][0], sum[r][1], sum[r][2], sum[r][3], scores + r * keyBlock + j);
}

// scores[r][j] for R rows and the keys of a tile, rounded up to fours.
template <int R, class Rows, class Asked>
HWY_INLINE void TileScores(const float* q, size_t width, const Rows& k, size_t keys, float* scores,
                           const Asked& ahead) {
    for (size_t j = 0; j < keys; j += 4) {
        for (size_t i = j; i < j + 4; ++i) ahead.Fetch(i, 0, ahead.bytes);
        for (size_t i = j; i < HWY_MIN(j + 4, keys); ++i) k.Prepare(i);
        FourKeys<R>(q, width, k, j, keys, scores);
    }
}

// mixed[r] += weights[r][j] * v[j], j in order, for R rows and W vectors of channels from `column` on.
template <int R, int W, class Rows, class Asked>
HWY_INLINE void MixColumns(const float* weights, size_t begin, size_t end, const Rows& v, size_t column, float* mixed,
                           size_t width, const Asked& ahead) {
    const D d;
    const size_t lanes = hn::Lanes(d);
    const size_t fetchBegin = ahead.bytes * column / width, fetchEnd = ahead.bytes * (column + W * lanes) / width;
    mixed += column;
    V sum[R][W];
    AXIAL_UNROLL
    for (int r = 0; r < R; ++r) {
        AXIAL_UNROLL
        for (int w = 0; w < W; ++w) sum[r][w] = hn::LoadU(d, mixed + static_cast<size_t>(r) * width + w * lanes);
    }
    typename Rows::Row row = v.At(begin, column);
    for (size_t j = begin; j < end; ++j, v.Next(row)) {
        ahead.Fetch(j, fetchBegin, fetchEnd);
        if (column == 0) v.Prepare(j);
        V p[R];
        AXIAL_UNROLL
        for (int r = 0; r < R; ++r) p[r] = hn::Set(d, weights[r * keyBlock + j]);
        AXIAL_UNROLL
        for (int w = 0; w < W; ++w) {
            V x = row.Load(d, 0, w * lanes);
            AXIAL_KEEP(x);
            AXIAL_UNROLL
            for (int r = 0; r < R; ++r) sum[r][w] = hn::MulAdd(p[r], x, sum[r][w]);
        }
    }
    AXIAL_UNROLL
    for (int r = 0; r < R; ++r) {
        AXIAL_UNROLL
        for (int w = 0; w < W; ++w) hn::StoreU(sum[r][w], d, mixed + static_cast<size_t>(r) * width + w * lanes);
    }
}
template <int R, int W, class Rows, class Asked>
HWY_INLINE void MixFrom(size_t column, const float* weights, size_t begin, size_t end, const Rows& v, float* mixed,
                        size_t width, const Asked& ahead) {
    const size_t lanes = hn::Lanes(D());
    for (; column + W * lanes <= width; column += W * lanes)
        MixColumns<R, W>(weights, begin, end, v, column, mixed, width, ahead);
    if constexpr (W / 2 * floatLanes >= Rows::step)
        if (column < width) MixFrom<R, W / 2>(column, weights, begin, end, v, mixed, width, ahead);
}
template <int R, class Rows, class Asked>
HWY_INLINE void Mix(const float* weights, size_t begin, size_t end, const Rows& v, float* mixed, size_t width,
                    const Asked& ahead) {
    constexpr int most = R == 1 || (HWY_TARGET == HWY_AVX3 && R <= 3) ? 8 : 4;
    MixFrom<R, most>(0, weights, begin, end, v, mixed, width, ahead);
}

// A row's scores to weights e^(score - largest), in place. Outside of what the row sees, up to whole vectors, they
// become 0. `from` and `to` are counted from the block's first key; lane i has the keys i, i + lanes, ... of the block.
HWY_INLINE void Weights(float* s, size_t from, size_t to, float scale, const float* bias, ptrdiff_t biasStride,
                        float* largest, float* sum) {
    const D d;
    const size_t lanes = hn::Lanes(d);
    const size_t first = from / attentionPadding * attentionPadding;
    const size_t last = (to + attentionPadding - 1) / attentionPadding * attentionPadding;
    for (size_t j = first; j < from; ++j) s[j] = 0;
    for (size_t j = to; j < last; ++j) s[j] = 0;
    const V factor = hn::Set(d, scale);
    for (size_t j = first; j < last; j += lanes) hn::StoreU(hn::Mul(hn::LoadU(d, s + j), factor), d, s + j);
    if (bias != nullptr)
        for (size_t j = from; j < to; ++j) s[j] += bias[static_cast<ptrdiff_t>(j) * biasStride];
    for (size_t j = first; j < from; ++j) s[j] = none;
    for (size_t j = to; j < last; ++j) s[j] = none;
    V top = hn::Set(d, none);
    for (size_t j = first; j < last; j += lanes) top = hn::Max(top, hn::LoadU(d, s + j));
    const float most = hn::GetLane(hn::MaxOfLanes(d, top));
    const V shift = hn::Set(d, most == none ? 0.0f : most);
    V total = hn::Zero(d);
    for (size_t j = first; j < last; j += lanes) {
        const V weight = ExpNonPositive(d, hn::Sub(hn::LoadU(d, s + j), shift));
        hn::StoreU(weight, d, s + j);
        total = hn::Add(total, weight);
    }
    *largest = most;
    *sum = hn::GetLane(hn::SumOfLanes(d, total));
}

// Row r sees from[r] ... to[r] - 1 of the keys first ... end - 1, counted from `first`.
struct Seen {
    size_t from, to;
};
HWY_INLINE Seen SeenBy(const AttentionRows& a, size_t r, size_t first, size_t end) {
    const size_t from = HWY_MAX(a.begin[r], first), to = HWY_MIN(a.end[r], end);
    return from < to ? Seen{from - first, to - first} : Seen{0, 0};
}

template <int R, class Rows, class Asked>
HWY_INLINE void ScoreRows(const AttentionRows& a, size_t r, size_t first, size_t end, const Rows& k, float* scores,
                          const Asked& ahead) {
    bool seen = false;
    for (size_t i = 0; i < R; ++i) seen = seen || SeenBy(a, r + i, first, end).to != 0;
    if (seen) TileScores<R>(a.q + r * a.width, a.width, k, end - first, scores + r * keyBlock, ahead);
}

// R rows take the keys that all of them see together, and each its own before and after.
template <int R, class Rows, class Asked>
HWY_INLINE void MixRows(const AttentionRows& a, size_t r, size_t first, size_t end, const Rows& v, const float* weights,
                        float* mixed, const Asked& ahead) {
    weights += r * keyBlock;
    mixed += r * a.width;
    Seen seen[R];
    size_t from = 0, to = keyTile;
    for (size_t i = 0; i < R; ++i) {
        seen[i] = SeenBy(a, r + i, first, end);
        from = HWY_MAX(from, seen[i].from);
        to = HWY_MIN(to, seen[i].to);
    }
    const auto alone = [&](size_t i, size_t begin, size_t stop) HWY_ATTR {
        if (begin < stop) Mix<1>(weights + i * keyBlock, begin, stop, v, mixed + i * a.width, a.width, NothingAhead());
    };
    if (from >= to) {
        for (size_t i = 0; i < R; ++i) alone(i, seen[i].from, seen[i].to);
        return;
    }
    for (size_t i = 0; i < R; ++i) alone(i, seen[i].from, from);
    Mix<R>(weights, from, to, v, mixed, a.width, ahead);
    for (size_t i = 0; i < R; ++i) alone(i, to, seen[i].to);
}

// What comes after the rows of `from` from key `first` on: at `endKey` follow those of `then` from `thenFirst` on.
HWY_INLINE Ahead AheadOf(const AttentionRows& a, const HeadRows& from, size_t first, size_t endKey,
                         const HeadRows& then, size_t thenFirst) {
    constexpr size_t distance = 2048;
    const size_t bytes = bytesOf(from.format, a.channels);
    return {from.data + static_cast<ptrdiff_t>(first) * from.rowBytes,
            then.data + static_cast<ptrdiff_t>(thenFirst) * then.rowBytes,
            from.rowBytes,
            then.rowBytes,
            endKey - first,
            HWY_MAX(1, distance / HWY_MAX(1, bytes)),
            bytes};
}

void AttendBlock(const AttentionRows& a, size_t firstKey, size_t endKey, const AttentionState& block, float* scores,
                 float* tile) {
    const size_t width = a.width;
    const bool directK = MeetsDirectly(a.k, a.rows), directV = MeetsDirectly(a.v, a.rows);
    // With several groups of rows less is waited for at a time: memory is asked while the first of them is computed.
    const size_t step = a.rows > mostRows && a.rows <= 4 * mostRows ? keyTile / 2 : keyTile;
    for (size_t first = firstKey; first < endKey; first += step) {
        const size_t end = HWY_MIN(first + step, endKey);
        const Ahead ahead = AheadOf(a, a.k, first, endKey, a.v, firstKey);
        float* s = scores + (first - firstKey);
        WithRows(a.k, first, end - first, a.channels, width, directK, tile, ahead,
                 [&](const auto& k, auto asked) HWY_ATTR {
                     size_t r = 0;
                     for (; r + mostRows <= a.rows; r += mostRows, asked.Stop())
                         ScoreRows<mostRows>(a, r, first, end, k, s, asked);
                     if (mostRows == 4 && a.rows - r == 3) ScoreRows<3>(a, r, first, end, k, s, asked);
                     if (a.rows - r == 2) ScoreRows<2>(a, r, first, end, k, s, asked);
                     if (a.rows - r == 1) ScoreRows<1>(a, r, first, end, k, s, asked);
                 });
    }
    for (size_t r = 0; r < a.rows; ++r) {
        for (size_t c = 0; c < width; ++c) block.mixed[r * width + c] = 0;
        block.largest[r] = none;
        block.sum[r] = 0;
        const Seen seen = SeenBy(a, r, firstKey, endKey);
        if (seen.to == 0) continue;
        const float* bias = a.bias != nullptr ? a.bias[r] + static_cast<ptrdiff_t>(firstKey) * a.biasStride : nullptr;
        Weights(scores + r * keyBlock, seen.from, seen.to, a.scale, bias, a.biasStride, block.largest + r,
                block.sum + r);
    }
    for (size_t first = firstKey; first < endKey; first += step) {
        const size_t end = HWY_MIN(first + step, endKey);
        const Ahead ahead = AheadOf(a, a.v, first, endKey, a.k, firstKey + keyBlock);
        const float* weights = scores + (first - firstKey);
        WithRows(a.v, first, end - first, a.channels, width, directV, tile, ahead,
                 [&](const auto& v, auto asked) HWY_ATTR {
                     size_t r = 0;
                     for (; r + mostRows <= a.rows; r += mostRows, asked.Stop())
                         MixRows<mostRows>(a, r, first, end, v, weights, block.mixed, asked);
                     if (mostRows == 4 && a.rows - r == 3) MixRows<3>(a, r, first, end, v, weights, block.mixed, asked);
                     if (a.rows - r == 2) MixRows<2>(a, r, first, end, v, weights, block.mixed, asked);
                     if (a.rows - r == 1) MixRows<1>(a, r, first, end, v, weights, block.mixed, asked);
                 });
    }
}

void MergeAttention(const AttentionRows& a, const AttentionState& state, const AttentionState& block) {
    const D d;
    for (size_t r = 0; r < a.rows; ++r) {
        if (block.sum[r] == 0) continue;  // nothing to be seen in this block
        const V before = hn::Set(d, state.largest[r]), added = hn::Set(d, block.largest[r]);
        const V top = hn::Max(before, added);
        const V keep = ExpNonPositive(d, hn::Sub(before, top)), take = ExpNonPositive(d, hn::Sub(added, top));
        state.largest[r] = hn::GetLane(top);
        state.sum[r] = hn::GetLane(hn::MulAdd(hn::Set(d, state.sum[r]), keep, hn::Mul(hn::Set(d, block.sum[r]), take)));
        float* to = state.mixed + r * a.width;
        const float* from = block.mixed + r * a.width;
        for (size_t c = 0; c < a.width; c += hn::Lanes(d))
            hn::StoreU(hn::MulAdd(hn::LoadU(d, to + c), keep, hn::Mul(hn::LoadU(d, from + c), take)), d, to + c);
    }
}

void FinishAttention(const AttentionRows& a, const AttentionState& state) {
    const D d;
    for (size_t r = 0; r < a.rows; ++r) {
        float* row = state.mixed + r * a.width;
        const V sum = hn::Set(d, state.sum[r]);
        for (size_t c = 0; c < a.width; c += hn::Lanes(d)) {
            const V x = hn::LoadU(d, row + c);
            hn::StoreU(state.sum[r] == 0 ? hn::Zero(d) : hn::Div(x, sum), d, row + c);
        }
    }
}

}  // namespace axial::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace axial::kernels {

HWY_EXPORT(AttendBlock);
HWY_EXPORT(MergeAttention);
HWY_EXPORT(FinishAttention);

void attendBlock(const AttentionRows& rows, std::size_t firstKey, std::size_t endKey, const AttentionState& block,
                 float* scores, float* tile) noexcept {
    HWY_DYNAMIC_DISPATCH(AttendBlock)(rows, firstKey, endKey, block, scores, tile);
}
void clearAttention(const AttentionRows& rows, const AttentionState& state) noexcept {
    for (std::size_t r = 0; r < rows.rows; ++r) state.largest[r] = -__builtin_inff(), state.sum[r] = 0;
    std::memset(state.mixed, 0, rows.rows * rows.width * sizeof(float));
}
void mergeAttention(const AttentionRows& rows, const AttentionState& state, const AttentionState& block) noexcept {
    HWY_DYNAMIC_DISPATCH(MergeAttention)(rows, state, block);
}
void finishAttention(const AttentionRows& rows, const AttentionState& state) noexcept {
    HWY_DYNAMIC_DISPATCH(FinishAttention)(rows, state);
}

}  // namespace axial::kernels
#endif
