#include <memory>
#include <vector>

#include <doctest/doctest.h>

#include "axial/tensor/decode.h"
#include "axial/tensor/encode.h"
#include "axial/tensor/stored.h"
#include "axial/tensor/tensor.h"

using namespace axial;

namespace {
constexpr Axis<"embed"> embed;
constexpr Axis<"ff"> ff;
constexpr Axis<"expert"> expert;
constexpr Axis<"head"> head;
constexpr Axis<"channel"> channel;
}  // namespace

TEST_CASE("a Weight borrows, keeps its file mapped, and knows its name") {
    auto mapping = std::make_shared<std::vector<float>>(std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8});
    const std::weak_ptr<std::vector<float>> watched = mapping;
    Weight<ff, embed> inner;
    CHECK(inner.empty());
    {
        const Weight<expert, ff, embed> w(mapping->data(), Format::f32, Extents{2, 2, 2}, mapping, "blk.0.up.weight");
        CHECK(w.extent(ff) == 2);
        inner = w(expert(1));
        const Weight<expert, ff, embed> copy = w;
        CHECK(copy.ref().data == mapping->data());
        CHECK(copy.name().data() == w.name().data());
    }
    const void* data = mapping->data() + 4;
    mapping.reset();
    CHECK_FALSE(watched.expired());
    CHECK(inner.name() == "blk.0.up.weight");
    CHECK(inner.ref().data == data);
    CHECK_THROWS_WITH_AS((void)inner(ff(2)), "index: axis ff has extent 2, but position 2 was asked for", ShapeError);
    inner = {};
    CHECK(watched.expired());
}

TEST_CASE("a float tensor is stored as F32, whatever the order of its axes") {
    const auto x = tensor<float>({1, 2, 3, 4, 5, 6}, ff(2), embed(3));
    const Stored<embed, ff> s = x;
    CHECK(s.format() == Format::f32);
    CHECK(s.extent(embed) == 3);
    CHECK(s.ref().stride[0] == 1);
    static_assert(std::is_same_v<decltype(s.rename(ff, channel)), Stored<embed, channel>>);
    CHECK(s(embed(2)).narrow(ff, 1, 1).ref().data == x.data() + 5);
}

TEST_CASE("what is stored in blocks is cut only between blocks") {
    std::vector<float> values(2 * 3 * 64);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = float(i % 50) - 20;
    std::vector<std::byte> blocks(bytesOf(Format::q8_0, values.size()));
    quantizeQ8_0(values.data(), values.size(), blocks.data());
    const Weight<expert, ff, embed> w(blocks.data(), Format::q8_0, Extents{2, 3, 64});
    std::vector<float> all(values.size());
    decode(Format::q8_0, blocks.data(), values.size(), all.data());
    const auto first = [](const auto& part) {
        float block[32];
        decode(Format::q8_0, static_cast<const std::byte*>(part.ref().data), 32, block);
        return block[0];
    };
    CHECK(first(w(expert(1))) == all[192]);
    CHECK(first(w(expert(1), ff(2))) == all[192 + 128]);
    CHECK(first(w.narrow(ff, 1, 2)) == all[64]);
    CHECK(first(w.narrow(embed, 32, 32)) == all[32]);
    CHECK(first(w.split(embed, head(2), channel)(head(1))) == all[32]);
    CHECK(w.merge(channel, ff, embed).extent(channel) == 192);
    CHECK_THROWS_WITH_AS((void)w.narrow(embed, 16, 32),
                         "narrow: axis embed of [expert=2, ff=3, embed=64] cannot be cut there: Q8_0 is stored in "
                         "blocks of 32 values; copy() decodes it",
                         ShapeError);
    CHECK_THROWS_AS((void)w.narrow(embed, 0, 16), ShapeError);
    CHECK_THROWS_WITH_AS((void)w(embed(0)),
                         "index: axis embed of [expert=2, ff=3, embed=64] cannot be cut there: Q8_0 is stored in "
                         "blocks of 32 values; copy() decodes it",
                         ShapeError);
    CHECK_THROWS_AS((void)w.split(embed, head(4), channel)(head(0)), ShapeError);
    CHECK_NOTHROW((void)w.narrow(embed, 0, 64));
    CHECK_THROWS_AS((void)allocate(Format::q8_0, names<Axes<embed>>, 1, Extents{33}), ShapeError);
}
