// Writing attention pages to files, for axial attention and the chat's /attention.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "axial/llm/load.h"
#include "open_model.h"

namespace axial::cli {

// "0,5-7" as {0, 5, 6, 7}. UsageError for anything else.
std::vector<std::size_t> layersIn(const std::string& text);

// Writes the page of a text (attention_page.h) to a file, whole or not at all, or to stdout for "-", and returns a
// line that says where and how large. `layers`: those that are shown; none: all. Reads the tokens anew, with a cache of
// its own; conversations that go on are not touched. Throws what attentionOf() throws, or FileError.
std::string writeAttention(const std::string& path, const llm::LoadedModel& loaded, const Engine& engine,
                           llm::CacheFormats formats, std::span<const llm::TokenId> tokens,
                           std::vector<std::size_t> layers);

}  // namespace axial::cli
