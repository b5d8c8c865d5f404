// The keys and values of every position that a conversation has been through, so that no token is computed twice.
#pragma once
#include <vector>

#include "axial/llm/axes.h"
#include "axial/tensor/stored.h"
#include "axial/tensor/tensor.h"

namespace axial::llm {

// A layer's keys or values, in the cache's format.
using CachedRows = Stored<kvHead, key, channel>;

class KvCache {
  public:
    // Room for `capacity` positions of `layers` layers. `format` is F32, F16 or Q8_0 (then the channel extent is a
    // multiple of 32). Throws ShapeError, or std::bad_alloc.
    KvCache(std::size_t layers, At<Axis<"kvHead">> heads, At<Axis<"channel">> channels, std::size_t capacity,
            Format format);

    KvCache(KvCache&&) = default;
    KvCache& operator=(KvCache&&) = default;

    // Positions that count. What lies behind them is free.
    std::size_t length() const { return length_; }
    std::size_t capacity() const { return capacity_; }
    Format format() const { return format_; }
    std::size_t layers() const { return keys_.size(); }
    // Memory held, in bytes.
    std::size_t bytes() const;
    // What a cache of this shape takes, in bytes.
    static std::size_t bytesFor(std::size_t layers, std::size_t heads, std::size_t channels, std::size_t capacity,
                                Format format);

    // Forgets the positions from `length` on. Throws ValueError if there are fewer.
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

  private:
    std::vector<Owned> keys_, values_;  // one a layer, [kvHead, key, channel]
    std::size_t length_ = 0, capacity_ = 0;
    Format format_ = Format::f16;
};

}  // namespace axial::llm
