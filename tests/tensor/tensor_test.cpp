#include <numeric>
#include <type_traits>
#include <vector>

#include <doctest/doctest.h>

#include "axial/tensor/stored.h"
#include "axial/tensor/tensor.h"

using namespace axial;

#if defined(__SANITIZE_ADDRESS__)
#define AXIAL_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#define AXIAL_ADDRESS_SANITIZER __has_feature(address_sanitizer)
#else
#define AXIAL_ADDRESS_SANITIZER 0
#endif

namespace {

constexpr bool addressesAreChecked = AXIAL_ADDRESS_SANITIZER;

constexpr Axis<"seq"> seq;
constexpr Axis<"embed"> embed;
constexpr Axis<"key"> key;
constexpr Axis<"head"> head;
constexpr Axis<"channel"> channel;
constexpr Axis<"rgb", 3> rgb;
constexpr Axis<"rgb"> anyRgb;

// 0, 1, 2, ... in the axes' order.
template <class... X>
auto counted(At<X>... extent) {
    auto t = uninitialized<float>(extent...);
    std::iota(t.values().begin(), t.values().end(), 0.f);
    return t;
}

// The same call, but its buffer is lent; an op that keeps the contract of replace().
Tensor<float, seq, embed> doubled(Tensor<float, seq, embed>&& x, bool fails = false) {
    if (fails) throw ShapeError("doubled: told to fail");
    Loan loan = lend(std::move(x));
    const std::size_t n = loan.ref->size();
    const auto* from = static_cast<const float*>(loan.ref->data);
    Owned out = loan.claim(loan.ref->axis);
    for (std::size_t i = 0; i < n; ++i) static_cast<float*>(out.ref.data)[i] = 2 * from[i];
    return Tensor<float, seq, embed>(std::move(out));
}

}  // namespace

TEST_CASE("a tensor's type says its axes, and its values are found by name") {
    auto x = tensor<float>({1, 2, 3, 4, 5, 6}, seq(2), embed(3));
    static_assert(std::is_same_v<decltype(x), Tensor<float, seq, embed>>);
    CHECK(x.extent(seq) == 2);
    CHECK(x.extent(embed) == 3);
    CHECK(x.stride(seq) == 3);
    CHECK(x.size() == 6);
    CHECK(x(seq(1), embed(0)) == 4);
    CHECK(x(embed(0), seq(1)) == 4);  // the order of naming does not matter
    CHECK(x(seq(1))(embed(2)) == 6);
    CHECK(x(embed(2))(seq(0)) == 3);
    x(seq(0), embed(1)) = 20;
    CHECK(x.values()[1] == 20);
    x.edit()(seq(1))(embed(1)) = 50;
    CHECK(x(seq(1), embed(1)) == 50);
    const auto& c = x;
    static_assert(std::is_same_v<decltype(c(seq(0))), View<const float, embed>>);
    static_assert(std::is_same_v<decltype(x(seq(0))), View<float, embed>>);
    static_assert(std::is_same_v<decltype(c(seq(0), embed(0))), const float&>);
    const auto scalar = tensor<float>({7});
    static_assert(std::is_same_v<decltype(scalar), const Tensor<float>>);
    CHECK(scalar() == 7);
    CHECK(zeros<std::int64_t>(seq(3)).size() == 3);
    CHECK(zeros<double>(seq(2))(seq(1)) == 0);
}

TEST_CASE("an axis declared twice is one axis") {
    constexpr Axis<"seq"> position;
    static_assert(std::is_same_v<Tensor<float, seq>, Tensor<float, position>>);
    CHECK(counted(seq(2))(position(1)) == 1);
}

TEST_CASE("views: reorder, narrow, rename, split, merge") {
    const auto x = counted(seq(2), embed(12));
    const auto flipped = x.as(embed, seq);
    static_assert(std::is_same_v<decltype(flipped), const View<const float, embed, seq>>);
    CHECK(flipped.data() == x.data());
    CHECK(flipped.stride(embed) == 1);
    CHECK_FALSE(flipped.isDense());
    const View<const float, seq, embed> back = flipped;  // order is layout, not meaning
    CHECK(back.isDense());

    const auto heads = x.split(embed, head(3), channel);
    static_assert(std::is_same_v<decltype(heads), const View<const float, seq, head, channel>>);
    CHECK(heads(seq(1), head(2), channel(3)) == 12 + 2 * 4 + 3);
    CHECK(heads.merge(embed, head, channel)(seq(1), embed(11)) == 23);
    CHECK(x.rename(seq, key).narrow(key, 1, 1)(key(0), embed(0)) == 12);
    CHECK(x.narrow(embed, 4, 5)(seq(1), embed(0)) == 16);
    CHECK(x.narrow(embed, 12, 0).size() == 0);
}

TEST_CASE("merge looks at the layout of every axis, also across axes of one position") {
    const auto x = counted(seq(4), head(3), channel(5));
    const auto cut = x.narrow(head, 1, 1).narrow(channel, 0, 2);
    CHECK_THROWS_WITH_AS(
        (void)cut.merge(embed, seq, head, channel),
        "merge: axes seq and channel of [seq=4, head=1, channel=2] are not laid out as one; copy() first", ShapeError);
    CHECK(x.narrow(seq, 2, 1).merge(embed, seq, head)(embed(2), channel(4)) == 2 * 15 + 14);
    CHECK(x.narrow(seq, 1, 0).narrow(head, 0, 2).merge(embed, seq, head, channel).size() == 0);
    const auto column = x.narrow(channel, 1, 1).merge(embed, seq, head, channel);
    CHECK(column(embed(11)) == 11 * 5 + 1);
}

TEST_CASE("what holds no numbers merges any axes, whichever axis is the empty one") {
    const auto none = counted(seq(0), head(2), channel(3));
    CHECK(none.as(seq, channel, head).isDense());
    CHECK(none.as(seq, channel, head).merge(embed, channel, head).extent(embed) == 6);
    CHECK(none.as(channel, head, seq).merge(embed, channel, head).size() == 0);
    const auto one = counted(seq(1), head(2), channel(3));
    CHECK_THROWS_AS((void)one.as(seq, channel, head).merge(embed, channel, head), ShapeError);
}

TEST_CASE("on an rvalue, rename, split and merge keep the ownership and move no numbers") {
    auto x = counted(seq(2), embed(12));
    const float* data = x.data();
    auto h = std::move(x).split(embed, head(3), channel);
    static_assert(std::is_same_v<decltype(h), Tensor<float, seq, head, channel>>);
    CHECK(h.data() == data);
    CHECK(x.empty());
    CHECK(x.values().empty());
    auto back = std::move(h).merge(embed, head, channel).rename(seq, key);
    static_assert(std::is_same_v<decltype(back), Tensor<float, key, embed>>);
    CHECK(back.data() == data);
    CHECK_THROWS_AS((void)std::move(back).split(embed, head(5), channel), ShapeError);
    CHECK(back.data() == data);  // a failed split leaves the tensor where it was
    CHECK(back(key(1), embed(11)) == 23);
}

TEST_CASE("run-time errors name the operation, the axis and both values") {
    const auto x = counted(seq(2), embed(12));
    CHECK_THROWS_WITH_AS((void)x(seq(2), embed(0)), "index: axis seq has extent 2, but position 2 was asked for",
                         ShapeError);
    CHECK_THROWS_WITH_AS((void)x(embed(12)), "index: axis embed has extent 12, but position 12 was asked for",
                         ShapeError);
    CHECK_THROWS_WITH_AS((void)x.narrow(embed, 10, 3),
                         "narrow: axis embed has extent 12, but 3 positions from 10 on were asked for", ShapeError);
    CHECK_THROWS_AS((void)x.narrow(embed, static_cast<std::size_t>(-1), 2), ShapeError);
    CHECK_THROWS_WITH_AS((void)x.split(embed, head(5), channel),
                         "split: axis embed has extent 12, which is not the product of [head=5, channel]", ShapeError);
    CHECK_THROWS_WITH_AS((void)x.split(embed, head(4), channel(4)),
                         "split: axis embed has extent 12, which is not the product of [head=4, channel=4]",
                         ShapeError);
    CHECK_THROWS_AS((void)x.split(embed, head(0), channel), ShapeError);
    const std::size_t big = std::size_t{1} << 63;
    CHECK_THROWS_AS((void)x.split(embed, head(big), channel(big)), ShapeError);
    CHECK_THROWS_WITH_AS((void)tensor<float>({1, 2, 3}, seq(2), embed(2)),
                         "tensor: [seq=2, embed=2] holds 4 values, but 3 were given", ShapeError);
    CHECK_THROWS_AS((void)uninitialized<float>(seq(big), embed(big)), ShapeError);
    CHECK_THROWS_AS((void)uninitialized<double>(seq(big / 16)), std::exception);
    CHECK_THROWS_AS((void)uninitialized<float>(seq(0), embed(big), head(4)), ShapeError);
}

TEST_CASE("extents of zero are legal") {
    const auto x = counted(seq(0), embed(4));
    CHECK(x.size() == 0);
    CHECK_FALSE(x.empty());
    CHECK(x.split(embed, head(2), channel).extent(channel) == 2);
    CHECK(x.split(seq, head(2), channel).extent(channel) == 0);
    CHECK(x.as(embed, seq).size() == 0);
    CHECK_THROWS_AS((void)x(seq(0)), ShapeError);
}

TEST_CASE("an axis of a fixed size has that size in every tensor") {
    const auto x = counted(seq(2), rgb(3));
    CHECK(x(seq(1), rgb(2)) == 5);
    CHECK_THROWS_WITH_AS((void)counted(seq(2), rgb(4)),
                         "tensor: axis rgb always has 3 positions, but its extent would be 4", ShapeError);
    static_assert(!std::is_same_v<Tensor<float, rgb>, Tensor<float, anyRgb>>);
    const auto open = x.rename(rgb, anyRgb);
    static_assert(std::is_same_v<decltype(open), const View<const float, seq, anyRgb>>);
    CHECK(open.narrow(anyRgb, 1, 2)(seq(0), anyRgb(1)) == 2);
    CHECK(open.rename(anyRgb, rgb)(seq(1), rgb(0)) == 3);
    CHECK_THROWS_WITH_AS((void)open.narrow(anyRgb, 0, 2).rename(anyRgb, rgb),
                         "rename: axis rgb always has 3 positions, but its extent would be 2", ShapeError);
    const auto y = counted(embed(12));
    CHECK(y.split(embed, channel, rgb).extent(channel) == 4);  // a fixed size need not be said
    CHECK_THROWS_AS((void)y.split(embed, channel, rgb(4)), ShapeError);
    CHECK_THROWS_AS((void)y.split(embed, channel(3), anyRgb).rename(anyRgb, rgb), ShapeError);
    CHECK_THROWS_AS((void)y.split(embed, channel(4), anyRgb).merge(rgb, channel, anyRgb), ShapeError);
    CHECK_THROWS_AS((View<const float, rgb>(y.ref())), ShapeError);
    const float values[4]{};
    CHECK_THROWS_AS((Weight<rgb>(values, Format::f32, Extents{4})), ShapeError);
    CHECK_THROWS_AS((Stored<rgb>(y.ref())), ShapeError);
}

TEST_CASE("a handed-over buffer is reused only by its sole owner") {
    auto x = tensor<float>({1, 2, 3, 4}, seq(2), embed(2));
    const float* data = x.data();
    auto y = doubled(std::move(x));
    CHECK(y.data() == data);
    CHECK(x.empty());
    CHECK(x.extent(seq) == 0);
    const Buffer holder = Buffer::sharing(y.ref().owner);
    const auto z = doubled(std::move(y));
    CHECK(z.data() != data);
    CHECK(z(seq(1), embed(1)) == 16);
    CHECK(data[3] == 8);  // what the other holder sees is unchanged
}

TEST_CASE("replace: either the result, or the tensor as it was") {
    auto x = tensor<float>({1, 2, 3, 4}, seq(2), embed(2));
    const auto twice = [](Tensor<float, seq, embed>&& v) { return doubled(std::move(v)); };
    x.replace(twice);
    CHECK(x(seq(1), embed(1)) == 8);
    const float* data = x.data();
    CHECK_THROWS_AS((void)x.replace([](auto&& v) { return doubled(std::move(v), true); }), ShapeError);
    CHECK(x.data() == data);
    CHECK(x(seq(1), embed(1)) == 8);
    x.replace(twice).replace(twice);
    CHECK(x(seq(0), embed(0)) == 8);
    x.replace([](const auto& v) { return doubled(tensor(std::span<const float>(v.values()), seq(2), embed(2))); });
    CHECK(x(seq(0), embed(0)) == 16);
}

TEST_CASE("moving leaves an empty tensor, that can be assigned to again") {
    auto x = counted(seq(2));
    auto y = std::move(x);
    CHECK(x.empty());
    CHECK_THROWS_AS((void)x(seq(0)), ValueError);
    x = counted(seq(5));
    CHECK(x(seq(4)) == 4);
    y = std::move(x);
    CHECK(y.size() == 5);
    Tensor<float> scalar = tensor<float>({3});
    const auto taken = std::move(scalar);
    CHECK(taken() == 3);
    CHECK_THROWS_AS((void)scalar(), ValueError);
    CHECK_THROWS_AS((void)Tensor<float>()(), ValueError);
}

TEST_CASE("buffers: sizes, alignment, reuse of a freed address") {
    for (std::size_t bytes : {0, 1, 127, 128, 1000, 4097, 1 << 20}) {
        const Buffer b(bytes);
        CHECK(reinterpret_cast<std::uintptr_t>(b.data()) % 128 == 0);
        CHECK(b.unique());
        std::fill_n(static_cast<char*>(b.data()), bytes, 'x');
    }
    Buffer a(3000);
    Buffer b = a;
    CHECK_FALSE(a.unique());
    b = Buffer();
    CHECK(a.unique());
    CHECK_FALSE(b.unique());
    if (!addressesAreChecked) {  // the sanitizer would not see a use after free in reused memory
        const void* data = a.data();
        a = Buffer();
        CHECK(Buffer(2900).data() == data);  // the same class of sizes
    }
    CHECK_THROWS_AS(Buffer(std::size_t{1} << 62), std::bad_alloc);
}
