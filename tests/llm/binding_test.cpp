// Weights find their tensors by name and axes, or the file is refused with both shapes.
#include <doctest/doctest.h>

#include <map>

#include "axial/llm/llama.h"
#include "axial/llm/qwen3.h"
#include "llm/gguf_bytes.h"

using namespace axial;
using namespace axial::llm;
using namespace axial::llm::test;

namespace {

// Tensors by name, with extents outermost first.
using Shapes = std::map<std::string, std::vector<std::uint64_t>>;

Hyperparameters small() {
    Hyperparameters h;
    h.architecture = "qwen3";
    h.contextLength = 16, h.layers = 1, h.embed = 16, h.heads = 4, h.kvHeads = 2, h.channels = 8, h.ff = 24;
    h.normEpsilon = 1e-6f, h.ropeTheta = 1e4, h.ropeChannels = 8;
    return h;
}

Shapes qwen3Shapes() {
    return {
        {"token_embd.weight", {10, 16}},    {"output_norm.weight", {16}},        {"blk.0.attn_norm.weight", {16}},
        {"blk.0.attn_q.weight", {32, 16}},  {"blk.0.attn_k.weight", {16, 16}},   {"blk.0.attn_v.weight", {16, 16}},
        {"blk.0.attn_q_norm.weight", {8}},  {"blk.0.attn_k_norm.weight", {8}},   {"blk.0.attn_output.weight", {16, 32}},
        {"blk.0.ffn_norm.weight", {16}},    {"blk.0.ffn_gate.weight", {24, 16}}, {"blk.0.ffn_up.weight", {24, 16}},
        {"blk.0.ffn_down.weight", {16, 24}}};
}

// A file of those tensors in F32 (or, for one of them, another format).
GgufFile fileOf(const Shapes& shapes, const std::string& other = "", Format otherFormat = Format::f32) {
    GgufBytes file;
    file.key("general.architecture", "qwen3");
    std::uint64_t offset = 0;
    for (const auto& [name, extents] : shapes) {
        const Format format = name == other ? otherFormat : Format::f32;
        std::uint64_t count = 1;
        for (const std::uint64_t e : extents) count *= e;
        const auto id = static_cast<std::uint32_t>(infoOf(format).ggufId);
        if (extents.size() == 1)
            file.tensor(name, {extents[0]}, id, offset);
        else
            file.tensor(name, {extents[1], extents[0]}, id, offset);
        offset += (bytesOf(format, count) + 31) / 32 * 32;
    }
    return parsed(file.bytes(offset));
}

}  // namespace

TEST_CASE("a record is bound by its fields' names, and what nobody asked for is known") {
    Shapes shapes = qwen3Shapes();
    shapes["blk.0.attn_q.bias"] = {32};
    const GgufFile file = fileOf(shapes);
    WeightSource source(file);
    const auto model = makeQwen3(small(), source);
    CHECK(model->hyperparameters().vocabulary == 10);
    CHECK(source.unused() == std::vector<std::string>{"blk.0.attn_q.bias"});  // GGUF-14: Qwen3 has no biases
}

TEST_CASE("a tensor that is missing is named") {
    for (const auto& [name, extents] : qwen3Shapes()) {
        Shapes shapes = qwen3Shapes();
        shapes.erase(name);
        const GgufFile file = fileOf(shapes);
        WeightSource source(file);
        CHECK_THROWS_WITH_AS(makeQwen3(small(), source),
                             ("memory.gguf: tensor " + name + " is not in the file; the model needs it").c_str(),
                             FileError);
    }
}

TEST_CASE("a tensor of other extents is refused with both shapes, transposed ones too") {
    const std::map<std::string, std::pair<std::vector<std::uint64_t>, const char*>> wrong{
        {"blk.0.attn_q.weight",
         {{16, 32}, "has the extents [16, 32], but the model wants [head=4, channel=8, embed=16]"}},
        {"blk.0.attn_output.weight",
         {{32, 16}, "has the extents [32, 16], but the model wants [embed=16, head=4, channel=8]"}},
        {"blk.0.attn_k.weight",
         {{32, 16}, "has the extents [32, 16], but the model wants [kvHead=2, channel=8, embed=16]"}},
        {"blk.0.ffn_down.weight", {{24, 16}, "has the extents [24, 16], but the model wants [embed=16, ff=24]"}},
        {"blk.0.attn_q_norm.weight", {{16}, "has the extents [16], but the model wants [channel=8]"}},
        {"output_norm.weight", {{4, 4}, "has the extents [4, 4], but the model wants [embed=16]"}},
        {"token_embd.weight", {{10, 8}, "has the extents [10, 8], but the model wants [vocab=10, embed=16]"}},
    };
    for (const auto& [name, row] : wrong) {
        CAPTURE(name);
        Shapes shapes = qwen3Shapes();
        shapes[name] = row.first;
        const GgufFile file = fileOf(shapes);
        WeightSource source(file);
        CHECK_THROWS_WITH_AS(makeQwen3(small(), source), ("memory.gguf: tensor " + name + " " + row.second).c_str(),
                             FileError);
    }
}

TEST_CASE("integers are no weights") {
    const GgufFile file = fileOf(qwen3Shapes(), "blk.0.ffn_up.weight", Format::i32);
    WeightSource source(file);
    CHECK_THROWS_WITH_AS(makeQwen3(small(), source), doctest::Contains("blk.0.ffn_up.weight is stored as I32"),
                         UnsupportedError);
}

TEST_CASE("GGUF-12: the head is output.weight where the file has it, else the embedding") {
    Hyperparameters h = small();
    const GgufFile tied = fileOf(qwen3Shapes());
    WeightSource tiedSource(tied);
    const Trunk trunk = bindTrunk(h, tiedSource);
    CHECK(trunk.head().name() == "token_embd.weight");
    Shapes shapes = qwen3Shapes();
    shapes["output.weight"] = {10, 16};
    const GgufFile untied = fileOf(shapes);
    WeightSource untiedSource(untied);
    CHECK(bindTrunk(h, untiedSource).head().name() == "output.weight");
}

TEST_CASE("GGUF-14: Qwen3 needs its head norms; llama has none") {
    Shapes shapes = qwen3Shapes();
    shapes.erase("blk.0.attn_q_norm.weight");
    shapes.erase("blk.0.attn_k_norm.weight");
    const GgufFile file = fileOf(shapes);
    WeightSource source(file), again(file);
    CHECK_THROWS_AS(makeQwen3(small(), source), FileError);
    CHECK_NOTHROW(makeLlama(small(), again));
    CHECK(again.unused().empty());
}
