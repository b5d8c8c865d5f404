// Who may ask.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "axial/llm/server/http_message.h"

namespace axial::llm::server {

struct AccessSettings {
    std::vector<std::string> apiKeys = {};  // none: no key is asked for
    std::vector<std::string> origins = {};  // web pages of these origins may ask; none: none but the server's own
    std::vector<std::string> hosts = {};    // besides localhost, addresses, and the name that the server listens on
};

// Whether two texts are equal, in a time that depends on the length of `given` alone.
bool equalInConstantTime(std::string_view given, std::string_view secret);

class Access {
  public:
    explicit Access(AccessSettings settings) : settings_(std::move(settings)) {}

    // Whether a Host header names this server: a page on another name that resolves to this machine (DNS rebinding) may
    // not ask. Numeric addresses always do, since no such page can have one.
    bool knowsHost(std::string_view host) const;
    // Whether the request has one of the keys, as "Authorization: Bearer KEY", or none is asked for.
    bool hasKey(const HttpRequest& request) const;
    // What lets the page's browser see the answer: nothing for a page that may not, or without an Origin.
    Headers corsHeaders(const HttpRequest& request) const;
    // The answer to a browser's question whether a page may ask.
    HttpReply preflight(const HttpRequest& request) const;

  private:
    AccessSettings settings_;
};

}  // namespace axial::llm::server
