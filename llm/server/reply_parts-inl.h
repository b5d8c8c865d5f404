// What answers of several endpoints have in common. For .cpp files.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "axial/llm/server/event_channel.h"
#include "axial/llm/server/json-inl.h"
#include "axial/llm/tokenizer.h"

namespace axial::llm::server {

// A prefix and 24 random letters and digits.
std::string newId(std::string_view prefix);
std::int64_t secondsSince1970();
// Which version answers.
std::string fingerprint();

// A server-sent event (WHATWG HTML, section 9.2), with a name or without.
std::string eventOf(const Json& data, std::string_view name = {});
inline constexpr std::string_view doneEvent = "data: [DONE]\n\n";

const char* finishReason(ReplyEnd end);

// The numbers of tokens of an answer with several choices; a prompt counts once.
class Totals {
  public:
    explicit Totals(std::size_t choicesEach) : choicesEach_(choicesEach) {}
    void add(const ChoiceEnd& end, std::size_t thoughts = 0);
    // As chat completions tell them.
    Json usage() const;
    std::size_t prompt = 0, cached = 0, reply = 0, thoughts = 0;

  private:
    std::size_t choicesEach_;
};

// How long a choice took, with llama.cpp's names.
Json timingsOf(const ChoiceEnd& end);
// The same so far.
Json timingsOf(const Piece& piece);

// The logprobs of tokens: [{"token", "logprob", "bytes", "top_logprobs"}].
Json logprobsOf(const std::vector<TokenLogprob>& tokens, const Tokenizer& tokenizer);
// A token's bytes as text; what is no UTF-8 becomes U+FFFD.
std::string tokenText(TokenId token, const Tokenizer& tokenizer);
// -9999 for none at all, since JSON has no infinity.
double finite(double logprob);

}  // namespace axial::llm::server
