// The keys and values of requests that are over, for those that begin as they did.
#pragma once
#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <span>
#include <vector>

#include "axial/llm/kv_cache.h"
#include "axial/llm/token.h"

namespace axial::llm::server {

// How many tokens two texts begin with in common.
std::size_t commonPrefix(std::span<const TokenId> a, std::span<const TokenId> b);

// Within a budget of memory; what was not used for longest is dropped first.
class KeptCaches {
  public:
    explicit KeptCaches(std::size_t budget) : budget_(budget) {}

    // Keeps a cache that holds these tokens, in no more memory than they need. What others hold of them is dropped, and
    // it is itself where another holds all of it, or where it is larger than the budget.
    void keep(std::vector<TokenId> tokens, KvCache cache);

    // The longest beginning that a kept cache has in common with a prompt.
    std::size_t longest(std::span<const TokenId> prompt) const;
    struct Found {
        std::vector<TokenId> tokens;
        KvCache cache;
    };
    // A cache with room for `capacity` that holds just that beginning; nothing if it has no token. The kept one stays,
    // unless the prompt begins with all of it: what is kept of that prompt then replaces it.
    std::optional<Found> take(std::span<const TokenId> prompt, std::size_t capacity);

    std::size_t bytes() const { return bytes_; }
    std::size_t size() const { return entries_.size(); }

  private:
    struct Entry {
        std::vector<TokenId> tokens;
        KvCache cache;
        std::size_t bytes;
    };
    using Place = std::list<Entry>::iterator;
    void drop(Place place);

    std::size_t budget_, bytes_ = 0;
    std::list<Entry> entries_;  // the one used last comes first
};

}  // namespace axial::llm::server
