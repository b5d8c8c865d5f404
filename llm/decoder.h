// What the decoder families have in common: embed the tokens, run the blocks over the residual stream, apply the head.
#pragma once
#include <boost/hana/adapt_struct.hpp>
#include <functional>
#include <optional>
#include <span>

#include "axial/llm/model.h"
#include "axial/llm/weight_source.h"
#include "axial/ops/rope_table.h"
#include "axial/ops/structure.h"
#include "axial/tensor/stored.h"

namespace axial::llm {

// The residual stream: what flows from block to block.
using Stream = Tensor<float, seq, embed>;

// The weights outside of the blocks, named as in the file.
struct Trunk {
    Weight<vocab, embed> token_embd;
    Weight<embed> output_norm;
    std::optional<Weight<vocab, embed>> output;  // absent: the head is tied to the embedding
    std::optional<Weight<pair>> rope_freqs;      // Llama-3: what the rotation's frequencies are divided by

    const Weight<vocab, embed>& head() const { return output ? *output : token_embd; }
};

// Tokens that go through the blocks together.
struct Step {
    KvCache& cache;
    RopeTable rope;  // the angles of their positions
    LogitsOf which;

    // For the block to call once its layer's keys and values are in the cache: behind the last layer only the positions
    // whose logits are asked for matter, so the others' rows are dropped there.
    template <class... Rows>
    void dropUnasked(std::size_t layer, Rows&... rows) const {
        if (which == LogitsOf::all || layer + 1 != cache.layers()) return;
        ((rows = copy(rows.narrow(seq, rows.extent(seq) - 1, 1))), ...);
    }
};

// One block: takes the stream over and hands it back edited.
using Block = std::function<Stream(Stream&&, std::size_t layer, Step&)>;

// The extents of a model's axes.
AxisSizes axisSizes(const Hyperparameters&);
// Binds the trunk, and sets hyperparameters.vocabulary to the embedding's number of rows. Errors as bindRecord's.
Trunk bindTrunk(Hyperparameters&, WeightSource&);
// The rotation that the hyperparameters and the trunk's rope_freqs ask for.
Rope ropeOf(const Hyperparameters&, const Trunk&);

// Model::forward for a decoder. Long inputs go through in pieces of at most `stepPositions`; the result does not depend
// on that.
inline constexpr std::size_t stepPositions = 512;
Logits runDecoder(const Hyperparameters&, const Trunk&, const Rope&, const Block&, KvCache&, std::span<const TokenId>,
                  LogitsOf);

}  // namespace axial::llm

BOOST_HANA_ADAPT_STRUCT(axial::llm::Trunk, token_embd, output_norm, output, rope_freqs);
