#include "axial/llm/server/logprob_recorder.h"

namespace axial::llm::server {

void LogprobRecorder::process(std::span<float> logits, std::span<const TokenId>) {
    logits_.assign(logits.begin(), logits.end());
}

void LogprobRecorder::commit(TokenId token) {
    const Logprobs logprobs(logits_);
    list_->push_back({{token, logprobs.of(token)}, logprobs.top(top_)});
}

}  // namespace axial::llm::server
