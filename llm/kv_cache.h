// The keys and values of every position that a conversation has been through, so that no token is computed twice.
#pragma once
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "axial/llm/axes.h"
#include "axial/tensor/buffer.h"
#include "axial/tensor/stored.h"
#include "axial/tensor/tensor.h"

namespace axial::llm {

// A layer's keys or values, in the cache's format.
using CachedRows = Stored<kvHead, key, channel>;

// What keys and values are stored as: F32, F16 or Q8_0 each.
struct CacheFormats {
    Format keys, values;
    CacheFormats(Format both) : keys(both), values(both) {}
    CacheFormats(Format keys, Format values) : keys(keys), values(values) {}
    // "F16"; "Q8_0/F16" if keys and values differ.
    std::string name() const;
    friend bool operator==(const CacheFormats&, const CacheFormats&) = default;
};

class KvCache {
  public:
    // Room for `capacity` positions of `layers` layers, in one allocation. Throws ShapeError for other formats, or for
    // Q8_0 if the channels are no multiple of the 32 numbers of a block (a block never reaches over two heads); or
    // std::bad_alloc.
    KvCache(std::size_t layers, At<Axis<"kvHead">> heads, At<Axis<"channel">> channels, std::size_t capacity,
            CacheFormats formats);

    KvCache(KvCache&&) = default;
    KvCache& operator=(KvCache&&) = default;

    // Whether keys and values can be kept in this format.
    static bool keeps(Format format) {
        return format == Format::f32 || format == Format::f16 || format == Format::q8_0;
    }

    // Positions that count. What lies behind them is free.
    std::size_t length() const { return length_; }
    std::size_t capacity() const { return capacity_; }
    std::size_t layers() const { return keys_.size(); }
    std::size_t heads() const { return heads_; }
    std::size_t channels() const { return channels_; }
    CacheFormats formats() const { return formats_; }
    // Memory held, in bytes.
    std::size_t bytes() const { return bytesFor(layers(), heads_, channels_, capacity_, formats_); }
    // What a cache of this shape takes, in bytes: layers * heads * capacity * channels keys and as many values. At most
    // 1 MB more is reserved (tensor/buffer.h takes memory in steps).
    static std::size_t bytesFor(std::size_t layers, std::size_t heads, std::size_t channels, std::size_t capacity,
                                CacheFormats formats);

    // Forgets the positions from `length` on: one store. Throws ValueError if there are fewer.
    void truncate(std::size_t length);

    struct KeysAndValues {
        CachedRows keys, values;
    };
    // Writes a step's keys and values of one layer behind the positions that count, and returns that layer's rows up to
    // and with them. They begin to count with advance(), after the last layer: a step that fails in between leaves the
    // cache as it was. Throws ValueError if there is no room.
    KeysAndValues append(std::size_t layer, const View<const float, seq, kvHead, channel>& k,
                         const View<const float, seq, kvHead, channel>& v);
    // The step's `positions` count from now on.
    void advance(std::size_t positions);

    // A cache with room for `capacity` positions that begins with a copy of the first `length` of this one, in the same
    // formats: what is computed with it has the bits of a cache that was computed anew. Throws ValueError if there are
    // fewer positions or less room, or std::bad_alloc; this cache does not change.
    KvCache fork(std::size_t length, std::size_t capacity) const;

    // The bytes of the positions that count, for saving: of each layer the keys and then the values, head by head, the
    // positions of a head in one piece.
    void visit(const std::function<void(std::span<const std::byte>)>& piece) const;
    // The reverse: asks for the bytes of `length` positions in the same pieces, and then they count, instead of those
    // that did before. If `piece` throws, none count. Throws ValueError if there is no room.
    void fill(std::size_t length, const std::function<void(std::span<std::byte>)>& piece);

  private:
    template <class F>
    void forEachPiece(std::size_t length, F&& piece) const;

    Buffer memory_;
    std::vector<CachedRows> keys_, values_;  // one a layer, of all `capacity_` positions
    std::size_t heads_ = 0, channels_ = 0, length_ = 0, capacity_ = 0;
    CacheFormats formats_;
};

}  // namespace axial::llm
