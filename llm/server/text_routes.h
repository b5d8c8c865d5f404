// The endpoints that generate nothing.
#pragma once
#include <string_view>

#include "axial/llm/server/http_message.h"
#include "axial/llm/server/served_model.h"

namespace axial::llm::server {

// GET /v1/models, and /v1/models/ID. ApiError 404.
HttpReply modelList(const ServedModel& model);
HttpReply modelNamed(std::string_view path, const ServedModel& model);

// With llama.cpp's forms: {"content"} to {"tokens"}, {"tokens"} to {"content"}, {"messages"} to {"prompt"}. ApiError
// 400.
HttpReply tokenized(std::string_view body, const ServedModel& model);
HttpReply detokenized(std::string_view body, const ServedModel& model);
HttpReply templateApplied(std::string_view body, const ServedModel& model);

}  // namespace axial::llm::server
