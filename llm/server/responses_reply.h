// Answers to requests of the Responses API.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "axial/llm/chat_template.h"
#include "axial/llm/server/reply_writer.h"

namespace axial::llm::server {

struct ResponsesForm {
    std::string base;  // a JSON object: what the answer says of its request
    bool streams = false, logprobs = false;
    bool thoughtsOpened = false;
    ToolCallForm toolForm = ToolCallForm::none;
    std::shared_ptr<const Tokenizer> tokenizer = {};
};

// The object response, whose output is items: reasoning, message, function_call. A stream is the API's named events,
// each with its sequence_number; the last one has the whole object.
std::shared_ptr<ReplyWriter> responsesWriter(ResponsesForm form);

}  // namespace axial::llm::server
