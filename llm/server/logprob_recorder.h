// Keeps what the model thought of each token that is chosen.
#pragma once
#include <cstddef>
#include <memory>
#include <vector>

#include "axial/llm/logit_processor.h"
#include "axial/llm/server/event_channel.h"

namespace axial::llm::server {

// The first of a sampler's processors, so that it sees the model's own logits; changes none.
class LogprobRecorder : public LogitProcessor {
  public:
    using List = std::vector<TokenLogprob>;

    // Appends to the list, which outlives it; `top` of the most probable tokens are kept for each.
    LogprobRecorder(std::size_t top, std::shared_ptr<List> list) : top_(top), list_(std::move(list)) {}

    void process(std::span<float> logits, std::span<const TokenId> history) override;
    void commit(TokenId token) override;
    void reset() override { logits_.clear(); }
    std::unique_ptr<LogitProcessor> clone() const override { return std::make_unique<LogprobRecorder>(top_, list_); }

  private:
    std::size_t top_;
    std::shared_ptr<List> list_;
    std::vector<float> logits_;
};

}  // namespace axial::llm::server
