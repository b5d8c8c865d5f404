#include "reply_settings.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "flags.h"
#include "interrupt.h"

namespace axial::cli {
namespace {

llm::LogitBias biasIn(const std::string& text) {
    const std::size_t sign = text.find_first_of("+-", 1);
    if (sign != text.npos) {
        const auto token = wholeIn(std::string_view(text).substr(0, sign));
        const auto bias = numberIn(std::string_view(text).substr(text[sign] == '+' ? sign + 1 : sign));
        if (token && bias && *token >= 0 && *token < (std::int64_t{1} << 31))
            return {static_cast<llm::TokenId>(*token), static_cast<float>(*bias)};
    }
    throw UsageError("--logit-bias: \"" + text + "\" is not a token id and a number, as in 42+1.5 or 42-inf");
}

std::string number(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.4g", value);
    return text;
}

}  // namespace

llm::SamplerSettings samplingIn(const Options& options, const llm::ModelFile& file, bool thinking) {
    llm::SamplerSettings s = file.advisedSampling(thinking);
    s.temperature = options.temperature.value_or(s.temperature);
    s.topK = options.topK.value_or(s.topK);
    s.topP = options.topP.value_or(s.topP);
    s.minP = options.minP.value_or(s.minP);
    s.typicalP = options.typicalP.value_or(s.typicalP);
    s.penalties.repeat = options.repeatPenalty.value_or(s.penalties.repeat);
    s.penalties.window = options.repeatLastN.value_or(s.penalties.window);
    s.penalties.presence = options.presencePenalty.value_or(s.penalties.presence);
    s.penalties.frequency = options.frequencyPenalty.value_or(s.penalties.frequency);
    if (options.temperatureLast) s.order = llm::TemperatureOrder::last;
    if (options.seed >= 0) s.seed = static_cast<std::uint64_t>(options.seed);
    for (const std::string& text : options.logitBias) s.bias.push_back(biasIn(text));
    return s;
}

std::string described(const llm::SamplerSettings& s) {
    const bool greedy = s.temperature <= 0;
    std::string text = greedy ? "greedy"
                              : "temp " + number(s.temperature) + ", top-k " + std::to_string(s.topK) + ", top-p " +
                                    number(s.topP) + ", min-p " + number(s.minP);
    if (!greedy && s.typicalP < 1) text += ", typical " + number(s.typicalP);
    if (s.penalties.active())
        text += ", repeat-penalty " + number(s.penalties.repeat) + ", presence-penalty " +
                number(s.penalties.presence) + ", frequency-penalty " + number(s.penalties.frequency) +
                " over the last " + std::to_string(s.penalties.window);
    if (!s.bias.empty()) text += ", logit-bias on " + std::to_string(s.bias.size());
    if (!greedy && s.order == llm::TemperatureOrder::last) text += ", temperature last";
    return text;
}

llm::ReplyOptions replyOptionsIn(const Options& options, const std::vector<llm::TokenId>& stopTokens) {
    for (const std::string& text : options.stop)
        if (text.empty()) throw UsageError("--stop: the text is empty; it would end every reply at once");
    llm::ReplyOptions reply;
    reply.maxTokens = options.predict;
    reply.stopTokens = stopTokens;
    reply.stopTexts = options.stop;
    reply.batch = static_cast<std::size_t>(std::min(options.batch, options.ubatch));
    reply.cancelled = Interruptible::requested;
    if (options.keepFirst) reply.keepFirst = static_cast<std::size_t>(*options.keepFirst);
    return reply;
}

std::string speeds(const llm::Reply& reply) {
    const auto rate = [](double tokens, double seconds) {
        char text[32];
        std::snprintf(text, sizeof text, "%.1f t/s", seconds > 0 ? tokens / seconds : 0.0);
        return std::string(text);
    };
    std::string text =
        "[ Prompt: " + rate(static_cast<double>(reply.promptTokens - reply.reusedTokens), reply.promptSeconds) +
        " | Generation: " + rate(static_cast<double>(reply.tokens.size()), reply.replySeconds);
    if (reply.draftedTokens > 0)
        text += " | Drafts: " + std::to_string(reply.acceptedTokens) + " of " + std::to_string(reply.draftedTokens) +
                " tokens accepted";
    return text + " ]";
}

std::string endNote(const llm::Reply& reply, std::size_t capacity, std::string_view larger) {
    std::string text;
    if (reply.droppedTokens > 0)
        text = "note: " + std::to_string(reply.droppedTokens) + " tokens in the middle were dropped (--keep-first)\n";
    if (reply.end == llm::ReplyEnd::contextFull)
        text += "note: the context of " + std::to_string(capacity) + " tokens is full; " + std::string(larger) + "\n";
    return text;
}

}  // namespace axial::cli
