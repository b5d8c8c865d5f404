// Qwen2 from a folder of safetensors and from a GGUF file that holds the same numbers: the same bits.
#include "axial/llm/architectures.h"
#include "axial/llm/load.h"
#include "gguf_bytes.h"
#include "oracle.h"

using namespace axial;
using namespace axial::llm;

namespace {

// A GGUF file with the tensors of a folder as they stand there, and its hyperparameters.
test::Bytes ggufOf(const ModelFile& folder) {
    const Hyperparameters h = folder.hyperparameters();
    const auto u32 = [](std::size_t n) { return static_cast<std::uint32_t>(n); };
    test::GgufBytes gguf;
    gguf.key("general.architecture", "qwen2")
        .key("qwen2.block_count", u32(h.layers))
        .key("qwen2.embedding_length", u32(h.embed))
        .key("qwen2.feed_forward_length", u32(h.ff))
        .key("qwen2.attention.head_count", u32(h.heads))
        .key("qwen2.attention.head_count_kv", u32(h.kvHeads))
        .key("qwen2.context_length", u32(h.contextLength))
        .key("qwen2.rope.freq_base", 1e6f)
        .key("qwen2.attention.layer_norm_rms_epsilon", 1e-6f);
    test::Bytes data;
    for (const StoredTensor& t : folder.tensors()) {
        data.resize((data.size() + 31) / 32 * 32);
        gguf.tensor(t.name, {t.extent.rbegin(), t.extent.rend()},
                    u32(static_cast<std::size_t>(infoOf(t.format).ggufId)), data.size());
        data.insert(data.end(), t.data, t.data + t.bytes);
    }
    test::Bytes file = gguf.bytes();
    file.resize((file.size() + 31) / 32 * 32);
    file.insert(file.end(), data.begin(), data.end());
    return file;
}

}  // namespace

TEST_CASE("qwen2: BF16 from safetensors and from GGUF gives the same bits") {
    if (!oracle::present()) return;
    const LoadedModel folder = load(oracle::path("models/tiny-qwen2-hf-BF16"));
    const ModelFile gguf(test::parsed(ggufOf(ModelFile::open(oracle::path("models/tiny-qwen2-hf-BF16")))));
    WeightSource source(gguf);
    const auto same = findArchitecture("qwen2")->make(gguf.hyperparameters(), source);
    CHECK(source.unused().empty());
    for (const StoredTensor& t : gguf.tensors()) CHECK(t.format == Format::bf16);
    const std::vector<TokenId> tokens{5, 77, 300, 12, 505, 9};
    const auto logits = [&](const Model& model) {
        KvCache cache = model.makeCache(tokens.size(), Format::f16);
        return model.forward(cache, tokens, LogitsOf::all);
    };
    const Logits left = logits(*folder.model), right = logits(*same);
    REQUIRE(left.size() == right.size());
    CHECK(std::memcmp(left.data(), right.data(), left.size() * sizeof(float)) == 0);
}
