#include "axial/llm/server/kept_caches.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace axial::llm::server {

std::size_t commonPrefix(std::span<const TokenId> a, std::span<const TokenId> b) {
    return static_cast<std::size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
}

void KeptCaches::drop(Place place) {
    bytes_ -= place->bytes;
    entries_.erase(place);
}

void KeptCaches::keep(std::vector<TokenId> tokens, KvCache cache) {
    if (tokens.empty()) return;
    for (Place entry = entries_.begin(); entry != entries_.end();) {
        const std::size_t both = commonPrefix(entry->tokens, tokens);
        if (both == tokens.size()) {
            entries_.splice(entries_.begin(), entries_, entry);
            return;
        }
        const Place covered = entry++;
        if (both == covered->tokens.size()) drop(covered);
    }
    const std::size_t needed =
        KvCache::bytesFor(cache.layers(), cache.heads(), cache.channels(), tokens.size(), cache.formats());
    if (needed > budget_) return;
    // A quarter more is not worth a copy.
    if (cache.bytes() > needed + needed / 4) cache = cache.fork(tokens.size(), tokens.size());
    const std::size_t bytes = cache.bytes();
    while (!entries_.empty() && bytes_ + bytes > budget_) drop(std::prev(entries_.end()));
    if (bytes > budget_) return;
    entries_.push_front({std::move(tokens), std::move(cache), bytes});
    bytes_ += bytes;
}

std::size_t KeptCaches::longest(std::span<const TokenId> prompt) const {
    std::size_t most = 0;
    for (const Entry& entry : entries_) most = std::max(most, commonPrefix(entry.tokens, prompt));
    return most;
}

std::optional<KeptCaches::Found> KeptCaches::take(std::span<const TokenId> prompt, std::size_t capacity) {
    std::size_t most = 0;
    Place best = entries_.end();
    for (Place entry = entries_.begin(); entry != entries_.end(); ++entry)
        if (const std::size_t both = commonPrefix(entry->tokens, prompt); both > most) {
            most = both;
            best = entry;
        }
    if (best == entries_.end()) return std::nullopt;
    std::vector<TokenId> tokens(prompt.begin(), prompt.begin() + static_cast<std::ptrdiff_t>(most));
    if (most < best->tokens.size()) {
        entries_.splice(entries_.begin(), entries_, best);
        return Found{std::move(tokens), best->cache.fork(most, std::max(most, capacity))};
    }
    if (best->cache.capacity() < capacity) best->cache = best->cache.fork(most, capacity);
    Found found{std::move(tokens), std::move(best->cache)};
    bytes_ -= best->bytes;
    entries_.erase(best);
    return found;
}

}  // namespace axial::llm::server
