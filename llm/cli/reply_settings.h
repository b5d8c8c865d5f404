// What the flags say about sampling and replies.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "axial/llm/model_file.h"
#include "axial/llm/reply.h"
#include "axial/llm/sampler.h"
#include "options.h"

namespace axial::cli {

// The model's advice, changed by what the flags say. UsageError for a logit bias that cannot be read.
llm::SamplerSettings samplingIn(const Options& options, const llm::ModelFile& file, bool thinking);
// One line that names them all.
std::string described(const llm::SamplerSettings& settings);

// Limits, stop strings and Ctrl-C.
llm::ReplyOptions replyOptionsIn(const Options& options, const std::vector<llm::TokenId>& stopTokens);

// What the user should know of how a reply ended, as lines: that the context is full, with the advice `larger`, or that
// its middle was dropped.
std::string endNote(const llm::Reply& reply, std::size_t capacity, std::string_view larger = "-c N makes it larger");

// "[ Prompt: 12.3 t/s | Generation: 4.5 t/s ]", and with drafts " | Drafts: 30 of 42 tokens accepted".
std::string speeds(const llm::Reply& reply);

}  // namespace axial::cli
