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

[[noreturn]] void refuse(std::span<const Continuation> all, std::size_t i, const std::string& text) {
    throw ValueError("forward: " + (all.size() == 1 ? "" : "conversation " + std::to_string(i) + ": ") + text);
}

void require(const Hyperparameters& h, std::span<const Continuation> all) {
    if (all.empty()) throw ValueError("forward: there are no conversations; give at least one");
    for (std::size_t i = 0; i < all.size(); ++i) {
        const auto& [cache, tokens, which] = all[i];
        if (tokens.empty()) refuse(all, i, "there are no tokens; give at least one");
        for (const TokenId token : tokens)
            if (token < 0 || static_cast<std::size_t>(token) >= h.vocabulary)
                refuse(
                    all, i,
                    "token " + std::to_string(token) + " is not in the vocabulary of " + std::to_string(h.vocabulary));
        if (cache.layers() != h.layers)
            refuse(all, i,
                   "the cache has " + std::to_string(cache.layers()) + " layers and the model " +
                       std::to_string(h.layers) + "; make it with makeCache() of this model");
        if (tokens.size() > cache.capacity() - cache.length())
            refuse(all, i,
                   std::to_string(tokens.size()) + " tokens do not fit behind the " + std::to_string(cache.length()) +
                       " in a context of " + std::to_string(cache.capacity()));
        for (std::size_t j = 0; j < i; ++j)
            if (&all[j].cache == &cache)
                refuse(all, i, "its cache is that of conversation " + std::to_string(j) + "; give each its own");
    }
}

// How far a forward pass has come with a conversation, and which row of the result its next logits are.
struct Progress {
    std::size_t begin;  // the cache's length before
    std::size_t done = 0;
    std::size_t row;
};

// The next rows of a forward pass, at most stepPositions of them, and where their logits go.
struct Piece {
    std::vector<Stretch> stretches;
    std::vector<std::int32_t> ids, positions;
    std::vector<std::size_t> rows;
};

Piece nextPiece(std::span<const Continuation> all, std::vector<Progress>& progress) {
    Piece piece;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const auto& [cache, tokens, which] = all[i];
        Progress& p = progress[i];
        const std::size_t count = std::min(tokens.size() - p.done, stepPositions - piece.ids.size());
        if (count == 0) continue;
        for (std::size_t k = 0; k < count; ++k) {
            piece.ids.push_back(tokens[p.done + k]);
            piece.positions.push_back(static_cast<std::int32_t>(p.begin + p.done + k));
        }
        p.done += count;
        const std::size_t asked = which == LogitsOf::all ? count : p.done == tokens.size() ? 1 : 0;
        for (std::size_t k = 0; k < asked; ++k) piece.rows.push_back(p.row++);
        piece.stretches.push_back({cache, count, asked});
    }
    return piece;
}

// The stream behind the last block, of the rows whose logits are asked for.
Stream runBlocks(const Hyperparameters& h, const Trunk& trunk, const Rope& rope, const Block& block, Piece& piece) {
    const auto ids = tensor<std::int32_t>(piece.ids, seq(piece.ids.size()));
    named("tokens", ids);
    Stream x = named("embedding", gather(trunk.token_embd, vocab, ids));  // [seq, embed]
    Step step(std::move(piece.stretches), rope.table(piece.positions));
    for (std::size_t i = 0; i < h.layers; ++i) {
        Scope scope("layer", static_cast<long>(i));
        named("layer_in", x);
        x.replace(block, i, step);
        named("layer_out", x);
    }
    step.finish();
    return x;
}

Logits applyHead(const Hyperparameters& h, const Trunk& trunk, View<const float, seq, embed> x) {
    Scope scope("head");
    const auto normed = rmsNormMul(x, trunk.output_norm, h.normEpsilon);
    return named("logits", dot(normed, trunk.head(), embed));  // [seq, vocab]
}

}  // namespace

AxisSizes axisSizes(const Hyperparameters& h) {
    return {{embed.name, h.embed},
            {head.name, h.heads},
            {kvHead.name, h.kvHeads},
            {channel.name, h.channels},
            {ff.name, h.ff},
            {vocab.name, h.vocabulary},
            {expert.name, h.experts.count},
            {slot.name, h.experts.used},
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

Logits runDecoder(const Hyperparameters& h, const Trunk& trunk, const Rope& rope, const Block& block,
                  std::span<const Continuation> all) {
    require(h, all);
    std::vector<Progress> progress;
    std::size_t rows = 0, tokens = 0;
    for (const auto& [cache, given, which] : all) {
        progress.push_back({.begin = cache.length(), .row = rows});
        rows += which == LogitsOf::all ? given.size() : 1;
        tokens += given.size();
    }
    try {
        Logits logits;
        if (tokens > stepPositions) logits = uninitialized<float>(seq(rows), vocab(h.vocabulary));
        for (std::size_t done = 0; done < tokens;) {
            Piece piece = nextPiece(all, progress);
            done += piece.ids.size();
            const Stream x = runBlocks(h, trunk, rope, block, piece);
            if (piece.rows.empty()) continue;
            Logits some = applyHead(h, trunk, x);
            if (tokens <= stepPositions) return some;
            for (std::size_t i = 0; i < piece.rows.size(); ++i)
                copy(some.narrow(seq, i, 1), logits.edit().narrow(seq, piece.rows[i], 1));
        }
        return logits;
    } catch (...) {
        for (std::size_t i = 0; i < all.size(); ++i) all[i].cache.truncate(progress[i].begin);
        throw;
    }
}

}  // namespace axial::llm
