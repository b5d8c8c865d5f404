#include "axial/ops/attention.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <vector>

#include "axial/ops/attention_kernels.h"
#include "axial/ops/rows.h"
#include "axial/ops/work.h"
#include "axial/tensor/error.h"
#include "axial/tensor/observe.h"

namespace axial::erased {
namespace {

constexpr std::string_view op = "groupedAttention";

// So many rows (a query of one head each) are computed together: enough to use each key brought to floats many times,
// few enough to stay in the second-level cache.
constexpr std::size_t rowsPerTile = 96;
// Below so many multiplications the work is done by the calling thread: some 10 microseconds.
constexpr std::size_t smallWork = std::size_t{1} << 17;
// Bytes that the states of single blocks may take, when a unit's blocks are computed side by side.
constexpr std::size_t mostPartials = std::size_t{32} << 20;

// One call: its operands in the kernels' axis order, and how it is cut. A unit is some queries of the heads of one
// kvHead; its rows are [query, head of the group].
struct Call {
    TensorRef q, k, v, bias,
        out;  // [batch.., seq, head, channel], [batch.., key, kvHead, channel], [batch.., head, seq, key]
    bool biased = false;
    float scale = 1;
    bool causal = true;
    std::size_t window = 0;

    std::size_t batchRank = 0, batches = 1;
    std::size_t queries = 0, keys = 0, heads = 0, kvHeads = 0, group = 0, channels = 0, width = 0;
    std::size_t queriesPerUnit = 0, tiles = 0, units = 0;

    std::size_t maxRows() const { return queriesPerUnit * group; }
    // The keys that a query sees.
    std::size_t begin(std::size_t query) const {
        const std::size_t seen = keys - queries + query + 1;
        return window != 0 && seen > window ? seen - window : 0;
    }
    std::size_t end(std::size_t query) const { return causal ? keys - queries + query + 1 : keys; }
};

struct Unit {
    std::size_t batch, kvHead, firstQuery, queries;
};
// The last queries of a causal call see the most keys: they come first, so that no thread is left with them at the end.
Unit unitOf(const Call& c, std::size_t index) {
    const std::size_t tile = c.tiles - 1 - index / (c.batches * c.kvHeads), rest = index % (c.batches * c.kvHeads);
    const std::size_t first = tile * c.queriesPerUnit;
    return {rest / c.kvHeads, rest % c.kvHeads, first, std::min(c.queriesPerUnit, c.queries - first)};
}

std::ptrdiff_t batchOffset(const TensorRef& r, const Call& c, std::size_t batch) {
    std::ptrdiff_t offset = 0;
    for (std::size_t i = c.batchRank; i-- > 0;) {
        offset += static_cast<std::ptrdiff_t>(batch % c.q.extent[i]) * r.stride[i];
        batch /= c.q.extent[i];
    }
    return offset;
}

// The byte offset of a value; block formats are addressed at whole blocks only.
std::ptrdiff_t bytesAt(const TensorRef& r, std::ptrdiff_t element) {
    const FormatInfo& info = infoOf(r.format);
    return element / info.blockElements * info.blockBytes;
}
kernels::HeadRows headRows(const TensorRef& r, const Call& c, const Unit& u) {
    const std::size_t key = c.batchRank, head = key + 1, channel = key + 2;
    kernels::HeadRows rows;
    rows.data = static_cast<const std::byte*>(r.data) +
                bytesAt(r, batchOffset(r, c, u.batch) + static_cast<std::ptrdiff_t>(u.kvHead) * r.stride[head]);
    rows.format = r.format;
    rows.rowBytes = bytesAt(r, r.stride[key]);
    rows.channelStride = r.extent[channel] <= 1 ? 1 : r.stride[channel];
    return rows;
}

// What a thread needs to work on one unit, cut from one buffer.
struct Scratch {
    float *q, *scores, *tile;
    kernels::AttentionState state, block;
    std::size_t *begin, *end;
    const float** bias;

    static std::size_t stateFloats(const Call& c) { return c.maxRows() * (2 + c.width); }
    static kernels::AttentionState stateAt(float* at, const Call& c) {
        return {at + c.maxRows() * c.width, at + c.maxRows() * (c.width + 1), at};
    }
    static std::size_t bytes(const Call& c) {
        const std::size_t floats =
            c.maxRows() * (c.width + kernels::keyBlock) + kernels::keyTile * c.width + 2 * stateFloats(c);
        return (floats * sizeof(float) + c.maxRows() * 3 * sizeof(std::size_t) + 127) / 128 * 128 + 128;
    }
    Scratch(std::byte* at, const Call& c) {
        begin = reinterpret_cast<std::size_t*>(at);
        end = begin + c.maxRows();
        bias = reinterpret_cast<const float**>(end + c.maxRows());
        std::byte* aligned = at + (c.maxRows() * 3 * sizeof(std::size_t) + 63) / 64 * 64;
        q = reinterpret_cast<float*>(aligned);
        tile = q + c.maxRows() * c.width;
        scores = tile + kernels::keyTile * c.width;
        float* states = scores + c.maxRows() * kernels::keyBlock;
        state = stateAt(states, c);
        block = stateAt(states + stateFloats(c), c);
    }
};

void copyChannels(const float* from, std::ptrdiff_t fromStride, float* to, std::ptrdiff_t toStride, std::size_t n) {
    if (fromStride == 1 && toStride == 1) return static_cast<void>(std::copy_n(from, n, to));
    for (std::size_t i = 0; i < n; ++i, from += fromStride, to += toStride) *to = *from;
}

// Describes the unit's rows to the kernels, with its queries as dense padded rows.
kernels::AttentionRows gather(const Call& c, const Unit& u, const Scratch& s) {
    const std::size_t b = c.batchRank;
    const float* q = floats(c.q) + batchOffset(c.q, c, u.batch);
    std::size_t r = 0;
    for (std::size_t i = 0; i < u.queries; ++i) {
        const std::size_t query = u.firstQuery + i;
        for (std::size_t g = 0; g < c.group; ++g, ++r) {
            const std::size_t head = u.kvHead * c.group + g;
            const float* from = q + static_cast<std::ptrdiff_t>(query) * c.q.stride[b] +
                                static_cast<std::ptrdiff_t>(head) * c.q.stride[b + 1];
            float* to = s.q + r * c.width;
            copyChannels(from, c.q.stride[b + 2], to, 1, c.channels);
            std::fill(to + c.channels, to + c.width, 0.0f);
            s.begin[r] = c.begin(query);
            s.end[r] = c.end(query);
            if (c.biased)
                s.bias[r] = floats(c.bias) + batchOffset(c.bias, c, u.batch) +
                            static_cast<std::ptrdiff_t>(head) * c.bias.stride[b] +
                            static_cast<std::ptrdiff_t>(query) * c.bias.stride[b + 1];
        }
    }
    kernels::AttentionRows rows;
    rows.rows = r;
    rows.channels = c.channels;
    rows.width = c.width;
    rows.q = s.q;
    rows.begin = s.begin;
    rows.end = s.end;
    rows.bias = c.biased ? s.bias : nullptr;
    rows.biasStride = c.biased ? c.bias.stride[b + 2] : 0;
    rows.scale = c.scale;
    rows.k = headRows(c.k, c, u);
    rows.v = headRows(c.v, c, u);
    return rows;
}

void scatter(const Call& c, const Unit& u, const kernels::AttentionState& state) {
    const std::size_t b = c.batchRank;
    float* out = floats(c.out) + batchOffset(c.out, c, u.batch);
    std::size_t r = 0;
    for (std::size_t i = 0; i < u.queries; ++i)
        for (std::size_t g = 0; g < c.group; ++g, ++r) {
            float* to = out + static_cast<std::ptrdiff_t>(u.firstQuery + i) * c.out.stride[b] +
                        static_cast<std::ptrdiff_t>(u.kvHead * c.group + g) * c.out.stride[b + 1];
            copyChannels(state.mixed + r * c.width, 1, to, c.out.stride[b + 2], c.channels);
        }
}

struct Blocks {
    std::size_t first, last;  // last: one past
};
Blocks blocksOf(const Call& c, const Unit& u) {
    const std::size_t begin = c.begin(u.firstQuery), end = c.end(u.firstQuery + u.queries - 1);
    return {begin / kernels::keyBlock, (end + kernels::keyBlock - 1) / kernels::keyBlock};
}
void attend(const Call& c, const Unit& u, const kernels::AttentionRows& rows, std::size_t block,
            const kernels::AttentionState& into, const Scratch& s) {
    const std::size_t first = block * kernels::keyBlock;
    const std::size_t end = std::min(first + kernels::keyBlock, c.end(u.firstQuery + u.queries - 1));
    kernels::attendBlock(rows, first, end, into, s.scores, s.tile);
}

void wholeUnit(const Call& c, std::size_t index, const Scratch& s) {
    const Unit u = unitOf(c, index);
    const kernels::AttentionRows rows = gather(c, u, s);
    kernels::clearAttention(rows, s.state);
    const Blocks blocks = blocksOf(c, u);
    for (std::size_t block = blocks.first; block < blocks.last; ++block) {
        attend(c, u, rows, block, s.block, s);
        kernels::mergeAttention(rows, s.state, s.block);
    }
    kernels::finishAttention(rows, s.state);
    scatter(c, u, s.state);
}

// Hands tasks 0 ... tasks - 1 to `workers` threads, each with a scratch of its own.
template <class F>
void shareOut(std::size_t workers, std::size_t tasks, const Call& c, std::byte* scratch, F&& task) {
    std::atomic<std::size_t> next{0};
    auto work = [&](std::size_t worker) {
        const Scratch mine(scratch + worker * Scratch::bytes(c), c);
        for (std::size_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < tasks;) task(i, mine);
    };
    if (workers == 1) return work(0);
    currentTeam().run(workers, work);
}

// Few units and many keys, as in decoding: the blocks of a unit are computed side by side, and whoever is done with the
// last of them merges them in their order, by the same operations as in wholeUnit.
void byBlocks(const Call& c, std::size_t workers, std::byte* scratch) {
    const std::size_t blocks = (c.keys + kernels::keyBlock - 1) / kernels::keyBlock;
    const std::size_t size = Scratch::stateFloats(c);
    const Buffer partial(c.units * blocks * size * sizeof(float));
    float* const states = static_cast<float*>(partial.data());
    std::vector<std::atomic<std::size_t>> done(c.units);
    shareOut(workers, c.units * blocks, c, scratch, [&](std::size_t i, const Scratch& s) {
        const Unit u = unitOf(c, i / blocks);
        const kernels::AttentionRows rows = gather(c, u, s);
        const auto stateOf = [&](std::size_t block) {
            return Scratch::stateAt(states + (i / blocks * blocks + block) * size, c);
        };
        const Blocks range = blocksOf(c, u);
        const std::size_t block = i % blocks;
        if (block >= range.first && block < range.last) attend(c, u, rows, block, stateOf(block), s);
        if (done[i / blocks].fetch_add(1, std::memory_order_acq_rel) + 1 < blocks) return;
        kernels::clearAttention(rows, s.state);
        for (std::size_t b = range.first; b < range.last; ++b) kernels::mergeAttention(rows, s.state, stateOf(b));
        kernels::finishAttention(rows, s.state);
        scatter(c, u, s.state);
    });
}

void run(const Call& c) {
    if (c.units == 0 || c.channels == 0) return;
    const std::size_t work = c.batches * c.queries * c.heads * c.keys * c.channels;
    const std::size_t threads = work < smallWork ? 1 : currentTeam().size();
    const std::size_t blocks = (c.keys + kernels::keyBlock - 1) / kernels::keyBlock;
    const std::size_t partials = c.units * blocks * Scratch::stateFloats(c) * sizeof(float);
    const bool split = threads > 1 && blocks > 1 && c.units < 4 * threads && partials <= mostPartials;
    const std::size_t workers = std::min(threads, split ? c.units * blocks : c.units);
    const Buffer scratch(workers * Scratch::bytes(c));
    auto* const memory = static_cast<std::byte*>(scratch.data());
    if (split)
        byBlocks(c, workers, memory);
    else
        shareOut(workers, c.units, c, memory, [&](std::size_t i, const Scratch& s) { wholeUnit(c, i, s); });
}

void requireFormat(const TensorRef& r, std::string_view which, std::size_t channel) {
    const auto text = [&] { return std::string(op) + " " + std::string(which) + ": " + describe(r); };
    if (r.format != Format::f32 && r.format != Format::f16 && r.format != Format::q8_0)
        throw UnsupportedError(text() + " is stored as " + std::string(nameOf(r.format)) +
                               "; F32, F16 and Q8_0 are supported");
    const std::size_t block = infoOf(r.format).blockElements;
    if (block > 1 && (r.extent[channel] % block != 0 || r.stride[channel] != 1))
        throw ShapeError(text() + " is stored as " + std::string(nameOf(r.format)) +
                         ", so channel must be the last axis and a multiple of " + std::to_string(block));
}

}  // namespace

Owned groupedAttention(const TensorRef& qOperand, const TensorRef& k, const TensorRef& v, const TensorRef* bias,
                       const AttentionPlan& plan, const AttentionOptions& options) {
    OpCall call = bias ? OpCall(op, {&qOperand, &k, &v, bias}) : OpCall(op, {&qOperand, &k, &v});
    Call c;
    const AsFloat q(qOperand);
    const std::size_t b = c.batchRank = plan.q.rank - 3u;
    c.q = arranged(q.ref(), plan.q);
    c.k = arranged(k, plan.k, &c.q.extent);
    c.v = arranged(v, plan.v, &c.q.extent);
    c.queries = c.q.extent[b], c.heads = c.q.extent[b + 1], c.channels = c.q.extent[b + 2];
    c.keys = c.k.extent[b], c.kvHeads = c.k.extent[b + 1];
    for (std::size_t i = 0; i < b; ++i) {
        const std::string_view axis = qOperand.axis[plan.q.from[i]];
        requireSame(op, axis, c.q.extent[i], c.k.extent[i]);
        requireSame(op, axis, c.q.extent[i], c.v.extent[i]);
        c.batches *= c.q.extent[i];
    }
    requireSame(op, "channel", c.channels, c.k.extent[b + 2]);
    requireSame(op, "channel", c.channels, c.v.extent[b + 2]);
    requireSame(op, "key", c.keys, c.v.extent[b]);
    requireSame(op, "kvHead", c.kvHeads, c.v.extent[b + 1]);
    if (c.heads != 0 && (c.kvHeads == 0 || c.heads % c.kvHeads != 0))
        throw ShapeError(std::string(op) + ": axis head is " + std::to_string(c.heads) +
                         ", which is no multiple of axis kvHead, " + std::to_string(c.kvHeads));
    if (options.causal && c.queries > c.keys)
        throw ShapeError(std::string(op) + ": axis seq is " + std::to_string(c.queries) + " and axis key is " +
                         std::to_string(c.keys) +
                         ", but the last query sits on the last key, so there cannot be fewer keys");
    if (options.window != 0 && !options.causal)
        throw ValueError(std::string(op) + ": a window of " + std::to_string(options.window) + " needs causal");
    requireFormat(k, "k", static_cast<std::size_t>(plan.k.from[b + 2]));
    requireFormat(v, "v", static_cast<std::size_t>(plan.v.from[b + 2]));
    c.causal = options.causal;
    c.window = options.window;
    c.scale = options.scale.value_or(1.0f / std::sqrt(static_cast<float>(std::max<std::size_t>(1, c.channels))));

    std::optional<AsFloat> biasValues;
    if (bias) {
        Extents like = c.q.extent;
        like[b] = c.heads, like[b + 1] = c.queries, like[b + 2] = c.keys;
        biasValues.emplace(*bias);
        c.bias = arranged(biasValues->ref(), plan.bias, &like);
        c.biased = true;
        for (std::size_t i = 0; i < plan.bias.rank; ++i)
            if (plan.bias.from[i] >= 0) requireSame(op, bias->axis[plan.bias.from[i]], like[i], c.bias.extent[i]);
    }
    Owned out = allocate(Format::f32, qOperand.axis, qOperand.rank, qOperand.extent);
    c.out = arranged(out.ref, plan.q);
    c.group = c.kvHeads ? c.heads / c.kvHeads : 0;
    c.width = (c.channels + kernels::attentionPadding - 1) / kernels::attentionPadding * kernels::attentionPadding;
    c.queriesPerUnit = std::min(std::max<std::size_t>(1, rowsPerTile / std::max<std::size_t>(1, c.group)), c.queries);
    c.tiles = c.queriesPerUnit ? (c.queries + c.queriesPerUnit - 1) / c.queriesPerUnit : 0;
    c.units = c.group ? c.batches * c.kvHeads * c.tiles : 0;
    run(c);
    call.done(out.ref, [&] {
        return work::attention(work::seenKeys(c.queries, c.keys, c.causal, c.window), c.batches * c.heads, c.channels);
    });
    return out;
}

}  // namespace axial::erased
