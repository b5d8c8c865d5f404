// What becomes of events on their way to a client.
#pragma once
#include <string>

#include "axial/llm/server/event_channel.h"
#include "axial/llm/server/http_message.h"

namespace axial::llm::server {

// One answer in the making, in the form of one endpoint.
class ReplyWriter {
  public:
    virtual ~ReplyWriter() = default;

    // Whether bytes are sent as they come (server-sent events), or one reply in the end.
    virtual bool streams() const = 0;
    // The bytes that an event adds to the stream; none, and nothing but remembered, without a stream. A Failure is not
    // given to it.
    virtual std::string take(Event event) = 0;
    // What a stream ends with when all is there, and what it ends with when something went wrong.
    virtual std::string end() = 0;
    virtual std::string end(const Failure& failure) = 0;
    // The reply, without a stream.
    virtual HttpReply reply() = 0;
};

}  // namespace axial::llm::server
