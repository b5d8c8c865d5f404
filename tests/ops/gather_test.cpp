#include "axial/ops/gather.h"

#include <doctest/doctest.h>

#include <cstring>

#include "ops/stored_blocks.h"

using namespace axial;

namespace {
constexpr Axis<"seq"> seq;
constexpr Axis<"vocab"> vocab;
constexpr Axis<"embed"> embed;
constexpr Axis<"batch"> batch;
constexpr Axis<"layer"> layer;
}  // namespace

TEST_CASE("gather: rows of a table in every format") {
    for (const FormatInfo& info : formats) {
        CAPTURE(info.name);
        constexpr std::size_t rows = 5, k = 256;
        const auto bytes = randomBlocks(info.format, rows * k, 1);
        const auto values = decoded(info.format, bytes);
        const Weight<vocab, embed> table(bytes.data(), info.format, {rows, k});
        const auto ids = tensor<std::int32_t>({4, 0, 4, 2}, seq(4));
        const auto out = gather(table, vocab, ids);  // [seq, embed]
        CHECK(out.extent(seq) == 4);
        for (std::size_t t = 0; t < 4; ++t)
            CHECK(std::memcmp(out.data() + t * k, values.data() + static_cast<std::size_t>(ids(seq(t))) * k,
                              k * sizeof(float)) == 0);
    }
}

TEST_CASE("gather: the ids' axes stand where the table's axis stood") {
    Tensor<float, layer, vocab, embed> table = uninitialized<float>(layer(2), vocab(3), embed(4));
    float next = 0;
    for (float& v : table.values()) v = next++;
    const auto ids = tensor<std::int32_t>({2, 1, 0, 2, 2, 1}, batch(2), seq(3));
    const auto out = gather(table, vocab, ids);
    static_assert(std::is_same_v<SetOf<decltype(out)>, Axes<layer, batch, seq, embed>>);
    for (std::size_t l = 0; l < 2; ++l)
        for (std::size_t b = 0; b < 2; ++b)
            for (std::size_t t = 0; t < 3; ++t)
                for (std::size_t i = 0; i < 4; ++i)
                    CHECK(out(layer(l), batch(b), seq(t), embed(i)) ==
                          table(layer(l), vocab(static_cast<std::size_t>(ids(batch(b), seq(t)))), embed(i)));
    const auto last = gather(table, embed, ids.as(seq, batch));  // a float table's last axis, ids in another order
    CHECK(last(layer(1), vocab(2), seq(1), batch(0)) == table(layer(1), vocab(2), embed(1)));
    CHECK(gather(table, vocab, ids.narrow(seq, 0, 0)).size() == 0);
}

TEST_CASE("gather: an id outside the table is named") {
    Tensor<float, vocab, embed> table = zeros<float>(vocab(3), embed(4));
    CHECK_THROWS_WITH_AS((void)gather(table, vocab, tensor<std::int32_t>({0, 3}, seq(2))),
                         "gather: id 3 at position 1 is outside axis vocab of extent 3", ValueError);
    CHECK_THROWS_AS((void)gather(table, vocab, tensor<std::int32_t>({-1}, seq(1))), ValueError);
}
