#include "axial/llm/cache_file.h"

#include <string>

#include "axial/llm/checked_file.h"
#include "axial/llm/gguf_reader.h"
#include "axial/tensor/error.h"

namespace axial::llm {
namespace {

constexpr FileKind kind{"AXIALKVC", "a saved cache", 1};
constexpr std::size_t longestName = 200;

std::uint32_t idOf(Format format) { return static_cast<std::uint32_t>(infoOf(format).ggufId); }

Format readFormat(CheckedReader& file, std::string_view what) {
    const auto id = file.number<std::uint32_t>(what);
    const FormatInfo* info = formatByGgufId(id);
    if (!info) file.fail("contradicts itself: " + std::string(what) + " is " + std::to_string(id) + ", which is none");
    return info->format;
}

std::string readName(CheckedReader& file) {
    const auto length = file.number<std::uint32_t>("the length of the model's name");
    if (length > longestName)
        file.fail("contradicts itself: the model's name has " + std::to_string(length) + " bytes, more than " +
                  std::to_string(longestName));
    std::string name(length, '\0');
    file.read(std::as_writable_bytes(std::span(name)), "the model's name");
    return shownName(name);
}

void requireExtent(CheckedReader& file, std::string_view axis, std::size_t wanted) {
    const auto there = file.number<std::uint64_t>("the extent of " + std::string(axis));
    if (there != wanted)
        file.fail("does not fit: axis " + std::string(axis) + " is " + std::to_string(there) + " there and " +
                  std::to_string(wanted) + " in this model");
}

}  // namespace

void saveCache(const std::filesystem::path& path, const ModelIdentity& model, std::span<const TokenId> tokens,
               const KvCache& cache) {
    if (tokens.size() != cache.length())
        throw ValueError("saveCache: there are " + std::to_string(tokens.size()) + " tokens, but the cache has " +
                         std::to_string(cache.length()) + " positions");
    const std::string name = model.name.substr(0, longestName);
    const std::uint64_t head = 8 + 4 + name.size() + 2 * 4 + 4 * 8;
    CheckedWriter file(
        path, kind,
        head + tokens.size_bytes() +
            KvCache::bytesFor(cache.layers(), cache.heads(), cache.channels(), cache.length(), cache.formats()));
    file.number(model.fingerprint);
    file.number(static_cast<std::uint32_t>(name.size()));
    file.write(std::as_bytes(std::span(name)));
    file.number(idOf(cache.formats().keys));
    file.number(idOf(cache.formats().values));
    for (const std::size_t extent : {cache.layers(), cache.heads(), cache.channels(), cache.length()})
        file.number(static_cast<std::uint64_t>(extent));
    file.write(std::as_bytes(tokens));
    cache.visit([&](std::span<const std::byte> rows) { file.write(rows); });
    file.commit();
}

SavedCache loadCache(const std::filesystem::path& path, const ModelIdentity& identity, const Model& model,
                     std::size_t capacity, std::optional<CacheFormats> formats) {
    const Hyperparameters& h = model.hyperparameters();
    CheckedReader file(path, kind);
    ModelIdentity saved;
    saved.fingerprint = file.number<std::uint64_t>("the model's fingerprint");
    saved.name = readName(file);
    if (saved.fingerprint != identity.fingerprint)
        file.fail("is of another model: it was saved with " + saved.text() + ", and this is " + identity.text());
    const Format keys = readFormat(file, "the format of the keys");
    const CacheFormats there(keys, readFormat(file, "the format of the values"));
    if (!KvCache::keeps(there.keys) || !KvCache::keeps(there.values))
        file.fail("does not fit: keys and values are kept as F32, F16 or Q8_0, not as " + there.name());
    if (formats && there != *formats)
        file.fail("does not fit: keys and values are kept as " + there.name() + " there, and as " + formats->name() +
                  " here");
    requireExtent(file, "layer", h.layers);
    requireExtent(file, "kvHead", h.kvHeads);
    requireExtent(file, "channel", h.channels);
    // The extents are the model's now, so the rest must be whole positions of a known size.
    const auto length = file.number<std::uint64_t>("the number of positions");
    const std::uint64_t each = sizeof(TokenId) + KvCache::bytesFor(h.layers, h.kvHeads, h.channels, 1, there);
    if (length != file.remaining() / each || file.remaining() % each != 0)
        file.fail("contradicts itself: " + std::to_string(length) + " positions of " + std::to_string(each) +
                  " bytes, but " + std::to_string(file.remaining()) + " bytes follow");
    if (length > capacity)
        throw ValueError(path.string() + ": does not fit: it holds " + std::to_string(length) +
                         " positions, and there is room for " + std::to_string(capacity));

    std::vector<TokenId> tokens(static_cast<std::size_t>(length));
    file.read(std::as_writable_bytes(std::span(tokens)), "the tokens");
    for (const TokenId token : tokens)
        if (token < 0 || static_cast<std::size_t>(token) >= h.vocabulary)
            file.fail("contradicts itself: token " + std::to_string(token) + " is not in the vocabulary of " +
                      std::to_string(h.vocabulary));
    KvCache cache = model.makeCache(capacity, there);
    cache.fill(tokens.size(), [&](std::span<std::byte> rows) { file.read(rows, "the rows"); });
    return {std::move(tokens), std::move(cache)};
}

}  // namespace axial::llm
