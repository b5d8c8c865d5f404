#include "axial/llm/kv_cache.h"

#include "axial/ops/store.h"
#include "axial/tensor/error.h"

namespace axial::llm {

namespace {
using RowAxes = Axes<kvHead, key, channel>;

// Writes rows [seq, kvHead, channel] at positions `from` on, and returns all rows up to and with them.
CachedRows extend(const Owned& storage, std::size_t from, const View<const float, seq, kvHead, channel>& rows) {
    const CachedRows all(storage.ref);
    const std::size_t count = rows.extent(seq);
    erased::store(rows.rename(seq, key).as(kvHead, key, channel).ref(), all.narrow(key, from, count).ref());
    return all.narrow(key, 0, from + count);
}
}  // namespace

KvCache::KvCache(std::size_t layers, At<Axis<"kvHead">> heads, At<Axis<"channel">> channels, std::size_t capacity,
                 Format format)
    : capacity_(capacity), format_(format) {
    if (format != Format::f32 && format != Format::f16 && format != Format::q8_0)
        throw ShapeError("KvCache: keys and values are kept as F32, F16 or Q8_0, not as " +
                         std::string(nameOf(format)));
    const Extents extent{heads.value, capacity, channels.value};
    for (std::size_t i = 0; i < layers; ++i) {
        keys_.push_back(allocate(format, names<RowAxes>, RowAxes::size, extent));
        values_.push_back(allocate(format, names<RowAxes>, RowAxes::size, extent));
    }
}

std::size_t KvCache::bytesFor(std::size_t layers, std::size_t heads, std::size_t channels, std::size_t capacity,
                              Format format) {
    return 2 * layers * bytesOf(format, heads * capacity * channels);
}

std::size_t KvCache::bytes() const {
    std::size_t sum = 0;
    for (const Owned& rows : keys_) sum += 2 * bytesOf(format_, rows.ref.size());
    return sum;
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

}  // namespace axial::llm
