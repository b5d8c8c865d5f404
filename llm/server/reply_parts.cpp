#include <algorithm>
#include <chrono>
#include <cmath>

#include "axial/llm/sampler_random.h"
#include "axial/llm/server/reply_parts-inl.h"
#include "axial/llm/unicode.h"

namespace axial::llm::server {

std::string newId(std::string_view prefix) {
    constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    std::string id(prefix);
    for (int half = 0; half < 2; ++half) {
        std::uint64_t random = freshSeed();
        for (int i = 0; i < 12; ++i, random /= letters.size()) id += letters[random % letters.size()];
    }
    return id;
}

std::int64_t secondsSince1970() {
    return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch())
        .count();
}

std::string fingerprint() { return "axial-" AXIAL_VERSION; }

std::string eventOf(const Json& data, std::string_view name) {
    std::string event;
    if (!name.empty()) event.append("event: ").append(name).append("\n");
    return event.append("data: ").append(dumped(data)).append("\n\n");
}

const char* finishReason(ReplyEnd end) {
    return end == ReplyEnd::stopToken || end == ReplyEnd::stopText ? "stop" : "length";
}

void Totals::add(const ChoiceEnd& end, std::size_t thoughtTokens) {
    if (end.choice % choicesEach_ == 0) {
        prompt += end.promptTokens;
        cached += end.reusedTokens;
    }
    reply += end.replyTokens;
    thoughts += thoughtTokens;
}

Json Totals::usage() const {
    return {{"prompt_tokens", prompt},
            {"completion_tokens", reply},
            {"total_tokens", prompt + reply},
            {"prompt_tokens_details", {{"cached_tokens", cached}}},
            {"completion_tokens_details", {{"reasoning_tokens", thoughts}}}};
}

namespace {

double rounded(double value) { return std::round(value * 1000) / 1000; }
double rate(std::size_t tokens, double seconds) {
    return seconds > 0 ? rounded(static_cast<double>(tokens) / seconds) : 0.0;
}

}  // namespace

Json timingsOf(const ChoiceEnd& end) {
    const std::size_t read = end.promptTokens - end.reusedTokens;
    return {{"cache_n", end.reusedTokens},
            {"prompt_n", read},
            {"prompt_ms", rounded(end.promptSeconds * 1000)},
            {"prompt_per_second", rate(read, end.promptSeconds)},
            {"predicted_n", end.replyTokens},
            {"predicted_ms", rounded(end.replySeconds * 1000)},
            {"predicted_per_second", rate(end.replyTokens, end.replySeconds)},
            {"queue_ms", rounded(end.queueSeconds * 1000)}};
}

Json timingsOf(const Piece& piece) {
    return {{"predicted_n", piece.tokens},
            {"predicted_ms", rounded(piece.seconds * 1000)},
            {"predicted_per_second", rate(piece.tokens, piece.seconds)}};
}

double finite(double logprob) { return std::max(logprob, -9999.0); }

std::string tokenText(TokenId token, const Tokenizer& tokenizer) { return replaceInvalidUtf8(tokenizer.piece(token)); }

namespace {

Json oneLogprob(const Logprob& one, const Tokenizer& tokenizer) {
    Json bytes = Json::array();
    for (const char byte : tokenizer.piece(one.token)) bytes.push_back(static_cast<unsigned char>(byte));
    return {{"token", tokenText(one.token, tokenizer)}, {"logprob", finite(one.logprob)}, {"bytes", std::move(bytes)}};
}

}  // namespace

Json logprobsOf(const std::vector<TokenLogprob>& tokens, const Tokenizer& tokenizer) {
    Json list = Json::array();
    for (const TokenLogprob& token : tokens) {
        Json entry = oneLogprob(token.chosen, tokenizer);
        Json top = Json::array();
        for (const Logprob& other : token.top) top.push_back(oneLogprob(other, tokenizer));
        entry["top_logprobs"] = std::move(top);
        list.push_back(std::move(entry));
    }
    return list;
}

}  // namespace axial::llm::server
