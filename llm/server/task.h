// What a request to an endpoint that generates comes down to.
#pragma once
#include <memory>
#include <string_view>

#include "axial/llm/server/generation.h"
#include "axial/llm/server/reply_writer.h"
#include "axial/llm/server/served_model.h"

namespace axial::llm::server {

struct Task {
    GenerationRequest generation;
    std::shared_ptr<ReplyWriter> writer;
};

// The body of a request, read. Throws ApiError.
Task chatTask(std::string_view body, const ServedModel& model);
Task completionTask(std::string_view body, const ServedModel& model);
Task responsesTask(std::string_view body, const ServedModel& model);

}  // namespace axial::llm::server
