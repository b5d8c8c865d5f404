// The seam of the observer, and the record that is made through it.
#include "axial/tensor/graph.h"

#include <cstring>
#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "axial/tensor/graph_layers.h"
#include "axial/tensor/tracer.h"
#include "tensor/recorded_program.h"

using namespace axial;
using namespace recorded;

TEST_CASE("a graph records what ran, who read what from whom, and where") {
    Graph graph;
    {
        Watch watch(graph);
        const auto y = program(2);
        CHECK(y(embed(1)) == 84);
    }
    (void)program(2);  // nobody watches
    REQUIRE(graph.nodes().size() == 3);
    REQUIRE(graph.leaves().size() == 3);
    CHECK(graph.leaves()[0].name.empty());
    CHECK(!graph.leaves()[0].isParameter);
    CHECK(graph.leaves()[1].name == "blk.0.bias");
    CHECK(graph.leaves()[2].name == "blk.1.bias");
    CHECK(graph.leaves()[2].isParameter);

    const Graph::Node& second = graph.nodes()[1];
    CHECK(second.op == "plus");
    CHECK(graph.scopeOf(second) == "layer 1/sum");
    const auto operands = graph.operandsOf(second);
    REQUIRE(operands.size() == 2);
    CHECK(!operands[0].isLeaf);
    CHECK(graph.results()[operands[0].from].node == 0);
    CHECK(operands[0].shape->text() == "[embed=2]");
    CHECK(operands[1].isLeaf);
    CHECK(operands[1].from == 2);
    REQUIRE(graph.resultsOf(second).size() == 1);
    CHECK(graph.resultsOf(second)[0].name == "sum");
    CHECK(second.work.multiplyAdds == 2);
    CHECK(second.work.bytesRead == 16);
    CHECK(second.work.bytesWritten == 8);
    CHECK(second.time.count() > 0);
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
    CHECK(second.operandsOf(second.nodes()[0])[0].isLeaf);
    CHECK(first.operandsOf(first.nodes()[1])[0].isLeaf);  // made by what the first did not see
    first.clear();
    CHECK(first.nodes().empty());
    CHECK(first.leaves().empty());
    Watch watch(first);
    (void)plus(x, x);
    CHECK(first.nodes().size() == 1);
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
    CHECK(graph.scopeOf(graph.nodes()[0]).empty());
}

TEST_CASE("an op inside of an op is recorded before it") {
    Graph graph;
    Watch watch(graph);
    const auto x = tensor<float>({1, 2}, embed(2));
    {
        OpCall outer("outer", {&x.ref()});
        auto y = plus(x, x);
        TensorRef out = y.ref();
        outer.done(out);
    }
    REQUIRE(graph.nodes().size() == 2);
    CHECK(graph.nodes()[0].op == "plus");
    CHECK(graph.nodes()[1].op == "outer");
    CHECK(graph.operandsOf(graph.nodes()[1]).size() == 1);
}

TEST_CASE("whoever reads what several ops have written their parts of reads from all of them") {
    Graph graph;
    Watch watch(graph);
    const auto x = tensor<float>({1, 2}, embed(2));
    auto whole = zeros<float>(seq(4), embed(2));
    const auto put = [&](std::size_t row) {
        OpCall call("put", {&x.ref()});
        const auto into = whole.edit().narrow(seq, row, 1);
        std::memcpy(into.data(), x.data(), 2 * sizeof(float));
        call.wrote(into.ref());
    };
    put(0), put(2);
    (void)plus(whole, whole);
    const auto operands = graph.operandsOf(graph.nodes()[2]);
    REQUIRE(operands.size() == 4);
    for (std::size_t i = 0; i < 4; ++i) {
        CHECK(operands[i].number == i / 2);
        CHECK(!operands[i].isLeaf);
        CHECK(graph.results()[operands[i].from].node == i % 2);
        CHECK(graph.results()[operands[i].from].isPart);
    }
    put(1);
    (void)twice(copyOf(whole.narrow(seq, 1, 2)));  // of the parts that nobody has read since, the one that it holds
    const auto next = graph.operandsOf(graph.nodes()[4]);
    REQUIRE(next.size() == 1);
    CHECK(graph.results()[next[0].from].node == 3);

    // Another buffer at the same address is another value.
    whole = {};
    whole = zeros<float>(seq(4), embed(2));
    (void)copyOf(whole.narrow(seq, 0, 4));
    CHECK(graph.operandsOf(graph.nodes().back())[0].isLeaf);
}

TEST_CASE("peak memory is that of the scope and those inside of it") {
    constexpr std::size_t bytes = std::size_t{1} << 20;
    Graph graph;
    Watch watch(graph);
    const auto x = tensor<float>({1, 2}, embed(2));
    {
        Scope scope("large");
        const Buffer held(4 * bytes);
    }
    {
        Scope scope("small");
        const Buffer held(bytes);
        {
            Scope inner("inner");
            const Buffer more(2 * bytes);
            (void)plus(x, x);
        }
    }
    const auto peak = [&](std::string_view path) { return peakIn(graph, path); };
    CHECK(peak("large") >= 4 * bytes);
    CHECK(peak("large") < 4 * bytes + 4096);
    CHECK(peak("small") >= bytes);
    CHECK(peak("small") == peak("small/inner"));
    CHECK(peak("") == peak("large"));
    CHECK(peak("small/inner") >= 3 * bytes);
    CHECK(peak("small/inner") < 3 * bytes + 4096);
}

TEST_CASE("many values, of which some are read late") {
    Graph graph;
    Watch watch(graph);
    auto first = plus(tensor<float>({1, 2}, embed(2)), tensor<float>({1, 2}, embed(2)));
    auto x = plus(first, first);
    for (int i = 0; i < 1000; ++i) x = plus(x, x);
    (void)plus(first, x);
    const auto operands = graph.operandsOf(graph.nodes().back());
    CHECK(graph.results()[operands[0].from].node == 0);
    CHECK(graph.results()[operands[1].from].node == graph.nodes().size() - 2);
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
        (void)program(2);
    }
    CHECK(out.str() ==
          "layer 0/sum  plus  [embed=2]  11 ...\n"
          "layer 1/sum  plus  [embed=2]  21 ...\n"
          "end  twice  [embed=2]  42 ...\n");
}
