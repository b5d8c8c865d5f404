// What requests say about sampling, stops and lengths. For .cpp files.
#pragma once
#include "axial/llm/server/generation.h"
#include "axial/llm/server/request_body-inl.h"
#include "axial/llm/server/served_model.h"

namespace axial::llm::server {

// Puts all that does not depend on the endpoint into the request: sampling (where the body says nothing, the model's
// advice), seed, bias, stops, n. ApiError 400.
void readGeneration(const RequestBody& body, const ServedModel& model, bool thinks, GenerationRequest& request);

// Checks the prompts against the context, and limits the reply to what is left of it. ApiError 400.
void checkLengths(const ServedModel& model, GenerationRequest& request, const std::string& promptParameter);

}  // namespace axial::llm::server
