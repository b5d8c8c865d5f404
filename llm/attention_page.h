// A page to look at what a model's heads look at: one HTML file that needs nothing else.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "axial/llm/attention_maps.h"
#include "axial/llm/token.h"

namespace axial::llm {

class Tokenizer;

// The page of a text's maps, a few MB: some 0.4 bytes a number (28 layers of 16 heads with 200 tokens have 9 million).
// It shows tokens, the map of a chosen head, what a token looks at, all heads side by side, and entropies, and saves
// maps as PNG or SVG; in light and dark, by pointer, finger or keyboard, for which it has a list. Numbers in it are
// rounded to 0.1 % (attention_code.h). `tokens` are those of the maps (else ShapeError); `model` is a name to show.
// Whatever the tokens say is shown as text: it cannot become markup.
std::string attentionPage(const AttentionMaps& maps, const Tokenizer& tokenizer, std::span<const TokenId> tokens,
                          std::string_view model);

// The Content-Security-Policy that the page asks for in itself, for a server to send with it: nothing from anywhere,
// and no other script or style than its own, which are named by their hashes.
std::string_view attentionPagePolicy();

}  // namespace axial::llm
