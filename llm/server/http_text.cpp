#include "axial/llm/server/http_text.h"

#include <cstdio>
#include <ctime>

namespace axial::llm::server {
namespace {

std::string_view reasonOf(unsigned status) {
    switch (status) {
        case 200:
            return "OK";
        case 204:
            return "No Content";
        case 400:
            return "Bad Request";
        case 401:
            return "Unauthorized";
        case 403:
            return "Forbidden";
        case 404:
            return "Not Found";
        case 405:
            return "Method Not Allowed";
        case 408:
            return "Request Timeout";
        case 413:
            return "Content Too Large";
        case 429:
            return "Too Many Requests";
        case 431:
            return "Request Header Fields Too Large";
        case 500:
            return "Internal Server Error";
        case 501:
            return "Not Implemented";
        case 503:
            return "Service Unavailable";
    }
    return "Status";
}

// RFC 9110, section 5.6.7.
std::string date() {
    const std::time_t now = std::time(nullptr);
    std::tm utc{};
    gmtime_r(&now, &utc);
    constexpr const char* days[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    constexpr const char* months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                      "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    char text[64];
    std::snprintf(text, sizeof text, "%s, %02d %s %04d %02d:%02d:%02d GMT", days[utc.tm_wday], utc.tm_mday,
                  months[utc.tm_mon], utc.tm_year + 1900, utc.tm_hour, utc.tm_min, utc.tm_sec);
    return text;
}

std::string head(unsigned status, const Headers& some, const Headers& more, const Framing& framing) {
    std::string text = framing.http11 ? "HTTP/1.1 " : "HTTP/1.0 ";
    text.append(std::to_string(status)).append(" ").append(reasonOf(status)).append("\r\n");
    const auto add = [&](std::string_view name, std::string_view value) {
        text.append(name).append(": ").append(value).append("\r\n");
    };
    add("Server", "axial");
    add("Date", date());
    add("X-Content-Type-Options", "nosniff");
    for (const auto& [name, value] : some) add(name, value);
    for (const auto& [name, value] : more) add(name, value);
    add("Connection", framing.keepsOpen ? "keep-alive" : "close");
    return text;
}

}  // namespace

std::string answerText(const HttpReply& reply, const Headers& more, const Framing& framing) {
    std::string text = head(reply.status, reply.headers, more, framing);
    if (!reply.contentType.empty()) text += "Content-Type: " + reply.contentType + "\r\n";
    if (reply.status != 204) text += "Content-Length: " + std::to_string(reply.body.size()) + "\r\n";
    text += "\r\n";
    if (!framing.bodyless) text += reply.body;
    return text;
}

std::string streamHead(const Headers& more, const Framing& framing) {
    return head(200,
                {{"Content-Type", "text/event-stream; charset=utf-8"},
                 {"Cache-Control", "no-cache"},
                 {"X-Accel-Buffering", "no"}},
                more, framing) +
           (framing.http11 ? "Transfer-Encoding: chunked\r\n\r\n" : "\r\n");
}

std::string streamPart(std::string_view bytes, const Framing& framing) {
    if (!framing.http11 || bytes.empty()) return std::string(bytes);
    char size[24];
    std::snprintf(size, sizeof size, "%zx\r\n", bytes.size());
    return size + std::string(bytes) + "\r\n";
}

std::string streamEnd(const Framing& framing) { return framing.http11 ? "0\r\n\r\n" : ""; }

}  // namespace axial::llm::server
