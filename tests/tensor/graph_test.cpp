// The seam of the observer, and what records itself through it.
#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "axial/tensor/graph.h"
#include "axial/tensor/stored.h"
#include "axial/tensor/tensor.h"
#include "axial/tensor/tracer.h"

using namespace axial;

namespace {

constexpr Axis<"embed"> embed;

// Two ops of our own, written as ops are: check, then claim, then compute.
template <auto... A>
Tensor<float, A...> twice(Tensor<float, A...>&& x) {
    OpCall call("twice", {&x.ref()});
    Owned out = lend(std::move(x)).claim(x.ref().axis);
    for (std::size_t i = 0; i < out.ref.size(); ++i) static_cast<float*>(out.ref.data)[i] *= 2;
    call.done(out.ref);
    return Tensor<float, A...>(std::move(out));
}
template <TensorLike X, TensorLike Y>
auto plus(const X& x, const Y& y) {
    OpCall call("plus", {&x.ref(), &y.ref()});
    if (x.size() != y.size()) failExtent("plus", "embed", x.size(), y.size());
    Owned out = allocate(Format::f32, x.ref().axis, x.ref().rank, x.ref().extent);
    for (std::size_t i = 0; i < x.size(); ++i)
        static_cast<float*>(out.ref.data)[i] =
            static_cast<const float*>(x.ref().data)[i] + static_cast<const float*>(y.ref().data)[i];
    call.done(out.ref);
    return TensorOf<float, SetOf<X>>(std::move(out));
}

const float numbers[] = {10, 20};

Tensor<float, embed> program() {
    auto x = tensor<float>({1, 2}, embed(2));
    const Weight<embed> w(numbers, Format::f32, Extents{2}, {}, "blk.0.bias");
    for (long layer = 0; layer < 2; ++layer) {
        Scope scope("layer", layer);
        Scope inner("sum");
        x = plus(x, w);
    }
    Scope scope("end");
    return twice(std::move(x));
}

std::string withoutTimes(std::string text) {
    for (std::size_t us; (us = text.find(" us\n")) != text.npos;) {
        const std::size_t from = text.rfind("  ", us);
        text.erase(from, us + 3 - from);
    }
    return text;
}

}  // namespace

TEST_CASE("a graph records what ran, who read what from whom, and where") {
    Graph graph;
    {
        Watch watch(graph);
        const auto y = program();
        CHECK(y(embed(1)) == 84);
    }
    (void)program();  // nobody watches
    REQUIRE(graph.nodes().size() == 3);
    REQUIRE(graph.leaves().size() == 2);
    CHECK(graph.leaves()[1].label == "blk.0.bias");
    CHECK(graph.nodes()[1].bytes == 24);
    std::ostringstream out;
    graph.print(out);
    CHECK(withoutTimes(out.str()) ==
          "layer 0/sum  %0  plus  leaf[embed=2] blk.0.bias[embed=2] -> [embed=2]\n"
          "layer 1/sum  %1  plus  %0[embed=2] blk.0.bias[embed=2] -> [embed=2]\n"
          "end          %2  twice %1[embed=2] -> [embed=2]\n");
}

TEST_CASE("graphviz: a node an op, an edge a value, a box a scope") {
    Graph graph;
    {
        Watch watch(graph);
        (void)program();
    }
    std::ostringstream out;
    graph.graphviz(out);
    CHECK(out.str() ==
          "digraph axial {\n"
          "  node [shape=box, fontname=\"sans-serif\"];\n"
          "  edge [fontname=\"sans-serif\", fontsize=10];\n"
          "  leaf0 [shape=ellipse, label=\"[embed=2]\"];\n"
          "  leaf1 [shape=ellipse, label=\"blk.0.bias [embed=2]\"];\n"
          "  subgraph cluster0 { label=\"layer 0\";\n"
          "  subgraph cluster1 { label=\"sum\";\n"
          "  op0 [label=\"plus\"];\n"
          "  }\n"
          "  }\n"
          "  subgraph cluster2 { label=\"layer 1\";\n"
          "  subgraph cluster3 { label=\"sum\";\n"
          "  op1 [label=\"plus\"];\n"
          "  }\n"
          "  }\n"
          "  subgraph cluster4 { label=\"end\";\n"
          "  op2 [label=\"twice\"];\n"
          "  }\n"
          "  leaf0 -> op0;\n"
          "  leaf1 -> op0;\n"
          "  op0 -> op1 [label=\"[embed=2]\"];\n"
          "  leaf1 -> op1;\n"
          "  op1 -> op2 [label=\"[embed=2]\"];\n"
          "}\n");
}

TEST_CASE("the profile adds up by op and by scope, positions together") {
    Graph graph;
    {
        Watch watch(graph);
        (void)program();
        (void)program();
    }
    std::ostringstream out;
    graph.profile(out);
    const std::string text = out.str();
    std::istringstream lines(text);
    std::vector<std::pair<std::string, std::string>> calls;
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        std::string first, second, third;
        words >> first >> second >> third;
        if (first == "layer") first += " " + second, second = third;
        calls.emplace_back(first, second);
    }
    const auto has = [&](const char* key, const char* count) {
        return std::find(calls.begin(), calls.end(), std::pair<std::string, std::string>(key, count)) != calls.end();
    };
    CAPTURE(text);
    CHECK(has("plus", "4"));
    CHECK(has("twice", "2"));
    CHECK(has("layer */sum", "4"));
    CHECK(has("end", "2"));
    CHECK(text.find("GB/s") != text.npos);
}

TEST_CASE("a second record takes the results of the first as leaves") {
    Graph first, second;
    auto x = tensor<float>({1, 2}, embed(2));
    {
        Watch watch(first);
        x = plus(x, x);
        {
            Watch inner(second);
            x = twice(std::move(x));
        }
        x = twice(std::move(x));  // first watches again
    }
    CHECK(first.nodes().size() == 2);
    REQUIRE(second.nodes().size() == 1);
    CHECK(second.nodes()[0].in[0].isLeaf);
    CHECK(first.nodes()[1].in[0].isLeaf);  // made by what the first did not see
    first.clear();
    CHECK(first.nodes().empty());
}

TEST_CASE("an op that throws leaves no record, and the next one is recorded") {
    Graph graph;
    Watch watch(graph);
    const auto x = tensor<float>({1, 2}, embed(2));
    const auto y = tensor<float>({1, 2, 3}, embed(3));
    CHECK_THROWS_AS((void)plus(x, y), ShapeError);
    CHECK(graph.nodes().empty());
    (void)plus(x, x);
    CHECK(graph.nodes().size() == 1);
    CHECK(graph.nodes()[0].scope.empty());
}

TEST_CASE("an op refuses a tensor that was moved from") {
    auto x = tensor<float>({1, 2}, embed(2));
    const auto y = twice(std::move(x));
    CHECK_THROWS_WITH_AS((void)plus(x, y),
                         "plus: an operand holds nothing: it was moved from, or never filled; use the result it went "
                         "into",
                         ValueError);
    CHECK_THROWS_AS((void)plus(y, Weight<embed>()), ValueError);
}

TEST_CASE("the tracer prints first values") {
    std::ostringstream out;
    Tracer tracer(out, 1);
    {
        Watch watch(tracer);
        (void)program();
    }
    CHECK(out.str() ==
          "layer 0/sum  plus  [embed=2]  11 ...\n"
          "layer 1/sum  plus  [embed=2]  21 ...\n"
          "end  twice  [embed=2]  42 ...\n");
}
