#include "axial/llm/server/kept_caches.h"

#include <doctest/doctest.h>

#include <numeric>

using namespace axial;
using namespace axial::llm;
using namespace axial::llm::server;

namespace {

using Tokens = std::vector<TokenId>;

// One head of 32 channels in one layer, F32: 256 bytes a position. Its numbers say which tokens were put in.
KvCache cacheOf(const Tokens& tokens, std::size_t capacity) {
    KvCache cache(1, Axis<"kvHead">{}(1), Axis<"channel">{}(32), capacity, Format::f32);
    auto rows = zeros<float>(seq(tokens.size()), kvHead(1), channel(32));
    const std::span<float> numbers = rows.values();
    for (std::size_t i = 0; i < tokens.size(); ++i) numbers[i * 32] = static_cast<float>(tokens[i]);
    cache.append(0, rows, rows);
    cache.advance(tokens.size());
    return cache;
}

Tokens held(const KvCache& cache) {
    Tokens tokens;
    bool keys = true;
    cache.visit([&](std::span<const std::byte> piece) {
        const auto* numbers = reinterpret_cast<const float*>(piece.data());
        if (std::exchange(keys, false))
            for (std::size_t i = 0; i < piece.size() / 128; ++i)
                tokens.push_back(static_cast<TokenId>(numbers[i * 32]));
    });
    return tokens;
}

Tokens range(TokenId from, std::size_t count) {
    Tokens tokens(count);
    std::iota(tokens.begin(), tokens.end(), from);
    return tokens;
}

Tokens longer(Tokens a, const Tokens& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

}  // namespace

TEST_CASE("kept caches: the longest common beginning, copied, with room") {
    KeptCaches kept(1 << 20);
    const Tokens system = range(1, 20), first = longer(system, range(100, 10)), second = longer(system, range(200, 5));
    kept.keep(first, cacheOf(first, 64));
    kept.keep(second, cacheOf(second, 25));
    CHECK(kept.size() == 2);
    CHECK(kept.longest(longer(system, range(100, 3))) == 23);
    CHECK(kept.longest(Tokens{9}) == 0);
    CHECK_FALSE(kept.take(Tokens{9}, 10));

    const auto found = kept.take(longer(system, range(100, 3)), 100);
    REQUIRE(found);
    CHECK(found->tokens == longer(system, range(100, 3)));
    CHECK(held(found->cache) == found->tokens);
    CHECK(found->cache.capacity() >= 100);
    CHECK(kept.size() == 2);
}

TEST_CASE("kept caches: who goes on with all of one takes it along") {
    KeptCaches kept(1 << 20);
    const Tokens first = range(1, 20);
    kept.keep(first, cacheOf(first, 20));
    const auto found = kept.take(longer(first, {7, 8}), 40);
    REQUIRE(found);
    CHECK(held(found->cache) == first);
    CHECK(found->cache.capacity() >= 40);
    CHECK(kept.size() == 0);
    CHECK(kept.bytes() == 0);
}

TEST_CASE("kept caches: what others hold is not kept twice") {
    KeptCaches kept(1 << 20);
    const Tokens all = range(1, 30), shorter = range(1, 10);
    kept.keep(shorter, cacheOf(shorter, 10));
    kept.keep(all, cacheOf(all, 30));
    CHECK(kept.size() == 1);
    kept.keep(shorter, cacheOf(shorter, 10));
    CHECK(kept.size() == 1);
    CHECK(kept.longest(all) == 30);
}

TEST_CASE("kept caches: within the budget, the one used last stays") {
    const std::size_t each = cacheOf(range(0, 10), 10).bytes();
    KeptCaches kept(3 * each);
    for (TokenId i = 0; i < 3; ++i) kept.keep(range(i * 1000, 10), cacheOf(range(i * 1000, 10), 10));
    CHECK(kept.size() == 3);
    CHECK(kept.take(longer(range(0, 5), {9999}), 10));  // the oldest is used
    kept.keep(range(5000, 10), cacheOf(range(5000, 10), 10));
    CHECK(kept.size() == 3);
    CHECK(kept.bytes() <= 3 * each);
    CHECK(kept.longest(range(0, 10)) == 10);
    CHECK(kept.longest(range(1000, 10)) == 0);

    kept.keep(range(7000, 100), cacheOf(range(7000, 100), 100));  // larger than all of it
    CHECK(kept.longest(range(7000, 100)) == 0);
    CHECK(kept.size() == 3);
    KeptCaches none(0);
    none.keep(range(0, 10), cacheOf(range(0, 10), 10));
    CHECK(none.size() == 0);
}

TEST_CASE("kept caches: room that was not used is given back") {
    KeptCaches kept(1 << 20);
    kept.keep(range(0, 10), cacheOf(range(0, 10), 1000));
    CHECK(kept.bytes() == cacheOf(range(0, 10), 10).bytes());
    CHECK(held(kept.take(range(0, 10), 20)->cache) == range(0, 10));
}
