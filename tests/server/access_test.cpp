#include "axial/llm/server/access.h"

#include <doctest/doctest.h>

#include <algorithm>

using namespace axial::llm::server;

namespace {

std::string valueOf(const Headers& headers, std::string_view name) {
    for (const auto& [key, value] : headers)
        if (key == name) return value;
    return "";
}

}  // namespace

TEST_CASE("access: keys") {
    const Access open({}), closed({.apiKeys = {"k1", "another"}});
    const auto has = [](const Access& access, const std::string& header) {
        return access.hasKey({"GET", "/v1/models", {{"Authorization", header}}, ""});
    };
    CHECK(open.hasKey({"GET", "/v1/models", {}, ""}));
    CHECK_FALSE(closed.hasKey({"GET", "/v1/models", {}, ""}));
    for (const char* good : {"Bearer k1", "bearer k1", "BEARER another", "Bearer  k1"}) CHECK(has(closed, good));
    for (const char* bad :
         {"Bearer k1x", "Bearer k", "Bearer ", "Bearer", "k1", "Basic k1", "Bearer k1 ", "Bearer anothe"})
        CHECK_FALSE(has(closed, bad));
}

TEST_CASE("access: equality in constant time is equality") {
    CHECK(equalInConstantTime("", ""));
    CHECK(equalInConstantTime("abc", "abc"));
    for (const auto& [a, b] :
         {std::pair{"abc", "abd"}, {"abc", "ab"}, {"ab", "abc"}, {"", "a"}, {"a", ""}, {"abab", "ab"}})
        CHECK_FALSE(equalInConstantTime(a, b));
}

TEST_CASE("access: a page on another name that leads here may not ask") {
    const Access access({.hosts = {"mybox.example"}});
    for (const char* good : {"localhost", "localhost:8080", "LOCALHOST:1", "127.0.0.1:8080", "192.168.1.5",
                             "[::1]:8080", "mybox.example:80", "MyBox.example", "page.localhost:3"})
        CHECK(access.knowsHost(good));
    for (const char* bad : {"evil.example", "evil.example:8080", "localhost.evil.example", "127.0.0.1.evil.example",
                            "xlocalhost", "", "mybox.example.evil"})
        CHECK_FALSE(access.knowsHost(bad));
}

TEST_CASE("access: CORS is off, or a list, and never reflects a stranger") {
    const auto asked = [](const std::string& origin) {
        return HttpRequest{"OPTIONS",
                           "/v1/chat/completions",
                           {{"origin", origin}, {"Access-Control-Request-Headers", "authorization,x-stainless-os"}},
                           ""};
    };
    const std::string page = "http://localhost:5173";
    CHECK(Access({}).corsHeaders(asked(page)).empty());
    const Access list({.origins = {page}}), all({.origins = {"*"}});
    CHECK(valueOf(list.corsHeaders(asked(page)), "Access-Control-Allow-Origin") == page);
    CHECK(valueOf(list.corsHeaders(asked("http://evil.example")), "Access-Control-Allow-Origin").empty());
    CHECK(valueOf(list.corsHeaders(asked("http://evil.example")), "Vary") == "Origin");
    CHECK(valueOf(all.corsHeaders(asked("http://evil.example")), "Access-Control-Allow-Origin") == "*");
    CHECK(valueOf(all.corsHeaders(asked(page)), "Access-Control-Allow-Credentials").empty());

    const HttpReply reply = list.preflight(asked(page));
    CHECK(reply.status == 204);
    CHECK(valueOf(reply.headers, "Access-Control-Allow-Headers") ==
          "authorization, content-type, authorization,x-stainless-os");
    CHECK(valueOf(reply.headers, "Access-Control-Allow-Methods").find("POST") != std::string::npos);
    CHECK(valueOf(list.preflight(asked("http://evil.example")).headers, "Access-Control-Allow-Methods").empty());
}
