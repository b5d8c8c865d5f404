#include "axial/llm/server/access.h"

#include <algorithm>

namespace axial::llm::server {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }
bool sameName(std::string_view a, std::string_view b) { return std::ranges::equal(a, b, {}, lower, lower); }

// Without the port.
std::string_view nameOf(std::string_view host) {
    if (host.starts_with('[')) return host.substr(0, host.find(']') + 1);
    return host.substr(0, host.rfind(':'));
}

bool isAddress(std::string_view name) {
    if (name.starts_with('[') && name.ends_with(']')) return true;
    return !name.empty() && name.find_first_not_of("0123456789.") == name.npos;
}

}  // namespace

bool equalInConstantTime(std::string_view given, std::string_view secret) {
    unsigned different = given.size() != secret.size();
    for (std::size_t i = 0; i < given.size(); ++i) {
        const char other = secret.empty() ? '\0' : secret[i % secret.size()];
        different |= static_cast<unsigned char>(given[i]) ^ static_cast<unsigned char>(other);
    }
    return different == 0;
}

bool Access::knowsHost(std::string_view host) const {
    const std::string_view name = nameOf(host);
    if (isAddress(name) || sameName(name, "localhost") ||
        (name.size() > 10 && sameName(name.substr(name.size() - 10), ".localhost")))
        return true;
    return std::ranges::any_of(settings_.hosts,
                               [&](const std::string& known) { return sameName(known, name) || known == "*"; });
}

bool Access::hasKey(const HttpRequest& request) const {
    if (settings_.apiKeys.empty()) return true;
    const std::string_view header = request.header("authorization");
    constexpr std::string_view scheme = "bearer ";
    if (header.size() <= scheme.size() || !sameName(header.substr(0, scheme.size()), scheme)) return false;
    std::string_view given = header.substr(scheme.size());
    given.remove_prefix(std::min(given.find_first_not_of(' '), given.size()));
    bool known = false;  // all are compared, so that the time does not say which one it was
    for (const std::string& key : settings_.apiKeys) known |= equalInConstantTime(given, key);
    return known;
}

Headers Access::corsHeaders(const HttpRequest& request) const {
    const std::string& origin = request.header("origin");
    if (origin.empty() || settings_.origins.empty()) return {};
    // Without credentials: a key is sent by the page's own code, not by the browser.
    const bool all = std::ranges::find(settings_.origins, "*") != settings_.origins.end();
    if (all) return {{"Access-Control-Allow-Origin", "*"}};
    Headers headers{{"Vary", "Origin"}};
    if (std::ranges::find(settings_.origins, origin) != settings_.origins.end())
        headers.emplace_back("Access-Control-Allow-Origin", origin);
    return headers;
}

HttpReply Access::preflight(const HttpRequest& request) const {
    HttpReply reply{.status = 204, .contentType = "", .headers = corsHeaders(request)};
    if (reply.headers.empty() || reply.headers.back().first == "Vary") return reply;
    reply.headers.emplace_back("Access-Control-Allow-Methods", "GET, POST, OPTIONS");
    // OpenAI's clients tell about themselves in headers of this kind.
    std::string allowed = "authorization, content-type";
    const std::string& wanted = request.header("access-control-request-headers");
    const bool plain =
        wanted.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-, ") == wanted.npos;
    if (!wanted.empty() && plain && wanted.size() < 1000) allowed += ", " + wanted;
    reply.headers.emplace_back("Access-Control-Allow-Headers", allowed);
    reply.headers.emplace_back("Access-Control-Max-Age", "600");
    return reply;
}

}  // namespace axial::llm::server
