#include "axial/llm/decoder.h"

#include <boost/hana/adapt_struct.hpp>
#include <numeric>

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

Tensor<std::int32_t, seq> positionsFrom(std::size_t first, std::size_t count) {
    auto positions = uninitialized<std::int32_t>(seq(count));
    std::iota(positions.values().begin(), positions.values().end(), static_cast<std::int32_t>(first));
    return positions;
}

// The stream behind the last block.
Stream runBlocks(const Hyperparameters& h, const Trunk& trunk, const Block& block, KvCache& cache,
                 std::span<const TokenId> tokens) {
    const auto ids = tensor<std::int32_t>(tokens, seq(tokens.size()));
    Stream x = gather(trunk.token_embd, vocab, ids);  // [seq, embed]
    Step step{cache, ropeTable(positionsFrom(cache.length(), tokens.size()), h.rope)};
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

Logits runDecoder(const Hyperparameters& h, const Trunk& trunk, const Block& block, KvCache& cache,
                  std::span<const TokenId> tokens, LogitsOf which) {
    requireTokens(h, cache, tokens);
    const std::size_t before = cache.length();
    try {
        Logits all = uninitialized<float>(seq(which == LogitsOf::all ? tokens.size() : 1), vocab(h.vocabulary));
        for (std::size_t done = 0; done < tokens.size();) {
            const auto piece = tokens.subspan(done, std::min(stepPositions, tokens.size() - done));
            const Stream x = runBlocks(h, trunk, block, cache, piece);
            if (which == LogitsOf::all)
                copy(applyHead(h, trunk, x), all.edit().narrow(seq, done, piece.size()));
            else if (done + piece.size() == tokens.size())
                all = applyHead(h, trunk, x.narrow(seq, piece.size() - 1, 1));
            done += piece.size();
        }
        return all;
    } catch (...) {
        cache.truncate(before);
        throw;
    }
}

}  // namespace axial::llm
