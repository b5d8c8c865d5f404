// What a record shows: as text, as a drawing, as JSON, and added up; equal layers once.
#include <sstream>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "axial/tensor/graph_drawing.h"
#include "axial/tensor/graph_json.h"
#include "axial/tensor/graph_layers.h"
#include "axial/tensor/graph_text.h"
#include "axial/tensor/profile.h"
#include "axial/tensor/quantity.h"
#include "tensor/recorded_program.h"

using namespace axial;
using namespace recorded;

namespace {

struct Recorded {
    Graph graph;
    explicit Recorded(long layers, long other = -1) {
        const Watch watch(graph);
        (void)program(layers, other);
    }
};

std::string textOf(const Graph& graph) {
    std::ostringstream out;
    writeText(out, graph, Measurements::leftOut);
    return out.str();
}

}  // namespace

TEST_CASE("numbers in words") {
    CHECK(inWords({4}) == "4");
    CHECK(inWords({0, 1}) == "0 and 1");
    CHECK(inWords({0, 1, 2}) == "0 to 2");
    CHECK(inWords({0, 1, 2, 5, 7, 8, 9}) == "0 to 2, 5 and 7 to 9");
}

TEST_CASE("quantities") {
    CHECK(inBytes(0) == "0 B");
    CHECK(inBytes(1023) == "1023 B");
    CHECK(inBytes(1536) == "1.50 KiB");
    CHECK(inBytes(std::uint64_t{5} << 30) == "5.00 GiB");
    CHECK(inCount(999) == "999");
    CHECK(inCount(2'900'000) == "2.90 M");
    CHECK(inCount(2'900'000'000, " B") == "2.90 B");
    CHECK(inTime(std::chrono::nanoseconds(1234)) == "1.23 us");
    CHECK(inTime(std::chrono::milliseconds(12)) == "12.00 ms");
}

TEST_CASE("equal layers are one part, and what is before and behind them are others") {
    const Recorded r(28);
    const GraphLayers layers(r.graph);
    REQUIRE(layers.parts().size() == 2);
    CHECK(layers.parts()[0].title() == "layers 0 to 27, 28 times");
    CHECK(layers.parts()[0].count == 1);
    CHECK(layers.parts()[1].title().empty());
    CHECK(layers.shown(0) == 0);
    CHECK(layers.shown(27) == 0);
    CHECK(layers.shown(28) == 28);
    // The sum comes from outside into layer 0, and from the layer before into the others.
    const auto sources = layers.sourcesOf(0, 0);
    REQUIRE(sources.size() == 2);
    CHECK(sources[0].isLeaf);
    CHECK(!sources[1].isLeaf);
    CHECK(sources[1].fromAnotherLayer);
    CHECK(inWords(sources[1].readers) == "1 to 27");
    CHECK(layers.nameOf(layers.sourcesOf(0, 1).at(0).from, 0) == "bias");
}

TEST_CASE("layers that differ make two kinds, and say in what") {
    const Recorded r(5, 2);
    const GraphLayers layers(r.graph);
    REQUIRE(layers.parts().size() == 3);
    CHECK(layers.parts()[0].title() == "layers 0, 1, 3 and 4, 4 times: bias F32");
    CHECK(layers.parts()[1].title() == "layer 2: other F32");
    CHECK(layers.shown(4) == 0);
    CHECK(layers.shown(2) == 2);
    const auto into = layers.sourcesOf(2, 0);
    REQUIRE(into.size() == 1);
    CHECK(r.graph.results()[into[0].from].node == 0);
    CHECK(into[0].fromAnotherLayer);
    CHECK(into[0].readers.empty());  // all there are
}

TEST_CASE("text: each op with its operands, equal layers once") {
    const Recorded r(3);
    CHECK(textOf(r.graph) ==
          "\n"
          "layers 0 to 2, 3 times\n"
          "  sum\n"
          "    %0    plus                 2 multiply-adds, 16 B read, 8 B written\n"
          "             input (layer 0), %0 sum (layers 1 and 2)  [embed=2]\n"
          "             bias                                      [embed=2]\n"
          "          -> %0 sum                                    [embed=2]\n"
          "\n"
          "end\n"
          "  %3    twice                2 multiply-adds, 8 B read, 8 B written\n"
          "           %0 sum  [embed=2]\n"
          "        -> %3      [embed=2]\n"
          "\n"
          "4 ops: 8 multiply-adds, 0 of them of integer codes; 56 B read, 32 B written\n");
    std::ostringstream measured;
    writeText(measured, r.graph);
    CHECK(measured.str().find(" us, at most ") != std::string::npos);
}

TEST_CASE("drawing: ops, leaves, frames and arrows are balanced, and the same each time") {
    const auto draw = [](Measurements m) {
        const Recorded r(3);
        std::ostringstream out;
        writeDrawing(out, r.graph, "three <layers> & \"more\"", m);
        return out.str();
    };
    const std::string text = draw(Measurements::leftOut);
    CAPTURE(text);
    CHECK(text == draw(Measurements::leftOut));
    CHECK(text.find("three &lt;layers&gt; &amp; &quot;more&quot;") != text.npos);
    CHECK(text.find("<b>layers 0 to 2, 3 times</b>") != text.npos);
    CHECK(text.find("op0 -> op0 [label=<<b>sum</b><br/>embed=2<br/>layers 1 and 2>, style=dashed, constraint=false]") !=
          text.npos);
    CHECK(text.find("leaf0_0 -> op0 [label=<layer 0>, weight=2];") != text.npos);
    CHECK(text.find("shape=cylinder") != text.npos);
    CHECK(text.find("op1") == text.npos);  // it is drawn as op0
    long open = 0, angles = 0;
    for (const char c : text) {
        open += c == '{' ? 1 : c == '}' ? -1 : 0;
        angles += c == '<' ? 1 : c == '>' ? -1 : 0;
        REQUIRE(open >= 0);
    }
    CHECK(open == 0);
    CHECK(draw(Measurements::shown).find("at most") != std::string::npos);
}

TEST_CASE("JSON holds everything, every layer by itself") {
    const Recorded r(3, 1);
    std::ostringstream out;
    writeJson(out, r.graph, "a \"title\"\n");
    const auto json = nlohmann::json::parse(out.str());
    CHECK(json.at("title") == "a \"title\"\n");
    REQUIRE(json.at("nodes").size() == 4);
    const auto& node = json["nodes"][1];
    CHECK(node.at("id") == 1);
    CHECK(node.at("op") == "plus");
    CHECK(node.at("scope") == "layer 1/sum");
    CHECK(node.at("in")[0].at("node") == 0);
    CHECK(node.at("in")[0].at("result") == 0);
    CHECK(node.at("in")[0].at("axes")[0] == nlohmann::json{{"name", "embed"}, {"extent", 2}});
    CHECK(node.at("in")[1].at("operand") == 1);
    const auto& leaf = json.at("leaves").at(node.at("in")[1].at("leaf").get<std::size_t>());
    CHECK(leaf.at("name") == "blk.1.other");
    CHECK(leaf.at("parameter") == true);
    CHECK(leaf.at("format") == "F32");
    CHECK(leaf.at("bytes") == 8);
    CHECK(node.at("out")[0].at("name") == "sum");
    CHECK(node.at("out")[0].at("part") == false);
    CHECK(node.at("multiply_adds") == 2);
    CHECK(node.at("of_codes") == 0);
    CHECK(node.at("bytes_read") == 16);
    CHECK(node.at("bytes_written") == 8);
    CHECK(node.at("time_ns").get<long>() > 0);
    CHECK(json.at("scopes")[0].contains("peak_bytes"));
    CHECK(json.at("scopes").size() == 5);  // "", three sums and the end
    CHECK(json.at("parts")[0].at("numbers") == std::vector<long>{0, 2});
    CHECK(json.at("parts")[0].at("first") == std::vector<long>{0, 2});
    CHECK(json.at("parts")[1].at("difference") == "other F32");

    std::ostringstream bare;
    writeJson(bare, r.graph, "", Measurements::leftOut);
    const auto without = nlohmann::json::parse(bare.str());
    CHECK(!without["nodes"][0].contains("time_ns"));
    CHECK(!without.contains("scopes"));
}

TEST_CASE("the profile adds up by op and by scope, numbers together") {
    const Recorded r(4, 2);
    const auto ops = profileByOp(r.graph);
    const auto row = [](const std::vector<ProfileRow>& rows, std::string_view name) {
        for (const ProfileRow& candidate : rows)
            if (candidate.name == name) return candidate;
        FAIL("there is no row " << name);
        return ProfileRow();
    };
    CHECK(row(ops, "plus").calls == 4);
    CHECK(row(ops, "plus").depth == 0);
    CHECK(row(ops, "bias").calls == 3);
    CHECK(row(ops, "bias").depth == 1);
    CHECK(row(ops, "other").calls == 1);
    CHECK(row(ops, "plus").time == row(ops, "bias").time + row(ops, "other").time);
    CHECK(row(ops, "plus").work.multiplyAdds == 8);
    CHECK(ops.size() == 4);  // nothing beneath an op whose calls have the same parameters

    const auto scopes = profileByScope(r.graph);
    REQUIRE(scopes.size() == 4);
    CHECK(scopes[0].name == "all");
    CHECK(scopes[0].calls == 5);
    CHECK(scopes[1].name == "layer *");
    CHECK(scopes[1].depth == 1);
    CHECK(scopes[1].calls == 4);
    CHECK(scopes[2].name == "sum");
    CHECK(scopes[2].depth == 2);
    CHECK(scopes[2].time == scopes[1].time);
    CHECK(scopes[3].name == "end");
    CHECK(scopes[0].time == scopes[1].time + scopes[3].time);
    CHECK(scopes[0].peakBytes >= scopes[2].peakBytes);
}

TEST_CASE("an empty record") {
    const Graph graph;
    CHECK(textOf(graph) == "\n0 ops: 0 multiply-adds, 0 of them of integer codes; 0 B read, 0 B written\n");
    std::ostringstream json;
    writeJson(json, graph, "nothing");
    CHECK(nlohmann::json::parse(json.str()).at("nodes").empty());
    CHECK(profileByOp(graph).empty());
    CHECK(profileByScope(graph).size() == 1);
}
