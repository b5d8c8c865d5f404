// What counts in a cache, and what does not yet.
#include <doctest/doctest.h>

#include "axial/llm/kv_cache.h"
#include "axial/ops/structure.h"
#include "axial/tensor/error.h"

using namespace axial;
using namespace axial::llm;

namespace {
Tensor<float, seq, kvHead, channel> rows(std::size_t count, float first) {
    auto t = uninitialized<float>(seq(count), kvHead(2), channel(32));
    for (std::size_t i = 0; i < t.size(); ++i) t.values()[i] = first + static_cast<float>(i % 64);
    return t;
}
}  // namespace

TEST_CASE("rows are appended behind those that count, and count when the step is done") {
    for (const Format format : {Format::f32, Format::f16, Format::q8_0}) {
        CAPTURE(nameOf(format));
        KvCache cache(2, kvHead(2), channel(32), 4, format);
        CHECK(cache.bytes() == KvCache::bytesFor(2, 2, 32, 4, format));
        const auto k = rows(3, 1), v = rows(3, 100);
        const auto first = cache.append(0, k, v);
        CHECK(first.keys.extent(key) == 3);
        CHECK(cache.length() == 0);  // not yet
        (void)cache.append(1, k, v);
        cache.advance(3);
        CHECK(cache.length() == 3);
        const auto second = cache.append(0, rows(1, 7), rows(1, 9));
        CHECK(second.values.extent(key) == 4);
        const auto keys = copy(second.keys);  // [kvHead, key, channel]
        CHECK(keys(kvHead(1), key(2), channel(5)) == doctest::Approx(k(seq(2), kvHead(1), channel(5))).epsilon(0.02));
        CHECK(keys(kvHead(0), key(3), channel(0)) == doctest::Approx(7).epsilon(0.05));
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

TEST_CASE("formats that keys and values are not kept in are refused") {
    CHECK_THROWS_WITH_AS(KvCache(1, kvHead(2), channel(32), 4, Format::q4_k), doctest::Contains("not as Q4_K"),
                         ShapeError);
    CHECK_THROWS_AS(KvCache(1, kvHead(2), channel(40), 4, Format::q8_0), ShapeError);
}
