// A choice's text, taken apart as it comes: thoughts, content, calls.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "axial/llm/server/event_channel.h"
#include "axial/llm/thinking.h"
#include "axial/llm/tool_calls.h"

namespace axial::llm::server {

class GrowingReply {
  public:
    // thoughtsOpened: the prompt has begun the thoughts.
    GrowingReply(bool thoughtsOpened, ToolCallForm form) : thoughts_(thoughtsOpened), calls_(form) {}

    // What is new.
    struct Growth {
        std::string thoughts, content;
        std::vector<ToolCall> calls;
        std::vector<TokenLogprob> logprobs;  // of the content: not of thoughts, and the tags and spaces around them
    };
    Growth take(const Piece& piece);
    // The choice is over: what was held back.
    Growth end(const ChoiceEnd& end);

    // How many of the tokens were thoughts, once it is over.
    std::size_t thoughtTokens() const { return thoughtTokens_; }

  private:
    Growth grown(ThinkingSplitter::Parts parts);

    ThinkingSplitter thoughts_;
    ToolCallSplitter calls_;
    std::size_t thoughtTokens_ = 0;
    std::vector<TokenLogprob> logprobs_;  // not told yet
};

}  // namespace axial::llm::server
