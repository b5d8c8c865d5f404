// What the decoder families have in common: embed the tokens, run the blocks over the residual stream, apply the head.
#pragma once
#include <boost/hana/adapt_struct.hpp>
#include <functional>
#include <optional>
#include <span>

#include "axial/llm/model.h"
#include "axial/llm/step.h"
#include "axial/llm/weight_source.h"
#include "axial/tensor/stored.h"

namespace axial::llm {

// The weights outside of the blocks, named as in the file.
struct Trunk {
    Weight<vocab, embed> token_embd;
    Weight<embed> output_norm;
    std::optional<Weight<vocab, embed>> output;  // absent: the head is tied to the embedding
    std::optional<Weight<pair>> rope_freqs;      // Llama-3: what the rotation's frequencies are divided by

    const Weight<vocab, embed>& head() const { return output ? *output : token_embd; }
};

// One block: takes the stream over and hands it back edited.
using Block = std::function<Stream(Stream&&, std::size_t layer, Step&)>;

// The extents of a model's axes.
AxisSizes axisSizes(const Hyperparameters&);
// Binds the trunk, and sets hyperparameters.vocabulary to the embedding's number of rows. Errors as bindRecord's.
Trunk bindTrunk(Hyperparameters&, WeightSource&);
// The rotation that the hyperparameters and the trunk's rope_freqs ask for.
Rope ropeOf(const Hyperparameters&, const Trunk&);

// Model::forward for a decoder. At most `stepPositions` rows go through the blocks together, whichever conversations
// they are of; the result does not depend on that.
inline constexpr std::size_t stepPositions = 512;
Logits runDecoder(const Hyperparameters&, const Trunk&, const Rope&, const Block&, std::span<const Continuation>);

}  // namespace axial::llm

BOOST_HANA_ADAPT_STRUCT(axial::llm::Trunk, token_embd, output_norm, output, rope_freqs);
