// Completions of a text: from a request's body to a task.
#include "axial/llm/server/completion_reply.h"
#include "axial/llm/server/generation_parameters-inl.h"
#include "axial/llm/server/reply_parts-inl.h"
#include "axial/llm/server/stream_options-inl.h"
#include "axial/llm/server/task.h"

namespace axial::llm::server {
namespace {

constexpr std::int64_t standardLength = 16;  // the API's own

std::vector<TokenId> tokensIn(const Json& list, const ServedModel& model) {
    const std::size_t vocabulary = model.loaded.model->hyperparameters().vocabulary;
    std::vector<TokenId> tokens;
    for (const Json& token : list) {
        if (!token.is_number_integer()) refuse("prompt has a list with something else than token ids", "prompt");
        const auto id = token.get<std::int64_t>();
        if (id < 0 || static_cast<std::uint64_t>(id) >= vocabulary)
            refuse("prompt has the token " + token.dump() + ", but the vocabulary has " + std::to_string(vocabulary) +
                       " tokens",
                   "prompt");
        tokens.push_back(static_cast<TokenId>(id));
    }
    return tokens;
}

std::vector<TokenId> promptIn(const Json& prompt, const ServedModel& model) {
    if (prompt.is_array()) return tokensIn(prompt, model);
    if (!prompt.is_string()) refuse("prompt must be a string, token ids, or a list of either", "prompt");
    const Vocabulary& vocabulary = model.tokenizer().vocabulary();
    std::vector<TokenId> tokens = model.tokenizer().encode(prompt.get_ref<const std::string&>());
    if (vocabulary.addsBos && vocabulary.bos) tokens.insert(tokens.begin(), *vocabulary.bos);
    return tokens;
}

}  // namespace

Task completionTask(std::string_view text, const ServedModel& model) {
    const RequestBody body(text, completions);
    const Json* prompt = body.find("prompt");
    if (!prompt) refuse("prompt is missing", "prompt");
    const bool several = prompt->is_array() && !prompt->empty() && !prompt->front().is_number();
    const Json prompts = several ? *prompt : Json::array({*prompt});
    if (prompts.size() > 128) refuse("prompt has more than 128 prompts", "prompt");

    Task task;
    GenerationRequest& generation = task.generation;
    readGeneration(body, model, false, generation);
    generation.maxTokens = body.integer("max_tokens").value_or(standardLength);
    if (const auto top = body.integer("logprobs")) generation.logprobs = static_cast<std::size_t>(*top);
    for (const Json& one : prompts) generation.prompts.push_back(promptIn(one, model));
    checkLengths(model, generation, "prompt");
    const bool echo = body.boolean("echo").value_or(false);
    if (echo && generation.logprobs) refuse("logprobs of an echoed prompt are not supported", "echo");

    CompletionForm form;
    for (const auto& tokens : generation.prompts)
        form.begins.insert(form.begins.end(), generation.choicesEach,
                           echo ? model.tokenizer().decode(tokens, false) : std::string());
    const StreamOptions stream = readStreamOptions(body);
    form.id = newId("cmpl-");
    form.model = model.id;
    form.created = secondsSince1970();
    form.choicesEach = generation.choicesEach;
    form.streams = stream.streams;
    form.includesUsage = stream.includesUsage;
    form.logprobs = generation.logprobs.has_value();
    form.timings = body.boolean("timings_per_token").value_or(false);
    form.tokenizer = model.loaded.tokenizer;
    task.writer = completionWriter(std::move(form));
    return task;
}

}  // namespace axial::llm::server
