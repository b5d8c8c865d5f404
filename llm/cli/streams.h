// Several replies to one prompt side by side: --streams.
#pragma once
#include <memory>
#include <span>

#include "axial/llm/reply.h"
#include "axial/llm/sampler.h"
#include "open_model.h"

namespace axial::cli {

// Generates options.streams replies to the prompt together, with the seeds seed, seed + 1, ..., and prints one after
// the other. Returns the exit code.
int generateStreams(const Engine& engine, const std::shared_ptr<const llm::Tokenizer>& tokenizer,
                    std::span<const llm::TokenId> prompt, const llm::SamplerSettings& settings,
                    const llm::ReplyOptions& replyOptions, const Options& options);

}  // namespace axial::cli
