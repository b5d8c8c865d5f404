// The numbers that fix a decoder's shape, read from a file by the file's own architecture prefix.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "axial/ops/rope_table.h"

namespace axial::llm {

class GgufFile;

// The mixture of experts that stands in the place of a block's feed-forward.
struct ExpertParameters {
    std::size_t count = 0;           // of a block; 0: there are no experts
    std::size_t used = 0;            // how many of them each token goes through
    std::size_t ff = 0;              // inner extent of an expert
    bool normalise = true;           // whether the weights of those used are divided by their sum
    double topP = 1;                 // an option and not the file's: see routerTopK (ops/largest.h)
    std::size_t every = 1;           // of each so many blocks, the last has experts
    std::vector<std::size_t> dense;  // blocks that have none besides

    // Whether a block has experts.
    bool in(std::size_t block) const;
};

struct Hyperparameters {
    std::string architecture;       // "qwen3": the prefix of the file's keys
    std::string name;               // general.name, may be empty
    std::size_t contextLength = 0;  // positions the model was trained for
    std::size_t layers = 0;
    std::size_t embed = 0;     // extent of the residual stream
    std::size_t heads = 0;     // query heads
    std::size_t kvHeads = 0;   // key and value heads; heads is a multiple of it
    std::size_t channels = 0;  // of a head; heads * channels need not be embed
    std::size_t ff = 0;        // inner extent of the feed-forward block
    ExpertParameters experts;
    std::size_t vocabulary = 0;
    float normEpsilon = 0;
    double ropeTheta = 0;          // base of the rotation's wavelengths
    std::size_t ropeChannels = 0;  // the first so many channels of a head are rotated
    RopeScaling ropeScaling;       // none, linear, YaRN or Llama-3
    // Of llama only: whether channel i of a head turns with i + half of them, as in the checkpoints of Hugging Face;
    // GGUF files have the rows reordered, so that it turns with its neighbour.
    bool turnsByHalves = false;
};

// Reads them under the prefix that the file's general.architecture gives. `vocabulary` is left 0: it is the extent of
// the embedding. A missing or zero key is a FileError that names it; optional keys have the GGUF specification's
// defaults (head_count_kv: as many as heads; key_length: embedding_length / head_count; freq_base: 10000). What is said
// of experts and would change the results but is not done (shared experts, groups, another gate than the softmax) is an
// UnsupportedError that names the key.
Hyperparameters readHyperparameters(const GgufFile& file);

}  // namespace axial::llm
