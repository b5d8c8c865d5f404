#include "axial/llm/server/generation_parameters-inl.h"

#include <charconv>

namespace axial::llm::server {
namespace {

std::vector<LogitBias> biasIn(const RequestBody& body, const ServedModel& model) {
    std::vector<LogitBias> list;
    const Json* bias = body.find("logit_bias");
    if (!bias) return list;
    const std::string name = "logit_bias";
    const std::size_t vocabulary = model.loaded.model->hyperparameters().vocabulary;
    for (const auto& [key, value] : bias->items()) {
        TokenId token = -1;
        const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), token);
        if (error != std::errc() || end != key.data() + key.size())
            refuse("logit_bias has a key that is no token id", name);
        if (token < 0 || static_cast<std::size_t>(token) >= vocabulary)
            refuse("logit_bias has the token " + std::to_string(token) + ", but the vocabulary has " +
                       std::to_string(vocabulary) + " tokens",
                   name);
        if (!value.is_number() || value.get<double>() < -100 || value.get<double>() > 100)
            refuse("logit_bias: a bias must be a number from -100 to 100", name);
        list.push_back({token, value.get<float>()});
    }
    return list;
}

std::vector<std::string> stopsIn(const RequestBody& body) {
    const Json* stop = body.find("stop");
    if (!stop) return {};
    const std::string name = "stop";
    std::vector<std::string> texts;
    if (!stop->is_string() && !stop->is_array()) refuse("stop must be a string or a list of strings", name);
    const Json list = stop->is_string() ? Json::array({*stop}) : *stop;
    if (list.size() > 4) refuse("stop has " + std::to_string(list.size()) + " texts, but at most 4 are allowed", name);
    for (const Json& text : list) {
        if (!text.is_string()) refuse("stop must be a string or a list of strings", name);
        texts.push_back(text.get<std::string>());
        if (texts.back().empty()) refuse("stop has an empty text, which would end every reply at once", name);
    }
    return texts;
}

}  // namespace

void readGeneration(const RequestBody& body, const ServedModel& model, bool thinks, GenerationRequest& request) {
    SamplerSettings& s = request.sampling;
    s = thinks ? model.thinking : model.straight;
    s.temperature = body.number("temperature").value_or(s.temperature);
    s.topP = body.number("top_p").value_or(s.topP);
    s.topK = body.integer("top_k").value_or(s.topK);
    s.minP = body.number("min_p").value_or(s.minP);
    s.penalties.repeat = body.number("repeat_penalty").value_or(s.penalties.repeat);
    s.penalties.window = body.integer("repeat_last_n").value_or(s.penalties.window);
    s.penalties.presence = body.number("presence_penalty").value_or(s.penalties.presence);
    s.penalties.frequency = body.number("frequency_penalty").value_or(s.penalties.frequency);
    s.bias = biasIn(body, model);
    if (const auto seed = body.integer("seed")) s.seed = static_cast<std::uint64_t>(*seed);
    request.choicesEach = static_cast<std::size_t>(body.integer("n").value_or(1));
    request.stopTexts = stopsIn(body);
    request.ignoresEnd = body.boolean("ignore_eos").value_or(false);
}

void checkLengths(const ServedModel& model, GenerationRequest& request, const std::string& promptParameter) {
    const std::size_t room = model.loop->settings().contextSize;
    for (const auto& prompt : request.prompts) {
        if (prompt.empty()) refuse("the prompt has no tokens; give at least one", promptParameter);
        if (prompt.size() >= room)
            refuse("This model's maximum context length is " + std::to_string(room) + " tokens, but the prompt has " +
                       std::to_string(prompt.size()) + ", which leaves no room for a reply; shorten it",
                   promptParameter, "context_length_exceeded");
    }
    if (request.choices() > 128)
        refuse("the request asks for " + std::to_string(request.choices()) + " replies, but at most 128 are allowed",
               "n");
}

}  // namespace axial::llm::server
