#include "axial/ops/dot_fused.h"

#include <doctest/doctest.h>

#include <cstring>

#include "axial/ops/activations.h"
#include "ops/stored_blocks.h"

using namespace axial;

namespace {

constexpr Axis<"seq"> seq;
constexpr Axis<"embed"> embed;
constexpr Axis<"ff"> ff;
constexpr Axis<"head"> head;
constexpr Axis<"channel"> channel;
constexpr Axis<"expert"> expert;

}  // namespace

TEST_CASE("dot with weights: axes, batches, views of them, and empty extents") {
    constexpr std::size_t n = 6, heads = 3, k = 64;
    const auto bytes = randomBlocks(Format::q8_0, n * heads * k, 13);
    const Weight<ff, head, embed> w(bytes.data(), Format::q8_0, {n, heads, k});
    Tensor<float, seq, embed> x = uninitialized<float>(seq(5), embed(k));
    const auto values = randomFloats(5 * k, 14);
    std::copy(values.begin(), values.end(), x.values().begin());
    const auto whole = dot(x, w, embed);
    CHECK(whole.extent(ff) == n);
    CHECK(whole.extent(head) == heads);

    SUBCASE("a narrowed weight gives the same part of the result") {
        const auto part = dot(x, w.narrow(head, 1, 2), embed);
        for (std::size_t t = 0; t < 5; ++t)
            for (std::size_t j = 0; j < n; ++j)
                for (std::size_t h = 0; h < 2; ++h)
                    CHECK(part(seq(t), ff(j), head(h)) == whole(seq(t), ff(j), head(h + 1)));
        const auto rows = dot(x, w.narrow(ff, 2, 3), embed);
        CHECK(rows(seq(4), ff(1), head(2)) == whole(seq(4), ff(3), head(2)));
    }
    SUBCASE("a narrowed weight along what is summed over meets narrowed activations") {
        const UseActivations use(Activations::float32);
        const auto left = dot(x.narrow(embed, 0, 32), w.narrow(embed, 0, 32), embed);
        const auto right = dot(x.narrow(embed, 32, 32), w.narrow(embed, 32, 32), embed);
        const auto both = dot(x, w, embed);
        CHECK(left(seq(1), ff(2), head(1)) + right(seq(1), ff(2), head(1)) ==
              doctest::Approx(both(seq(1), ff(2), head(1))).epsilon(1e-4));
        CHECK_THROWS_AS((void)w.narrow(embed, 5, 32), ShapeError);
        CHECK_THROWS_AS((void)dot(x.narrow(embed, 0, 20), w.narrow(embed, 0, 20), embed), ShapeError);
    }
    SUBCASE("activations in another order, and with gaps") {
        Tensor<float, embed, seq> turned = uninitialized<float>(embed(k), seq(5));
        for (std::size_t t = 0; t < 5; ++t)
            for (std::size_t i = 0; i < k; ++i) turned(embed(i), seq(t)) = x(seq(t), embed(i));
        const auto out = dot(turned, w, embed);
        CHECK(std::memcmp(out.data(), whole.data(), whole.size() * sizeof(float)) == 0);
    }
    SUBCASE("a shared axis is a batch axis") {
        const Weight<expert, ff, embed> experts(bytes.data(), Format::q8_0, {heads, n, k});
        Tensor<float, seq, expert, embed> y = uninitialized<float>(seq(2), expert(heads), embed(k));
        const auto more = randomFloats(y.size(), 15);
        std::copy(more.begin(), more.end(), y.values().begin());
        const auto out = dot(y, experts, embed);  // [expert, seq, ff]
        for (std::size_t e = 0; e < heads; ++e) {
            const auto alone = dot(y(expert(e)), experts(expert(e)), embed);
            for (std::size_t t = 0; t < 2; ++t)
                for (std::size_t j = 0; j < n; ++j) CHECK(out(expert(e), seq(t), ff(j)) == alone(seq(t), ff(j)));
        }
    }
    SUBCASE("several summed axes") {
        const Weight<ff, head, channel> out(bytes.data(), Format::q8_0, {n, heads, k});
        Tensor<float, seq, head, channel> mixed = uninitialized<float>(seq(2), head(heads), channel(k));
        const auto more = randomFloats(mixed.size(), 16);
        std::copy(more.begin(), more.end(), mixed.values().begin());
        const auto both = dot(mixed, out, head, channel);
        const auto flat = dot(mixed.merge(embed, head, channel),
                              Weight<ff, embed>(bytes.data(), Format::q8_0, {n, heads * k}), embed);
        CHECK(std::memcmp(both.data(), flat.data(), flat.size() * sizeof(float)) == 0);
        CHECK_THROWS_AS((void)dot(mixed.narrow(channel, 0, 32), out.narrow(channel, 0, 32), head, channel), ShapeError);
    }
    SUBCASE("nothing at all") {
        CHECK(dot(x.narrow(seq, 0, 0), w, embed).size() == 0);
        CHECK(dot(x, w.narrow(ff, 0, 0), embed).size() == 0);
        const auto zero = dot(x.narrow(embed, 0, 0), w.narrow(embed, 0, 0), embed);
        CHECK(zero.size() == whole.size());
        for (const float v : zero.values()) CHECK(v == 0.0f);
    }
    SUBCASE("extents that disagree are named") {
        CHECK_THROWS_WITH_AS((void)dot(x.narrow(embed, 0, 32), w, embed),
                             "dot: axis embed is 32 on the left and 64 on the right", ShapeError);
    }
}

TEST_CASE("dotAll: the same bits as one dot each") {
    constexpr std::size_t k = 512;
    Tensor<float, seq, embed> x = uninitialized<float>(seq(3), embed(k));
    const auto values = randomFloats(3 * k, 17);
    std::copy(values.begin(), values.end(), x.values().begin());
    const auto b1 = randomBlocks(Format::q4_k, 20 * k, 18), b2 = randomBlocks(Format::q6_k, 8 * k, 19),
               b3 = randomBlocks(Format::f16, 9 * k, 20);
    const Weight<head, channel, embed> w1(b1.data(), Format::q4_k, {5, 4, k});
    const Weight<ff, embed> w2(b2.data(), Format::q6_k, {8, k}), w3(b3.data(), Format::f16, {9, k});
    const auto [r1, r2, r3] = dotAll(x, embed, w1, w2, w3);
    const auto s1 = dot(x, w1, embed);
    const auto s2 = dot(x, w2, embed);
    const auto s3 = dot(x, w3, embed);
    CHECK(std::memcmp(r1.data(), s1.data(), s1.size() * sizeof(float)) == 0);
    CHECK(std::memcmp(r2.data(), s2.data(), s2.size() * sizeof(float)) == 0);
    CHECK(std::memcmp(r3.data(), s3.data(), s3.size() * sizeof(float)) == 0);
}

TEST_CASE("swigluDot and addDot: the same bits as the plain ops") {
    constexpr std::size_t k = 256, n = 75;
    for (const Activations arithmetic : {Activations::int8, Activations::int16, Activations::float32})
        for (const Format format : {Format::q8_0, Format::q5_k, Format::f16, Format::iq2_s})
            for (const std::size_t m : {1, 3, 20}) {
                const UseActivations use(arithmetic);
                CAPTURE(nameOf(format));
                CAPTURE(m);
                Tensor<float, seq, embed> x = uninitialized<float>(seq(m), embed(k));
                const auto values = randomFloats(m * k, 21);
                std::copy(values.begin(), values.end(), x.values().begin());
                const auto b1 = randomBlocks(format, n * k, 22), b2 = randomBlocks(format, n * k, 23);
                const Weight<ff, embed> gate(b1.data(), format, {n, k}), up(b2.data(), format, {n, k});
                const auto inner = swigluDot(x, gate, up, embed);  // [seq, ff]
                auto left = dot(x, gate, embed);
                const auto plain = swiglu(std::move(left), dot(x, up, embed));
                CHECK(std::memcmp(inner.data(), plain.data(), plain.size() * sizeof(float)) == 0);

                Tensor<float, seq, ff> stream = uninitialized<float>(seq(m), ff(n));
                const auto more = randomFloats(m * n, 24);
                std::copy(more.begin(), more.end(), stream.values().begin());
                const auto sum = add(stream, dot(x, gate, embed));
                const float* const place = stream.data();
                const auto fused = addDot(std::move(stream), x, gate, embed);
                CHECK(fused.data() == place);
                CHECK(std::memcmp(fused.data(), sum.data(), sum.size() * sizeof(float)) == 0);
            }
}

TEST_CASE("addDot: operands that share memory, other layouts, and what it refuses") {
    constexpr std::size_t k = 64;
    const auto bytes = randomBlocks(Format::q8_0, k * k, 25);
    const Weight<embed, ff> w(bytes.data(), Format::q8_0, {k, k});
    Tensor<float, seq, embed> x = uninitialized<float>(seq(2), embed(k));
    const auto values = randomFloats(2 * k, 26);
    std::copy(values.begin(), values.end(), x.values().begin());
    const auto inner = x.rename(embed, ff);
    const auto sum = add(x, dot(inner, w, ff));
    const auto part = addDot(x.narrow(seq, 1, 1), inner.narrow(seq, 1, 1), w, ff);
    CHECK(std::memcmp(part.data(), sum.data() + k, k * sizeof(float)) == 0);
    CHECK_THROWS_AS((void)addDot(std::move(x), inner.narrow(seq, 0, 1), w, ff), ShapeError);
    REQUIRE(!x.empty());  // untouched by the refused call
    const auto shared = addDot(std::move(x), inner, w, ff);
    CHECK(std::memcmp(shared.data(), sum.data(), sum.size() * sizeof(float)) == 0);
}
