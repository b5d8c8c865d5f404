// Answers as HTTP/1.1 spells them (RFC 9112).
#pragma once
#include <string>
#include <string_view>

#include "axial/llm/server/http_message.h"

namespace axial::llm::server {

struct Framing {
    bool http11 = true;      // else 1.0, which knows no chunks
    bool keepsOpen = false;  // the connection, for another request
    bool bodyless = false;   // the answer to HEAD
};

// A whole answer. `more`: further headers.
std::string answerText(const HttpReply& reply, const Headers& more, const Framing& framing);
// The head of an answer of server-sent events, and a part of its body.
std::string streamHead(const Headers& more, const Framing& framing);
std::string streamPart(std::string_view bytes, const Framing& framing);
std::string streamEnd(const Framing& framing);

}  // namespace axial::llm::server
