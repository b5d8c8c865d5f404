#include "axial/llm/decoder.h"

#include "axial/llm/bind.h"
#include "axial/ops/dot.h"
#include "axial/ops/gather.h"
#include "axial/ops/norm.h"
#include "axial/ops/structure.h"
#include "axial/tensor/error.h"
#include "axial/tensor/observe.h"

namespace axial::llm {
namespace {

void requireTokens(const Hyperparameters& h, const KvCache& cache, std::span<const TokenId> tokens) {
    if (tokens.empty()) throw ValueError("forward: there are no tokens; give at least one");
    for (const TokenId token : tokens)
        if (token < 0 || static_cast<std::size_t>(token) >= h.vocabulary)
            throw ValueError("forward: token " + std::to_string(token) + " is not in the vocabulary of " +
                             std::to_string(h.vocabulary));
    if (tokens.size() > cache.capacity() - cache.length())
        throw ValueError("forward: " + std::to_string(tokens.size()) + " tokens do not fit behind the " +
                         std::to_string(cache.length()) + " in a context of " + std::to_string(cache.capacity()));
}

// The stream behind the last block: of all positions, or of the last.
Stream runBlocks(const Hyperparameters& h, const Trunk& trunk, const Rope& rope, const Block& block, KvCache& cache,
                 std::span<const TokenId> tokens, LogitsOf which) {
    const auto ids = tensor<std::int32_t>(tokens, seq(tokens.size()));
    Stream x = gather(trunk.token_embd, vocab, ids);  // [seq, embed]
    Step step{cache, rope.table(cache.length(), tokens.size()), which};
    for (std::size_t i = 0; i < h.layers; ++i) {
        Scope scope("layer", static_cast<long>(i));
        x.replace(block, i, step);
    }
    cache.advance(tokens.size());
    return x;
}

Logits applyHead(const Hyperparameters& h, const Trunk& trunk, View<const float, seq, embed> x) {
    Scope scope("head");
    const auto normed = rmsNormMul(x, trunk.output_norm, h.normEpsilon);
    return dot(normed, trunk.head(), embed);  // [seq, vocab]
}

}  // namespace

AxisSizes axisSizes(const Hyperparameters& h) {
    return {{embed.name, h.embed},          {head.name, h.heads}, {kvHead.name, h.kvHeads},
            {channel.name, h.channels},     {ff.name, h.ff},      {vocab.name, h.vocabulary},
            {pair.name, h.ropeChannels / 2}};
}

Trunk bindTrunk(Hyperparameters& h, WeightSource& source) {
    const StoredTensor& embedding = source.require("token_embd.weight");
    h.vocabulary = embedding.extent.front();
    Trunk trunk;
    bindRecord(trunk, "", source, axisSizes(h));
    return trunk;
}

Rope ropeOf(const Hyperparameters& h, const Trunk& trunk) {
    RopeParameters parameters{h.ropeChannels, h.ropeTheta, h.ropeScaling, {}};
    if (trunk.rope_freqs) {
        const auto factors = copy(*trunk.rope_freqs);
        parameters.frequencyFactors.assign(factors.values().begin(), factors.values().end());
    }
    return Rope(parameters);
}

Logits runDecoder(const Hyperparameters& h, const Trunk& trunk, const Rope& rope, const Block& block, KvCache& cache,
                  std::span<const TokenId> tokens, LogitsOf which) {
    requireTokens(h, cache, tokens);
    const std::size_t before = cache.length();
    try {
        Logits all = uninitialized<float>(seq(which == LogitsOf::all ? tokens.size() : 1), vocab(h.vocabulary));
        for (std::size_t done = 0; done < tokens.size();) {
            const auto piece = tokens.subspan(done, std::min(stepPositions, tokens.size() - done));
            const Stream x = runBlocks(h, trunk, rope, block, cache, piece, which);
            if (which == LogitsOf::all)
                copy(applyHead(h, trunk, x), all.edit().narrow(seq, done, piece.size()));
            else if (done + piece.size() == tokens.size())
                all = applyHead(h, trunk, x);
            done += piece.size();
        }
        return all;
    } catch (...) {
        cache.truncate(before);
        throw;
    }
}

}  // namespace axial::llm
