#include "axial/ops/structure.h"

#include <doctest/doctest.h>

#include <string>

#include "axial/tensor/decode.h"
#include "axial/tensor/error.h"
#include "ops/samples.h"

using namespace axial;

namespace {

constexpr Axis<"seq"> seq;
constexpr Axis<"head"> head;
constexpr Axis<"embed"> embed;
constexpr Axis<"rgb", 3> rgb;

std::string errorOf(auto&& f) {
    try {
        f();
    } catch (const Error& e) {
        return e.what();
    }
    return "none";
}

}  // namespace

TEST_CASE("copy: of any view, in any order, of any element type") {
    const auto x = randomTensor(1, seq(4), head(3), embed(5));
    const auto turned = copy(x.as(embed, seq, head));
    static_assert(std::is_same_v<decltype(copy(x.as(embed, seq, head))), Tensor<float, embed, seq, head>>);
    CHECK(turned.isDense());
    for (std::size_t s = 0; s < 4; ++s)
        for (std::size_t h = 0; h < 3; ++h)
            for (std::size_t e = 0; e < 5; ++e)
                CHECK(turned(embed(e), seq(s), head(h)) == x(seq(s), head(h), embed(e)));
    const auto part = copy(x.narrow(head, 1, 2)(seq(2)));
    CHECK(part(head(1), embed(4)) == x(seq(2), head(2), embed(4)));
    CHECK(copy(tensor<float>({7}))() == 7);

    const auto numbers = tensor<std::int32_t>({1, 2, 3, 4, 5, 6}, seq(2), head(3));
    CHECK(copy(numbers.as(head, seq))(head(2), seq(0)) == 3);
    const auto bytes = tensor<std::int8_t>({1, 2, 3, 4, 5, 6}, seq(2), head(3));
    CHECK(copy(bytes.as(head, seq))(head(2), seq(0)) == 3);
    const auto doubles = tensor<double>({1, 2, 3, 4, 5, 6}, seq(2), head(3));
    CHECK(copy(doubles.as(head, seq))(head(2), seq(0)) == 3);
    const auto shorts = tensor<std::int16_t>({1, 2, 3, 4, 5, 6}, seq(2), head(3));
    CHECK(copy(shorts.as(head, seq))(head(2), seq(0)) == 3);
}

TEST_CASE("copy: of a Stored decodes") {
    const std::uint16_t halves[] = {0x3c00, 0x4000, 0xc000, 0x3800, 0, 0x8000};
    const Weight<seq, embed> stored(halves, Format::bf16, {2, 3});
    const Weight<seq, embed> f16(halves, Format::f16, {2, 3});
    std::vector<std::byte> blocks(4 * 34, std::byte{1});
    const Weight<seq, embed> q8(blocks.data(), Format::q8_0, {2, 64});
    std::vector<float> want(128);
    decode(Format::q8_0, blocks.data(), 128, want.data());
    CHECK(sameBits(copy(q8), std::span<const float>(want)));
    CHECK(sameBits(copy(q8.narrow(embed, 32, 32)(seq(1))), std::span<const float>(want).subspan(96)));
    const Weight<seq, embed> broken(blocks.data(), Format::q8_0, {2, 33});
    CHECK(errorOf([&] { (void)copy(broken); }).find("must be whole blocks") != std::string::npos);
    CHECK(copy(f16)(seq(1), embed(0)) == 0.5f);
    CHECK(copy(stored)(seq(0), embed(1)) == 2.0f);
}

TEST_CASE("copy: into a view") {
    auto x = zeros<float>(seq(4), embed(3));
    const auto row = randomTensor(2, embed(3), seq(2));
    copy(row, x.edit().narrow(seq, 1, 2));
    CHECK(x(seq(0), embed(0)) == 0);
    CHECK(x(seq(1), embed(2)) == row(embed(2), seq(0)));
    CHECK(x(seq(2), embed(1)) == row(embed(1), seq(1)));
    CHECK(x(seq(3), embed(0)) == 0);
    CHECK(errorOf([&] { copy(row, x.edit()); }) == "copy: axis seq is 4 on the left and 2 on the right");
}

TEST_CASE("concat: along an outer and an inner axis, axes in any order") {
    const auto a = randomTensor(3, seq(2), embed(3)), b = randomTensor(4, seq(1), embed(3));
    const auto c = randomTensor(5, embed(3), seq(4));
    const auto rows = concat(seq, a, b, c);
    REQUIRE(rows.extent(seq) == 7);
    CHECK(rows(seq(1), embed(2)) == a(seq(1), embed(2)));
    CHECK(rows(seq(2), embed(0)) == b(seq(0), embed(0)));
    CHECK(rows(seq(6), embed(1)) == c(embed(1), seq(3)));
    const auto wide = concat(embed, a, a.narrow(embed, 1, 1));
    REQUIRE(wide.extent(embed) == 4);
    CHECK(wide(seq(1), embed(3)) == a(seq(1), embed(1)));
    CHECK(concat(seq, a).size() == a.size());
    CHECK(concat(seq, a.narrow(seq, 0, 0), a.narrow(seq, 0, 0)).size() == 0);
    CHECK(errorOf([&] { (void)concat(embed, a, b); }) == "concat: axis seq is 2 on the left and 1 on the right");
}

TEST_CASE("select: positions in any order, repeated") {
    const auto x = randomTensor(6, seq(5), embed(3));
    const auto rows = select(x, seq, {4, 0, 4});
    REQUIRE(rows.extent(seq) == 3);
    CHECK(rows(seq(0), embed(1)) == x(seq(4), embed(1)));
    CHECK(rows(seq(1), embed(2)) == x(seq(0), embed(2)));
    CHECK(rows(seq(2), embed(0)) == x(seq(4), embed(0)));
    const auto columns = select(x, embed, {2});
    CHECK(columns(seq(3), embed(0)) == x(seq(3), embed(2)));
    CHECK(select(x, seq, {}).size() == 0);
    CHECK(errorOf([&] { (void)select(x, seq, {5}); }) == "select: axis seq has extent 5, but position 5 was asked for");
    const auto pixels = zeros<float>(seq(2), rgb(3));
    CHECK(concat(seq, pixels, pixels).extent(rgb) == 3);
}
