// Answers to completions of a text.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "axial/llm/server/reply_writer.h"

namespace axial::llm {
class Tokenizer;
}

namespace axial::llm::server {

struct CompletionForm {
    std::string id, model;
    std::int64_t created = 0;
    std::size_t choicesEach = 1;
    std::vector<std::string> begins;  // of each choice: the prompt, if it is echoed
    bool streams = false, includesUsage = false, logprobs = false, timings = false;
    std::shared_ptr<const Tokenizer> tokenizer = {};
};

// The object text_completion.
std::shared_ptr<ReplyWriter> completionWriter(CompletionForm form);

}  // namespace axial::llm::server
