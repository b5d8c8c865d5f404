#include "axial/llm/kv_cache.h"

#include <cstring>
#include <limits>
#include <new>

#include "axial/ops/store.h"
#include "axial/tensor/error.h"

namespace axial::llm {

namespace {
using RowAxes = Axes<kvHead, key, channel>;

void requireFormat(std::string_view which, Format format, std::size_t channels) {
    const std::string name(nameOf(format));
    if (!KvCache::keeps(format))
        throw ShapeError("KvCache: " + std::string(which) + " are kept as F32, F16 or Q8_0, not as " + name);
    const std::size_t block = infoOf(format).blockElements;
    if (channels % block != 0)
        throw ShapeError("KvCache: axis channel is " + std::to_string(channels) + ", not a multiple of the " +
                         std::to_string(block) + " numbers in a block of " + name +
                         ", and a block cannot reach over two heads; keep the " + std::string(which) + " as F16");
}

// Writes rows [seq, kvHead, channel] at positions `from` on, and returns all rows up to and with them.
CachedRows extend(const CachedRows& all, std::size_t from, const View<const float, seq, kvHead, channel>& rows) {
    const std::size_t count = rows.extent(seq);
    erased::store(rows.rename(seq, key).as(kvHead, key, channel).ref(), all.narrow(key, from, count).ref());
    return all.narrow(key, 0, from + count);
}

// The bytes of a head's first `length` positions, which lie without gaps.
std::span<std::byte> bytesIn(const CachedRows& rows, std::size_t head, std::size_t length) {
    const auto some = rows(kvHead(head)).narrow(key, 0, length);
    return {static_cast<std::byte*>(some.ref().data), bytesOf(some.format(), some.size())};
}
}  // namespace

std::string CacheFormats::name() const {
    const std::string both(nameOf(keys));
    return keys == values ? both : both + "/" + std::string(nameOf(values));
}

KvCache::KvCache(std::size_t layers, At<Axis<"kvHead">> heads, At<Axis<"channel">> channels, std::size_t capacity,
                 CacheFormats formats)
    : heads_(heads.value), channels_(channels.value), capacity_(capacity), formats_(formats) {
    requireFormat("keys", formats.keys, channels_);
    requireFormat("values", formats.values, channels_);
    // Each layer's keys and values start at a multiple of 128 bytes.
    const Extents extent{heads_, capacity, channels_};
    const auto shape = [&](Format format) { return dense(format, names<RowAxes>, RowAxes::size, extent); };
    TensorRef keys = shape(formats.keys), values = shape(formats.values);
    const auto padded = [](const TensorRef& r) { return (bytesOf(r.format, r.size()) + 127) / 128 * 128; };
    const std::size_t keyBytes = padded(keys), valueBytes = padded(values);
    if (layers != 0 && keyBytes + valueBytes > std::numeric_limits<std::size_t>::max() / layers) throw std::bad_alloc();
    memory_ = Buffer(layers * (keyBytes + valueBytes));
    keys.owner = values.owner = memory_.block();
    auto* at = static_cast<std::byte*>(memory_.data());
    for (std::size_t i = 0; i < layers; ++i, at += keyBytes + valueBytes) {
        keys.data = at;
        values.data = at + keyBytes;
        keys_.emplace_back(keys);
        values_.emplace_back(values);
    }
}

std::size_t KvCache::bytesFor(std::size_t layers, std::size_t heads, std::size_t channels, std::size_t capacity,
                              CacheFormats formats) {
    const std::size_t count = heads * capacity * channels;
    return layers * (bytesOf(formats.keys, count) + bytesOf(formats.values, count));
}

void KvCache::truncate(std::size_t length) {
    if (length > length_)
        throw ValueError("KvCache::truncate: there are " + std::to_string(length_) +
                         " positions, so they cannot be cut to " + std::to_string(length));
    length_ = length;
}

KvCache::KeysAndValues KvCache::append(std::size_t layer, const View<const float, seq, kvHead, channel>& k,
                                       const View<const float, seq, kvHead, channel>& v) {
    const std::size_t count = k.extent(seq);
    if (count > capacity_ - length_)
        throw ValueError("KvCache::append: " + std::to_string(length_) + " of " + std::to_string(capacity_) +
                         " positions are taken, so there is no room for " + std::to_string(count) + " more");
    return {extend(keys_.at(layer), length_, k), extend(values_.at(layer), length_, v)};
}

void KvCache::advance(std::size_t positions) { length_ += positions; }

template <class F>
void KvCache::forEachPiece(std::size_t length, F&& piece) const {
    for (std::size_t i = 0; i < layers(); ++i)
        for (const CachedRows* rows : {&keys_[i], &values_[i]})
            for (std::size_t head = 0; head < heads_; ++head) piece(bytesIn(*rows, head, length));
}

KvCache KvCache::fork(std::size_t length, std::size_t capacity) const {
    if (length > length_)
        throw ValueError("KvCache::fork: there are " + std::to_string(length_) + " positions, so the first " +
                         std::to_string(length) + " cannot be copied");
    KvCache copy(layers(), kvHead(heads_), channel(channels_), capacity, formats_);
    std::vector<std::span<std::byte>> pieces;
    forEachPiece(length, [&](std::span<std::byte> bytes) { pieces.push_back(bytes); });
    auto from = pieces.begin();
    copy.fill(length, [&](std::span<std::byte> bytes) {
        if (!bytes.empty()) std::memcpy(bytes.data(), from->data(), bytes.size());
        ++from;
    });
    return copy;
}

void KvCache::visit(const std::function<void(std::span<const std::byte>)>& piece) const {
    forEachPiece(length_, piece);
}

void KvCache::fill(std::size_t length, const std::function<void(std::span<std::byte>)>& piece) {
    if (length > capacity_)
        throw ValueError("KvCache: there is room for " + std::to_string(capacity_) + " positions, so " +
                         std::to_string(length) + " do not fit");
    length_ = 0;
    forEachPiece(length, piece);
    length_ = length;
}

}  // namespace axial::llm
