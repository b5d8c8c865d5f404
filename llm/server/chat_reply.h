// Answers to chat completions.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "axial/llm/chat_template.h"
#include "axial/llm/server/reply_writer.h"

namespace axial::llm::server {

// What the answer's form depends on.
struct ChatForm {
    std::string id, model;
    std::int64_t created = 0;
    std::size_t choices = 1;
    bool streams = false, includesUsage = false, logprobs = false, timings = false;
    bool thoughtsOpened = false;                      // the prompt has begun the thoughts
    ToolCallForm toolForm = ToolCallForm::none;       // how calls look in the text
    std::shared_ptr<const Tokenizer> tokenizer = {};  // for logprobs
};

// The objects chat.completion, or chat.completion.chunk. Thoughts are in reasoning_content, calls in tool_calls. A
// stream's first chunk of a choice has the role, its last one the finish_reason.
std::shared_ptr<ReplyWriter> chatWriter(ChatForm form);

}  // namespace axial::llm::server
