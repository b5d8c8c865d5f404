// How far a computed value is from a saved one, whatever its format, and in whatever order its axes are.
#include "axial/llm/compare_values.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "axial/llm/axes.h"
#include "axial/tensor/half.h"
#include "axial/tensor/tensor.h"

using namespace axial;
using namespace axial::llm;

namespace {

constexpr double notANumber = std::numeric_limits<double>::quiet_NaN(),
                 infinity = std::numeric_limits<double>::infinity();

template <class T>
StoredTensor saved(const std::vector<T>& values, std::vector<std::size_t> extent, Format format) {
    auto owner = std::make_shared<std::vector<T>>(values);
    StoredTensor tensor;
    tensor.format = format;
    tensor.extent = std::move(extent);
    tensor.data = reinterpret_cast<const std::byte*>(owner->data());
    tensor.bytes = values.size() * sizeof(T);
    tensor.mapping = owner;
    return tensor;
}
StoredTensor saved(const std::vector<double>& values, std::vector<std::size_t> extent) {
    return saved(values, std::move(extent), Format::f64);
}

// 0.5, 1.5, ... without a pattern that an order of axes could keep.
float sample(std::size_t i) { return static_cast<float>(i * 37 % 101) - 50.5f; }

Tensor<float, seq, head, channel> heads(std::size_t s, std::size_t h, std::size_t c) {
    std::vector<float> values;
    for (std::size_t i = 0; i < s * h * c; ++i) values.push_back(sample(i));
    return tensor<float>(values, seq(s), head(h), channel(c));
}

// The values of x as [seq, head, channel] -> place in the saved tensor.
template <class Place>
std::vector<double> arranged(const Tensor<float, seq, head, channel>& x, const Place& place) {
    std::vector<double> values(x.values().size());
    const std::size_t n = x.extent(seq), h = x.extent(head), c = x.extent(channel);
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < h; ++j)
            for (std::size_t k = 0; k < c; ++k)
                values[place(i, j, k)] = static_cast<double>(x.values()[(i * h + j) * c + k]);
    return values;
}

}  // namespace

TEST_CASE("compare: the largest difference, its place and both numbers") {
    const auto x = heads(5, 3, 18);
    auto want = arranged(x, [](auto i, auto j, auto k) { return (i * 3 + j) * 18 + k; });
    const ValueDifference same = compareValue(x.ref(), saved(want, {5, 3, 18}), 0);
    CHECK(same.verdict == Verdict::within);
    CHECK(same.largest == 0);
    CHECK(same.magnitude == 50.5);
    want[(4 * 3 + 2) * 18 + 17] += 0.75;
    want[3] -= 0.5;
    const ValueDifference other = compareValue(x.ref(), saved(want, {5, 3, 18}), 1e-3);
    CHECK(other.verdict == Verdict::departs);
    CHECK(other.largest == 0.75);
    CHECK(other.at == std::vector<std::size_t>{4, 2, 17});
    CHECK(other.wanted == other.got + 0.75);
    CHECK(other.order.empty());
    CHECK(other.departing == 2);
    CHECK(other.first == std::vector<std::size_t>{0, 0, 3});
    CHECK(same.departing == 0);
    CHECK(compareValue(x.ref(), saved(want, {5, 3, 18}), 0.75 / 50.5 * 1.001).verdict == Verdict::within);
    CHECK(compareValue(x.ref(), saved(want, {5, 3, 18}), 0.75 / 50.5 * 0.999).verdict == Verdict::departs);
}

TEST_CASE("compare: a batch axis in front and merged axes are the same value") {
    const auto x = heads(5, 3, 4);
    const auto want = arranged(x, [](auto i, auto j, auto k) { return (i * 3 + j) * 4 + k; });
    for (const std::vector<std::size_t>& extents : std::vector<std::vector<std::size_t>>{
             {5, 3, 4}, {1, 5, 3, 4}, {5, 12}, {1, 5, 12}, {15, 4}, {60}, {5, 1, 3, 4, 1}, {1, 1, 60}, {5, 3, 2, 2}}) {
        CAPTURE(extents.size());
        const ValueDifference d = compareValue(x.ref(), saved(want, extents), 0);
        CHECK(d.verdict == Verdict::within);
        CHECK(d.order.empty());
    }
    const auto one = tensor<float>({1, 2, 3}, seq(1), embed(3));
    CHECK(compareValue(one.ref(), saved({1, 2, 3}, {3}), 0).verdict == Verdict::within);
    CHECK(compareValue(one.ref(), saved({1, 2, 3}, {3, 1}), 0).verdict == Verdict::within);
}

TEST_CASE("compare: other orders of the axes are found and said") {
    const auto x = heads(5, 3, 4);
    const auto headFirst = arranged(x, [](auto i, auto j, auto k) { return (j * 5 + i) * 4 + k; });
    for (const std::vector<std::size_t>& extents :
         std::vector<std::vector<std::size_t>>{{3, 5, 4}, {1, 3, 5, 4}, {3, 20}}) {
        const ValueDifference d = compareValue(x.ref(), saved(headFirst, extents), 0);
        CHECK(d.verdict == Verdict::within);
        CHECK(d.order == "transposed: head and seq");
    }
    const auto channelFirst = arranged(x, [](auto i, auto j, auto k) { return (k * 5 + i) * 3 + j; });
    CHECK(compareValue(x.ref(), saved(channelFirst, {4, 5, 3}), 0).order == "in the order [channel, seq, head]");
    // A difference is found in the other order, too.
    auto wrong = headFirst;
    wrong[(2 * 5 + 4) * 4 + 1] += 1;
    const ValueDifference d = compareValue(x.ref(), saved(wrong, {3, 5, 4}), 1e-3);
    CHECK(d.verdict == Verdict::departs);
    CHECK(d.at == std::vector<std::size_t>{4, 2, 1});
    CHECK(d.order == "transposed: head and seq");
    CHECK(d.wouldAgree.empty());
    CHECK(d.departing == 1);
    // Where the extents do not tell, the value departs, and what it would be equal to is said.
    const auto square = heads(3, 3, 4);
    const auto turned = arranged(square, [](auto i, auto j, auto k) { return (j * 3 + i) * 4 + k; });
    const ValueDifference hidden = compareValue(square.ref(), saved(turned, {3, 3, 4}), 1e-6);
    CHECK(hidden.verdict == Verdict::departs);
    CHECK(hidden.largest > 1);
    CHECK(hidden.wouldAgree == "transposed: head and seq");
    CHECK(hidden.order.empty());
}

TEST_CASE("compare: channels in halves and in pairs are two ways to keep one head") {
    const auto x = heads(5, 3, 8);
    const auto halves = arranged(x, [](auto i, auto j, auto k) { return (i * 3 + j) * 8 + k % 2 * 4 + k / 2; });
    const ValueDifference d = compareValue(x.ref(), saved(halves, {1, 5, 24}), 0);
    CHECK(d.verdict == Verdict::within);
    CHECK(d.order == "with channels in halves (i, i + n/2) that are in pairs (2i, 2i + 1) here");
    const auto pairs = arranged(x, [](auto i, auto j, auto k) { return (j * 5 + i) * 8 + k % 4 * 2 + k / 4; });
    const ValueDifference both = compareValue(x.ref(), saved(pairs, {1, 3, 5, 8}), 0);
    CHECK(both.verdict == Verdict::within);
    CHECK(both.order ==
          "transposed: head and seq, with channels in pairs (2i, 2i + 1) that are in halves (i, i + n/2) here");
}

TEST_CASE("compare: extents of another shape") {
    const auto x = heads(5, 3, 4);
    for (const std::vector<std::size_t>& extents :
         std::vector<std::vector<std::size_t>>{{5, 3, 5}, {4, 3, 4}, {5, 3}, {}, {2, 30}, {0}, {5, 3, 4, 2}, {6, 10}}) {
        std::size_t count = 1;
        for (const std::size_t extent : extents) count *= extent;
        CHECK(compareValue(x.ref(), saved(std::vector<double>(count), extents), 1).verdict == Verdict::otherExtents);
    }
    const auto y = saved(std::vector<double>(75), {5, 3, 5});
    CHECK(describeExtents(y, x.ref()) == "[seq=5, head=3, channel=5]");
    CHECK(describeExtents(saved(std::vector<double>(15), {1, 15}), x.ref()) == "[1, 15]");
    const auto none = tensor<float>({}, seq(0), embed(4));
    CHECK(compareValue(none.ref(), saved({}, {0, 4}), 0).verdict == Verdict::within);
}

TEST_CASE("compare: every number format, with what rounding to it costs") {
    const std::vector<float> values{1, -2.5f, 0.1f, 100.3f};
    const auto x = tensor<float>(values, embed(4));
    std::vector<std::uint16_t> f16, bf16;
    for (const float v : values) f16.push_back(f32ToF16(v)), bf16.push_back(f32ToBf16(v));
    CHECK(compareValue(x.ref(), saved(values, {4}, Format::f32), 0).verdict == Verdict::within);
    CHECK(compareValue(x.ref(), saved(f16, {4}, Format::f16), 0).verdict == Verdict::within);
    CHECK(compareValue(x.ref(), saved(bf16, {4}, Format::bf16), 0).verdict == Verdict::within);
    const ValueDifference d = compareValue(x.ref(), saved(bf16, {4}, Format::bf16), 0);
    CHECK(d.largest > 0.01);
    CHECK(d.allowed > 0.3);
    bf16[3] += 2;
    CHECK(compareValue(x.ref(), saved(bf16, {4}, Format::bf16), 0).verdict == Verdict::departs);

    const auto whole = tensor<std::int32_t>({3, -4, 100, 7}, embed(4));
    CHECK(compareValue(whole.ref(), saved<std::int8_t>({3, -4, 100, 7}, {4}, Format::i8), 1).verdict ==
          Verdict::within);
    CHECK(compareValue(whole.ref(), saved<std::int16_t>({3, -4, 100, 7}, {4}, Format::i16), 1).verdict ==
          Verdict::within);
    CHECK(compareValue(whole.ref(), saved<std::int64_t>({3, -4, 100, 7}, {4}, Format::i64), 1).verdict ==
          Verdict::within);
    const ValueDifference off = compareValue(whole.ref(), saved<std::int32_t>({3, -4, 101, 7}, {4}, Format::i32), 1);
    CHECK(off.verdict == Verdict::departs);  // whole numbers have to be the same
    CHECK(off.at == std::vector<std::size_t>{2});
}

TEST_CASE("compare: what is no number agrees only with the same") {
    const auto with = [](double got, double want) {
        const auto x = tensor<float>({1, static_cast<float>(got), 2}, embed(3));
        return compareValue(x.ref(), saved({1, want, 2}, {3}), 0.1);
    };
    CHECK(with(notANumber, notANumber).verdict == Verdict::within);
    CHECK(with(infinity, infinity).verdict == Verdict::within);
    CHECK(with(-infinity, -infinity).magnitude == 2);
    for (const auto& [got, want] : std::initializer_list<std::pair<double, double>>{{notANumber, 1.0},
                                                                                    {1.0, notANumber},
                                                                                    {infinity, 1.0},
                                                                                    {1.0, -infinity},
                                                                                    {infinity, -infinity},
                                                                                    {notANumber, infinity}}) {
        const ValueDifference d = with(got, want);
        CHECK(d.verdict == Verdict::departs);
        CHECK(d.largest == infinity);
        CHECK(d.at == std::vector<std::size_t>{1});
    }
    const auto zeros = tensor<float>({0, 0}, embed(2));
    CHECK(compareValue(zeros.ref(), saved({0, 0}, {2}), 0).verdict == Verdict::within);
    CHECK(compareValue(zeros.ref(), saved({0, 1e-30}, {2}), 0.5).verdict == Verdict::departs);
}
