// What counts in a cache, and what does not yet; the memory it takes; copies of its beginning.
#include <doctest/doctest.h>
#include <malloc.h>

#include <cstring>
#include <stdexcept>

#include "axial/llm/kv_cache.h"
#include "axial/ops/structure.h"
#include "axial/tensor/error.h"
#include "oracle.h"

using namespace axial;
using namespace axial::llm;

namespace {

Tensor<float, seq, kvHead, channel> rows(std::size_t count, float first) {
    auto t = uninitialized<float>(seq(count), kvHead(2), channel(32));
    for (std::size_t i = 0; i < t.size(); ++i) t.values()[i] = first + static_cast<float>(i % 64);
    return t;
}

std::vector<CacheFormats> everyPair() {
    std::vector<CacheFormats> pairs;
    for (const Format keys : {Format::f32, Format::f16, Format::q8_0})
        for (const Format values : {Format::f32, Format::f16, Format::q8_0}) pairs.emplace_back(keys, values);
    return pairs;
}

// A cache of 2 layers and 2 heads that holds `count` positions.
KvCache filled(CacheFormats formats, std::size_t count, std::size_t capacity) {
    KvCache cache(2, kvHead(2), channel(32), capacity, formats);
    for (std::size_t layer = 0; layer < 2; ++layer)
        (void)cache.append(layer, rows(count, 1 + static_cast<float>(layer)), rows(count, 100));
    cache.advance(count);
    return cache;
}

// All that counts, in the order of visit().
std::vector<std::byte> content(const KvCache& cache) {
    std::vector<std::byte> all;
    cache.visit([&](std::span<const std::byte> piece) { all.insert(all.end(), piece.begin(), piece.end()); });
    return all;
}

// Bytes of the heap in use; 0 where a sanitizer has replaced it.
std::size_t heldBytes() {
    const struct mallinfo2 heap = ::mallinfo2();
    return heap.uordblks + heap.hblkhd;
}

}  // namespace

TEST_CASE("rows are appended behind those that count, and count when the step is done") {
    for (const CacheFormats formats : everyPair()) {
        CAPTURE(formats.name());
        KvCache cache(2, kvHead(2), channel(32), 4, formats);
        CHECK(cache.bytes() == KvCache::bytesFor(2, 2, 32, 4, formats));
        CHECK(cache.formats() == formats);
        const auto k = rows(3, 1), v = rows(3, 100);
        const auto first = cache.append(0, k, v);
        CHECK(first.keys.extent(key) == 3);
        CHECK(first.keys.format() == formats.keys);
        CHECK(first.values.format() == formats.values);
        CHECK(cache.length() == 0);  // not yet
        (void)cache.append(1, k, v);
        cache.advance(3);
        CHECK(cache.length() == 3);
        const auto second = cache.append(0, rows(1, 7), rows(1, 9));
        CHECK(second.values.extent(key) == 4);
        const auto keys = copy(second.keys), values = copy(second.values);  // [kvHead, key, channel]
        CHECK(keys(kvHead(1), key(2), channel(5)) == doctest::Approx(k(seq(2), kvHead(1), channel(5))).epsilon(0.02));
        CHECK(keys(kvHead(0), key(3), channel(0)) == doctest::Approx(7).epsilon(0.05));
        CHECK(values(kvHead(1), key(1), channel(3)) == doctest::Approx(v(seq(1), kvHead(1), channel(3))).epsilon(0.02));
    }
}

TEST_CASE("a full cache refuses more, and truncation frees") {
    KvCache cache(1, kvHead(2), channel(32), 4, Format::f16);
    (void)cache.append(0, rows(3, 0), rows(3, 0));
    cache.advance(3);
    CHECK_THROWS_WITH_AS((void)cache.append(0, rows(2, 0), rows(2, 0)),
                         "KvCache::append: 3 of 4 positions are taken, so there is no room for 2 more", ValueError);
    CHECK_THROWS_WITH_AS(cache.truncate(4), doctest::Contains("there are 3 positions"), ValueError);
    cache.truncate(1);
    CHECK(cache.length() == 1);
    CHECK_NOTHROW((void)cache.append(0, rows(3, 0), rows(3, 0)));
}

TEST_CASE("truncation touches no rows") {
    KvCache cache = filled(Format::q8_0, 5, 8);
    const std::vector<std::byte> before = content(cache);
    cache.truncate(2);
    CHECK(content(cache).size() == before.size() / 5 * 2);
    cache.advance(3);  // what was cut off is still there
    CHECK(content(cache) == before);
}

TEST_CASE("formats that keys and values are not kept in are refused") {
    CHECK_THROWS_WITH_AS(KvCache(1, kvHead(2), channel(32), 4, Format::q4_k),
                         "KvCache: keys are kept as F32, F16 or Q8_0, not as Q4_K", ShapeError);
    CHECK_THROWS_WITH_AS(KvCache(1, kvHead(2), channel(32), 4, {Format::f16, Format::bf16}),
                         "KvCache: values are kept as F32, F16 or Q8_0, not as BF16", ShapeError);
    CHECK_THROWS_WITH_AS(
        KvCache(1, kvHead(2), channel(40), 4, {Format::f16, Format::q8_0}),
        "KvCache: axis channel is 40, not a multiple of the 32 numbers in a block of Q8_0, and a block "
        "cannot reach over two heads; keep the values as F16",
        ShapeError);
}

TEST_CASE("KV-03: heads that are not whole blocks are refused when the cache is made, and blocks keep to heads") {
    if (!oracle::present()) return;
    nlohmann::json row;
    std::ifstream reports(oracle::path("reports.jsonl"));
    for (std::string line; std::getline(reports, line);)
        if (line.find("\"KV-03\"") != std::string::npos) row = nlohmann::json::parse(line);
    REQUIRE(row.contains("expected"));
    const std::size_t heads = row["input"]["n_kv_heads"];
    for (const auto& [channels, bytes] : row["expected"]["row_bytes_per_head"].items()) {
        const std::size_t count = std::stoul(channels);
        CAPTURE(count);
        CHECK(KvCache::bytesFor(1, heads, count, 1, Format::q8_0) == 2 * heads * bytes.get<std::size_t>());
        KvCache cache(1, kvHead(heads), channel(count), 3, Format::q8_0);
        cache.fill(3, [&](std::span<std::byte> piece) {
            CHECK(piece.size() == 3 * bytes.get<std::size_t>());
            std::memset(piece.data(), 0, piece.size());
        });
    }
    std::size_t refused = 0;
    for (const std::size_t count : row["expected"]["not_multiple"]) {
        CAPTURE(count);
        CHECK_THROWS_WITH_AS(KvCache(1, kvHead(heads), channel(count), 3, Format::q8_0),
                             doctest::Contains("not a multiple of the 32 numbers"), ShapeError);
        CHECK_NOTHROW(KvCache(1, kvHead(heads), channel(count), 3, Format::f16));
        ++refused;
    }
    CHECK(refused == 3);  // one of them with heads * channels a multiple of 32: the row's trap
}

TEST_CASE("a fork begins with the same bytes, and then goes its own way") {
    for (const CacheFormats formats : everyPair()) {
        CAPTURE(formats.name());
        KvCache cache = filled(formats, 5, 8);
        const std::vector<std::byte> before = content(cache);
        for (std::size_t length = 0; length <= 5; ++length) {
            KvCache other = cache.fork(length, length + 3);
            CHECK(other.length() == length);
            CHECK(other.capacity() == length + 3);
            CHECK(other.formats() == formats);
            KvCache cut = cache.fork(5, 5);
            cut.truncate(length);
            CHECK(content(other) == content(cut));
            (void)other.append(0, rows(3, 50), rows(3, 50));
            other.advance(3);
            CHECK(content(cache) == before);
        }
        CHECK_THROWS_WITH_AS((void)cache.fork(6, 9),
                             "KvCache::fork: there are 5 positions, so the first 6 cannot be copied", ValueError);
        CHECK_THROWS_WITH_AS((void)cache.fork(4, 3), doctest::Contains("room for 3 positions, so 4 do not fit"),
                             ValueError);
        CHECK(content(cache) == before);
        CHECK(cache.length() == 5);
    }
}

TEST_CASE("a cache whose filling fails holds nothing") {
    KvCache cache = filled(Format::f16, 5, 8);
    std::size_t pieces = 0;
    CHECK_THROWS_AS(cache.fill(4,
                               [&](std::span<std::byte>) {
                                   if (++pieces == 5) throw std::runtime_error("no more");
                               }),
                    std::runtime_error);
    CHECK(cache.length() == 0);
    CHECK(cache.capacity() == 8);
}

TEST_CASE("a cache takes the memory that was said before, and at most 1 MB more") {
    constexpr std::size_t layers = 28, heads = 8, channels = 128;
    for (const CacheFormats formats : {CacheFormats(Format::f16), {Format::q8_0, Format::f32}})
        for (const std::size_t capacity : {100, 1000, 1025, 4097}) {
            CAPTURE(capacity);
            const std::size_t said = KvCache::bytesFor(layers, heads, channels, capacity, formats);
            const std::size_t before = heldBytes();
            const KvCache cache(layers, kvHead(heads), channel(channels), capacity, formats);
            CHECK(cache.bytes() == said);
            CHECK(heldBytes() - before <= said + (std::size_t{1} << 20) + 65536);
        }
}
