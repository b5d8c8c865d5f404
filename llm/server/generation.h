// What is asked of the inference loop.
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "axial/llm/logit_processor.h"
#include "axial/llm/sampler.h"
#include "axial/llm/server/event_channel.h"
#include "axial/llm/token.h"

namespace axial::llm::server {

// Replies to one prompt or several. Choice c answers prompt c / choicesEach; those of one prompt have seeds of their
// own (seedOf), the first the seed itself.
struct GenerationRequest {
    std::vector<std::vector<TokenId>> prompts;
    std::size_t choicesEach = 1;
    SamplerSettings sampling;
    std::vector<std::unique_ptr<LogitProcessor>> processors;  // each choice gets a clone
    std::int64_t maxTokens = -1;                              // below 0: until another end
    std::vector<std::string> stopTexts;
    bool ignoresEnd = false;              // tokens that end a reply do not end it
    std::optional<std::size_t> logprobs;  // how many of the most probable tokens are told; none: no logprobs at all
    std::shared_ptr<EventChannel> events;
    std::chrono::steady_clock::time_point arrived = std::chrono::steady_clock::now();

    std::size_t choices() const { return prompts.size() * choicesEach; }
};

}  // namespace axial::llm::server
