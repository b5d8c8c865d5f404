#include <numeric>
#include <sstream>
#include <vector>

#include <doctest/doctest.h>

#include "axial/tensor/encode.h"
#include "axial/tensor/print.h"
#include "axial/tensor/tensor.h"

using namespace axial;

namespace {

constexpr Axis<"seq"> seq;
constexpr Axis<"embed"> embed;
constexpr Axis<"head"> head;

template <class X>
std::string printed(const X& x) {
    std::ostringstream out;
    out << x;
    return out.str();
}
template <class... X>
auto counted(At<X>... extent) {
    auto t = uninitialized<float>(extent...);
    std::iota(t.values().begin(), t.values().end(), 0.f);
    return t;
}

}  // namespace

TEST_CASE("a scalar, a row, a table are printed with their axes") {
    CHECK(printed(tensor<float>({1.5f})) == "[] 1.5\n");
    CHECK(printed(tensor<float>({1, -2.25f, 0.333333f}, embed(3))) == "[embed=3]\n1  -2.25  0.3333\n");
    const auto x = tensor<float>({1.5f, -2, 0.25f, 3, 0.0625f, 4}, seq(2), embed(3));
    CHECK(printed(x) ==
          "[seq=2, embed=3]\n"
          "seq 0  1.5      -2  0.25\n"
          "seq 1    3  0.0625     4\n");
    CHECK(printed(x.as(embed, seq)) ==
          "[embed=3, seq=2]\n"
          "embed 0   1.5       3\n"
          "embed 1    -2  0.0625\n"
          "embed 2  0.25       4\n");
}

TEST_CASE("outer axes make lines of their own") {
    CHECK(printed(counted(head(2), seq(2), embed(2))) ==
          "[head=2, seq=2, embed=2]\n"
          "head 0\n"
          "  seq 0  0  1\n"
          "  seq 1  2  3\n"
          "head 1\n"
          "  seq 0  4  5\n"
          "  seq 1  6  7\n");
    constexpr Axis<"batch"> batch;
    CHECK(printed(counted(batch(1), head(1), seq(1), embed(2))) ==
          "[batch=1, head=1, seq=1, embed=2]\n"
          "batch 0\n"
          "  head 0\n"
          "    seq 0  0  1\n");
}

TEST_CASE("what is large is elided") {
    CHECK(printed(counted(seq(8), embed(10))) ==
          "[seq=8, embed=10]\n"
          "seq 0   0   1   2   3  ...   6   7   8   9\n"
          "seq 1  10  11  12  13  ...  16  17  18  19\n"
          "seq 2  20  21  22  23  ...  26  27  28  29\n"
          "...\n"
          "seq 5  50  51  52  53  ...  56  57  58  59\n"
          "seq 6  60  61  62  63  ...  66  67  68  69\n"
          "seq 7  70  71  72  73  ...  76  77  78  79\n");
    const auto deep = counted(Axis<"a">()(9), Axis<"b">()(9), Axis<"c">()(9), Axis<"d">()(9), embed(9));
    const std::string text = printed(deep);
    CHECK(std::count(text.begin(), text.end(), '\n') < 60);
}

TEST_CASE("other element types, formats, and nothing at all") {
    CHECK(printed(tensor<std::int32_t>({7, -100000}, embed(2))) == "[embed=2]\n7  -100000\n");
    CHECK(printed(tensor<std::int64_t>({std::int64_t{1} << 60}, embed(1))) == "[embed=1]\n1152921504606846976\n");
    CHECK(printed(tensor<double>({0.1}, embed(1))) == "[embed=1]\n0.1\n");
    CHECK(printed(zeros<float>(seq(0), embed(3))) == "[seq=0, embed=3]\nno values\n");
    CHECK(printed(Tensor<float, seq>()) == "[] empty\n");
    std::vector<float> values(64, 1);
    values[40] = -127;
    std::vector<std::byte> blocks(bytesOf(Format::q8_0, 64));
    quantizeQ8_0(values.data(), 64, blocks.data());
    const Weight<seq, embed> w(blocks.data(), Format::q8_0, Extents{1, 64});
    CHECK(printed(w.narrow(embed, 32, 32)) == "[seq=1, embed=32] Q8_0\nseq 0  1  1  1  1  ...  1  1  1  1\n");
    CHECK(firstValues(w.ref(), 2) == "0.9999 0.9999 ...");
    const std::uint16_t halves[] = {0x3c00, 0xc000};
    CHECK(printed(Stored<embed>(Weight<embed>(halves, Format::f16, Extents{2}))) == "[embed=2] F16\n1  -2\n");
}
