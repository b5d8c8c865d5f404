// A request and its answer, without the network.
#pragma once
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace axial::llm::server {

class ReplyWriter;
class EventChannel;

using Headers = std::vector<std::pair<std::string, std::string>>;

struct HttpRequest {
    std::string method, path;  // the path without a query, as it was sent
    Headers headers;
    std::string body;

    // The first header with this name, whose case does not matter; empty if there is none.
    const std::string& header(std::string_view name) const;
};

struct HttpReply {
    unsigned status = 200;
    std::string body = {};
    std::string contentType = "application/json";
    Headers headers = {};
};

// An answer that is still being generated: its events are for the writer, who makes bytes of them.
struct RunningReply {
    std::shared_ptr<EventChannel> events;
    std::shared_ptr<ReplyWriter> writer;
};

using Answer = std::variant<HttpReply, RunningReply>;

}  // namespace axial::llm::server
