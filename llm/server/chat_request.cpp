// Chat completions: from a request's body to a task.
#include "axial/llm/server/chat_prompt-inl.h"
#include "axial/llm/server/chat_reply.h"
#include "axial/llm/server/generation_parameters-inl.h"
#include "axial/llm/server/reply_parts-inl.h"
#include "axial/llm/server/stream_options-inl.h"
#include "axial/llm/server/task.h"

namespace axial::llm::server {

Task chatTask(std::string_view text, const ServedModel& model) {
    const RequestBody body(text, chatCompletions);
    const Json* messages = body.find("messages");
    if (!messages) refuse("messages is missing", "messages");
    const ToolUse tools = readTools(body);
    const OutputFormat format = readFormat(body.find("response_format"), "response_format");
    const Reasoning reasoning = readReasoning(body, body.text("reasoning_effort"), model);
    const ChatPrompt prompt = renderChat(model, *messages, tools, reasoning);

    Task task;
    GenerationRequest& generation = task.generation;
    readGeneration(body, model, prompt.thinks, generation);
    generation.maxTokens =
        body.integer("max_completion_tokens").value_or(body.integer("max_tokens").value_or(generation.maxTokens));
    const auto top = body.integer("top_logprobs");
    const bool logprobs = body.boolean("logprobs").value_or(false);
    if (top && !logprobs) refuse("top_logprobs needs logprobs to be true", "top_logprobs");
    if (logprobs) generation.logprobs = static_cast<std::size_t>(top.value_or(0));
    generation.prompts.push_back(model.tokenizer().encode(prompt.parts));
    checkLengths(model, generation, "messages");
    generation.processors = structureFor(model, prompt, tools, format);

    const StreamOptions stream = readStreamOptions(body);
    task.writer = chatWriter({.id = newId("chatcmpl-"),
                              .model = model.id,
                              .created = secondsSince1970(),
                              .choices = generation.choicesEach,
                              .streams = stream.streams,
                              .includesUsage = stream.includesUsage,
                              .logprobs = logprobs,
                              .timings = body.boolean("timings_per_token").value_or(false),
                              .thoughtsOpened = prompt.thoughtsOpened,
                              .toolForm = prompt.toolForm,
                              .tokenizer = model.loaded.tokenizer});
    return task;
}

}  // namespace axial::llm::server
