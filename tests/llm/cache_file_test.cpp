// Caches on disk: what comes back computes the same bits, and what is not exactly what was written is refused.
#include "axial/llm/cache_file.h"

#include <malloc.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "axial/llm/checked_file.h"
#include "axial/llm/load.h"
#include "axial/tensor/error.h"
#include "llm/temporary_folder.h"
#include "oracle.h"

using namespace axial;
using namespace axial::llm;
using axial::llm::test::TemporaryFolder;

namespace {

constexpr FileKind kind{"AXIALKVC", "a saved cache", 1};

std::vector<TokenId> tokensFor(const Model& model, std::size_t count, unsigned seed = 1) {
    std::mt19937 draw(seed);
    std::vector<TokenId> tokens(count);
    for (TokenId& token : tokens) token = static_cast<TokenId>(draw() % model.hyperparameters().vocabulary);
    return tokens;
}

bool sameBits(const Logits& a, const Logits& b) {
    return std::equal(a.values().begin(), a.values().end(), b.values().begin(), b.values().end(),
                      [](float x, float y) { return std::memcmp(&x, &y, sizeof x) == 0; });
}

std::string contentOf(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

std::size_t heldBytes() {
    const struct mallinfo2 heap = ::mallinfo2();
    return heap.uordblks + heap.hblkhd;
}

// The model that is part of the library, a cache of it on disk, and ways to alter that file.
struct Subject {
    LoadedModel loaded = loadBundled();
    const Model& model = *loaded.model;
    ModelIdentity identity = identityOf(loaded);
    std::vector<TokenId> tokens;
    TemporaryFolder folder;
    std::filesystem::path path;
    std::string content;

    explicit Subject(std::size_t count, CacheFormats formats = Format::f16)
        : tokens(tokensFor(model, count)), path(folder.path() / "chat.cache") {
        KvCache cache = model.makeCache(count, formats);
        if (count != 0) (void)model.forward(cache, tokens, LogitsOf::last);
        saveCache(path, identity, tokens, cache);
        content = contentOf(path);
    }

    // What loading says to a file with this content; "" if it is accepted.
    std::string refusal(std::string_view altered) const {
        const auto file = folder.write("altered.cache", std::string(altered));
        return refusalOf(file);
    }
    std::string refusalOf(const std::filesystem::path& file) const {
        try {
            (void)loadCache(file, identity, model, 512);
            return "";
        } catch (const Error& error) {
            const std::string text = error.what(), prefix = file.string() + ": ";
            CHECK(text.starts_with(prefix));
            return text.substr(std::min(text.size(), prefix.size()));
        }
    }

    // A file with right checksums and these numbers in it.
    struct Header {
        std::uint64_t fingerprint;
        std::uint32_t nameLength = 0, keys = 1, values = 1;
        std::uint64_t layers, heads, channels, length = 0;
    };
    Header header() const {
        const Hyperparameters& h = model.hyperparameters();
        return {.fingerprint = identity.fingerprint, .layers = h.layers, .heads = h.kvHeads, .channels = h.channels};
    }
    std::string refusalOf(const Header& h, const std::string& rest = "") const {
        const auto file = folder.path() / "made.cache";
        CheckedWriter writer(file, kind, 52 + rest.size());
        writer.number(h.fingerprint);
        for (const std::uint32_t n : {h.nameLength, h.keys, h.values}) writer.number(n);
        for (const std::uint64_t n : {h.layers, h.heads, h.channels, h.length}) writer.number(n);
        writer.write(std::as_bytes(std::span(rest)));
        writer.commit();
        return refusalOf(file);
    }
};

}  // namespace

TEST_CASE("a cache that was saved or forked goes on with the same bits, in every family and format") {
    if (!oracle::present()) return;
    constexpr std::size_t before = 40, behind = 24, forked = 25;
    std::size_t compared = 0;
    for (const std::string name :
         {"tiny-qwen3-Q8_0.gguf", "tiny-qwen3-256-Q4_K_M.gguf", "tiny-qwen3-untied-F32.gguf", "tiny-qwen2-Q8_0.gguf",
          "tiny-llama-F32.gguf", "tiny-qwen3-hf-BF16", "tiny-qwen2-hf-F32", "tiny-llama-hf-F32",
          "tiny-qwen3moe-256-Q4_K.gguf", "tiny-qwen3moe-hf-BF16"}) {
        CAPTURE(name);
        const LoadedModel loaded = load(oracle::path("models/" + name));
        const Model& model = *loaded.model;
        const ModelIdentity identity = identityOf(loaded);
        const std::vector<TokenId> tokens = tokensFor(model, before + behind);
        const std::span<const TokenId> all(tokens);
        const TemporaryFolder folder;
        for (const Format keys : {Format::f32, Format::f16, Format::q8_0})
            for (const Format values : {Format::f32, Format::f16, Format::q8_0}) {
                const CacheFormats formats(keys, values);
                CAPTURE(formats.name());
                const bool blocks = keys == Format::q8_0 || values == Format::q8_0;
                if (blocks && model.hyperparameters().channels % 32 != 0) continue;
                KvCache cache = model.makeCache(before + behind, formats);
                (void)model.forward(cache, all.first(before), LogitsOf::last);
                saveCache(folder.path() / "cache", identity, all.first(before), cache);
                KvCache fork = cache.fork(forked, before);
                const Logits want = model.forward(cache, all.subspan(before), LogitsOf::all);

                SavedCache saved = loadCache(folder.path() / "cache", identity, model, before + behind + 7, formats);
                CHECK(std::ranges::equal(saved.tokens, all.first(before)));
                CHECK(saved.cache.length() == before);
                CHECK(saved.cache.formats() == formats);
                CHECK(sameBits(model.forward(saved.cache, all.subspan(before), LogitsOf::all), want));

                // A fork is what computing anew would give, and so is what is saved of it.
                KvCache anew = model.makeCache(before, formats);
                (void)model.forward(anew, all.first(forked), LogitsOf::last);
                saveCache(folder.path() / "fork", identity, all.first(forked), fork);
                saveCache(folder.path() / "anew", identity, all.first(forked), anew);
                CHECK(contentOf(folder.path() / "fork") == contentOf(folder.path() / "anew"));
                const auto other = tokensFor(model, 10, 2);
                CHECK(sameBits(model.forward(fork, other, LogitsOf::all), model.forward(anew, other, LogitsOf::all)));
                ++compared;
            }
    }
    CHECK(compared >= 8 * 4);
}

TEST_CASE("a saved cache has the size of its positions, and an empty one can be saved") {
    for (const std::size_t count : {0, 1, 7}) {
        const Subject subject(count);
        const Hyperparameters& h = subject.model.hyperparameters();
        const std::size_t least = KvCache::bytesFor(h.layers, h.kvHeads, h.channels, count, Format::f16);
        CHECK(subject.content.size() > least);
        CHECK(subject.content.size() < least + least / 1000 + 1000);
        const SavedCache saved = loadCache(subject.path, subject.identity, subject.model, count);
        CHECK(saved.tokens == subject.tokens);
        CHECK(saved.cache.length() == count);
    }
}

TEST_CASE("a saved cache that was cut off at 1,000 places is refused") {
    const Subject subject(100);
    const std::string_view whole(subject.content);
    REQUIRE(whole.size() > 3 * 65536);
    for (std::size_t i = 0; i < 1000; ++i) {
        // Every place at the beginning, then evenly.
        const std::size_t place = i < 100 ? i : whole.size() * (i - 99) / 902;
        CAPTURE(place);
        const std::string text = subject.refusal(whole.substr(0, place));
        CHECK(text.starts_with("is cut off: it has " + std::to_string(place) + (place < 24 ? " byte" : " of ")));
    }
    CHECK(subject.refusal(subject.content + "x") ==
          "has 1 byte behind its end at offset " + std::to_string(whole.size()));
    CHECK(subject.refusal(whole) == "");
}

TEST_CASE("a saved cache with any bit flipped is refused, with the offset") {
    const Subject subject(60);
    std::string altered = subject.content;
    std::mt19937 draw(7);
    std::size_t accepted = 0, misplaced = 0;
    for (std::size_t i = 0; i < 3000; ++i) {
        // Each of the first 600 bits, then any.
        const std::size_t bit = i < 600 ? i : draw() % (altered.size() * 8), byte = bit / 8;
        altered[byte] = static_cast<char>(altered[byte] ^ 1 << bit % 8);
        const std::string text = subject.refusal(altered);
        altered[byte] = static_cast<char>(altered[byte] ^ 1 << bit % 8);
        if (text.empty()) ++accepted;
        if (byte < 8) {
            misplaced += !text.starts_with("is not a saved cache");
            continue;
        }
        std::size_t from = 0, to = 0;
        misplaced += std::sscanf(text.c_str(), "is damaged between offset %zu and %zu", &from, &to) != 2 ||
                     byte < from || byte >= to || to - from > 65536;
    }
    CHECK(accepted == 0);
    CHECK(misplaced == 0);
}

TEST_CASE("pieces of a saved cache in another order are refused") {
    const Subject subject(100);
    std::string swapped = subject.content;
    std::swap_ranges(swapped.begin() + 24 + 65536, swapped.begin() + 24 + 2 * 65536, swapped.begin() + 24 + 2 * 65536);
    REQUIRE(swapped != subject.content);
    CHECK(subject.refusal(swapped).starts_with("is damaged between offset 65560 and 131096"));
}

TEST_CASE("a saved cache that is something else, or contradicts itself, is refused without taking memory for it") {
    const Subject subject(3);
    using Header = Subject::Header;
    const auto refusal = [&](auto change, const std::string& rest = "") {
        Header header = subject.header();
        change(header);
        return subject.refusalOf(header, rest);
    };
    const std::size_t before = heldBytes();
    CHECK(refusal([](Header&) {}) == "");
    CHECK(subject.refusal("{\"messages\": []}") == "is not a saved cache: its first 8 bytes are others");
    CHECK(subject.refusal("AXIAL") == "is cut off: it has 5 bytes, not even the 24 that it begins with");
    CHECK(subject.refusalOf(subject.folder.path()) == "is not a regular file");
    CHECK(subject.refusalOf(subject.folder.path() / "absent") == "cannot be read: No such file or directory");
    CHECK(refusal([](Header& h) { h.nameLength = 1u << 31; }) ==
          "contradicts itself: the model's name has 2147483648 bytes, more than 200");
    CHECK(refusal([](Header& h) { h.nameLength = 100; }) ==
          "contradicts itself: the model's name would take 100 bytes, and only 40 follow");
    CHECK(refusal([](Header& h) { h.keys = 999; }) ==
          "contradicts itself: the format of the keys is 999, which is none");
    CHECK(refusal([](Header& h) { h.values = 12; }) ==
          "does not fit: keys and values are kept as F32, F16 or Q8_0, not as F16/Q4_K");
    const std::string layers = std::to_string(subject.header().layers);
    CHECK(refusal([](Header& h) { h.layers = std::uint64_t{1} << 60; }) ==
          "does not fit: axis layer is 1152921504606846976 there and " + layers + " in this model");
    CHECK(refusal([](Header& h) { ++h.heads; }).starts_with("does not fit: axis kvHead is "));
    CHECK(refusal([](Header& h) { h.channels *= 2; }).starts_with("does not fit: axis channel is "));
    for (const std::uint64_t length : {std::uint64_t{1}, std::uint64_t{1} << 40, ~std::uint64_t{0}})
        CHECK(refusal([&](Header& h) {
                  h.length = length;
              }).starts_with("contradicts itself: " + std::to_string(length) + " positions of "));
    const Hyperparameters& h = subject.model.hyperparameters();
    const std::size_t each = KvCache::bytesFor(h.layers, h.kvHeads, h.channels, 1, Format::f16);
    CHECK(refusal([](Header& head) { head.length = 1; }, std::string(4 + each, '\xff')) ==
          "contradicts itself: token -1 is not in the vocabulary of " + std::to_string(h.vocabulary));
    CHECK(refusal([](Header& head) { head.length = 1; }, std::string(4 + each, '\0')) == "");
    CHECK(refusal([](Header& head) { head.length = 600; }, std::string(600 * (4 + each), '\0')) ==
          "does not fit: it holds 600 positions, and there is room for 512");
    CHECK(heldBytes() - before < (std::size_t{64} << 20));

    const auto later = subject.folder.path() / "later.cache";
    CheckedWriter(later, {kind.magic, kind.name, 2}, 0).commit();
    CHECK_THROWS_WITH_AS((void)loadCache(later, subject.identity, subject.model, 8),
                         doctest::Contains("is a saved cache of version 2; this program reads version 1"),
                         UnsupportedError);
}

TEST_CASE("a saved cache of another model, or in other formats, is refused by name") {
    const Subject subject(3, CacheFormats(Format::f16, Format::f32));
    ModelIdentity other = subject.identity;
    other.name = "Other";
    other.fingerprint ^= 1;
    CHECK_THROWS_WITH_AS((void)loadCache(subject.path, other, subject.model, 8),
                         (subject.path.string() + ": is of another model: it was saved with " +
                          subject.identity.text() + ", and this is " + other.text())
                             .c_str(),
                         FileError);
    CHECK_THROWS_WITH_AS((void)loadCache(subject.path, subject.identity, subject.model, 8, Format::f16),
                         doctest::Contains("keys and values are kept as F16/F32 there, and as F16 here"), FileError);
    CHECK_NOTHROW((void)loadCache(subject.path, subject.identity, subject.model, 3,
                                  subject.model.makeCache(1, {Format::f16, Format::f32}).formats()));
    CHECK_THROWS_WITH_AS((void)loadCache(subject.path, subject.identity, subject.model, 2),
                         doctest::Contains("it holds 3 positions, and there is room for 2"), ValueError);
    KvCache cache = subject.model.makeCache(3, Format::f16);
    CHECK_THROWS_WITH_AS(saveCache(subject.path, subject.identity, subject.tokens, cache),
                         "saveCache: there are 3 tokens, but the cache has 0 positions", ValueError);
    CHECK(contentOf(subject.path) == subject.content);
    CHECK_THROWS_AS(saveCache(subject.folder.path() / "absent" / "x", subject.identity, {}, cache), FileError);
}

TEST_CASE("the fingerprint tells the reference models apart, and stays the same") {
    if (!oracle::present()) return;
    std::vector<std::uint64_t> seen;
    for (const auto& entry : std::filesystem::directory_iterator(oracle::path("models"))) {
        if (entry.path().extension() != ".gguf") continue;
        const LoadedModel loaded = load(entry.path());
        seen.push_back(identityOf(loaded).fingerprint);
        CHECK(identityOf(load(entry.path())).fingerprint == seen.back());
    }
    CHECK(seen.size() > 15);
    std::ranges::sort(seen);
    CHECK(std::ranges::adjacent_find(seen) == seen.end());
}

TEST_CASE("the fingerprint sees a changed weight and a changed token") {
    const auto bundled =
        std::filesystem::path(AXIAL_TEST_DATA) / ".." / ".." / "llm" / "bundled" / "axial-tiny-qwen3.gguf";
    const std::string whole = contentOf(bundled);
    const TemporaryFolder folder;
    const auto fingerprintOf = [&](const std::string& bytes) {
        return identityOf(load(folder.write("model.gguf", bytes))).fingerprint;
    };
    const std::uint64_t original = fingerprintOf(whole);
    CHECK(original == identityOf(loadBundled()).fingerprint);
    const LoadedModel loaded = load(bundled);
    const std::byte* const start = loaded.file.tensors().front().data;
    std::size_t first = whole.find(std::string_view(reinterpret_cast<const char*>(start), 64));
    REQUIRE(first != whole.npos);
    std::string weight = whole;
    weight[first + 10] ^= 1;  // the first tensor's first stretch
    CHECK(fingerprintOf(weight) != original);
    // A token's text: the same letters in another order.
    const std::size_t at = whole.find("<|im_start|>");
    REQUIRE(at != whole.npos);
    std::string token = whole;
    std::swap(token[at + 2], token[at + 3]);
    CHECK(fingerprintOf(token) != original);
}
