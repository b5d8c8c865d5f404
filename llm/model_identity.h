// Which model something was computed with: what a saved cache is checked against.
#pragma once
#include <cstdint>
#include <string>

namespace axial::llm {

struct LoadedModel;

struct ModelIdentity {
    std::string name;  // as the file calls it, or the file's own name: for people
    std::uint64_t fingerprint = 0;

    // "Qwen3 0.6B (fingerprint 0123456789abcdef)"
    std::string text() const;
};

// The fingerprint is a hash (FNV-1a, 64 bits) over
//   * the hyperparameters that the numbers depend on: extents, epsilon, rotation and its scaling;
//   * every token's bytes and type, in the order of their ids;
//   * every tensor, in the order of their names: name, format, extents, and its bytes - all of them up to 16 KiB, of a
//     larger one 16 stretches of 256 bytes, evenly spaced from its first to its last byte.
// That takes a few milliseconds (and as many pages of the file, where it is not in memory yet). It tells apart models
// of different training, also a fine-tuned one from its base, and the same weights in different formats. It cannot tell
// apart files that differ only in bytes of large tensors between the stretches: a few weights that were edited by hand.
// It does not look at the model's name, its chat template or its trained context, on which no cached number depends;
// nor at the arithmetic (UseActivations) and the instruction set, which change the last bits of what is computed.
ModelIdentity identityOf(const LoadedModel& loaded);

}  // namespace axial::llm
