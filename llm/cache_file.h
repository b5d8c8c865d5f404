// A conversation's cache on disk, so that it goes on later without computing anything again.
#pragma once
#include <filesystem>
#include <optional>
#include <span>
#include <vector>

#include "axial/llm/model.h"
#include "axial/llm/model_identity.h"

namespace axial::llm {

// Writes the positions of a cache that count, and the tokens that they are of, crash-safely: an older file of that name
// is replaced when the new one is on the disk as a whole (AtomicFile), and stays as it is if anything fails. Nothing is
// copied in memory. The content of the file (checked_file.h has its frame), all numbers little-endian:
//   u64 the model's fingerprint; u32 length of its name, and the name
//   u32 format of the keys, u32 of the values (numbers of tensor types in GGUF)
//   u64 layers, u64 heads, u64 channels, u64 positions
//   i32 for each position, its token
//   of each layer the keys and then the values, head by head: [kvHead, position, channel]
// Throws FileError, or ValueError if there are not as many tokens as positions.
void saveCache(const std::filesystem::path& path, const ModelIdentity& model, std::span<const TokenId> tokens,
               const KvCache& cache);

struct SavedCache {
    std::vector<TokenId> tokens;
    KvCache cache;
};

// Reads it back into a cache of `model` (whose identity is `identity`) with room for `capacity` positions. What is
// computed with it has the same bits as with the cache that was saved. Throws, before it takes memory for the cache:
//   FileError: the file is no saved cache or of another version, was cut off or damaged (with the offset, as far as it
//     is known), or holds the cache of another model (with both models), other formats than `formats` if those are
//     given, or other extents; what is damaged inside is found while it is read, with the offset
//   ValueError: more positions than `capacity`
// or std::bad_alloc.
SavedCache loadCache(const std::filesystem::path& path, const ModelIdentity& identity, const Model& model,
                     std::size_t capacity, std::optional<CacheFormats> formats = std::nullopt);

}  // namespace axial::llm
