// The extents that ops have in a model: what is measured, if nobody says otherwise.
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "axial/tensor/format.h"

namespace axial::bench {

// Whether weights are stored in this format: a float format up to 32 bits, or blocks.
constexpr bool isStoredAs(Format format) {
    return infoOf(format).blockElements > 1 || format == Format::f32 || format == Format::f16 || format == Format::bf16;
}

struct AxisExtent {
    std::string name;
    std::size_t extent;
};
std::size_t sizeOf(std::span<const AxisExtent> axes);
// "head=16 channel=128"
std::string textOf(std::span<const AxisExtent> axes);

// A matrix of weights: `out` and `in` are the axes of its rows and of what is summed over.
struct LinearLayer {
    std::string name;
    Format format;
    std::vector<AxisExtent> out, in;
    bool isHead = false;  // gives logits, which a prompt needs for its last position alone
    bool isGate = false;  // has an equal beside it, up, with which it is one op
};

struct Shapes {
    std::size_t embed = 0, heads = 0, kvHeads = 0, channels = 0, ff = 0, vocabulary = 0;
    std::size_t experts = 0, chosen = 0;  // of a mixture; 0: there is none
    std::vector<LinearLayer> layers;
    std::vector<Format> tables;  // that rows are gathered from: the embedding's
};

// Those of Qwen3-0.6B (its config.json on Hugging Face), whose file stores each layer in each of `formats`, and the
// router of Qwen3-30B-A3B. `extents` are taken instead where a name is one of sizedAxes().
Shapes qwen3Shapes(std::span<const Format> formats, std::span<const AxisExtent> extents);
// embed, head, kvHead, channel, ff, vocab, expert, slot
std::vector<std::string_view> sizedAxes();
// The extents of those axes, in that order.
std::vector<AxisExtent> extentsOf(const Shapes&);

}  // namespace axial::bench
