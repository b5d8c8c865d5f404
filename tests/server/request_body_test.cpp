#include "axial/llm/server/request_body-inl.h"

#include <doctest/doctest.h>

#include <set>

using namespace axial::llm::server;

namespace {

// The parameter that is blamed, or what the error is.
std::string faultOf(const std::string& text, Endpoint endpoint = chatCompletions) {
    try {
        const RequestBody body(text, endpoint);
        return "";
    } catch (const ApiError& error) {
        CHECK(error.status() == 400);
        const Json json = Json::parse(error.json());
        return json["error"]["param"].is_null() ? "json" : json["error"]["param"].get<std::string>();
    }
}

}  // namespace

TEST_CASE("request body: what is honoured is of its kind and in its range") {
    for (const char* good :
         {"{}", R"({"temperature": 0})", R"({"temperature": 2})", R"({"n": 128})", R"({"n": 1.0})", R"({"seed": -5})",
          R"({"seed": 18446744073709551615})", R"({"top_k": -1})", R"({"stream": null, "tools": null, "stop": null})"})
        CHECK(faultOf(good) == "");
    const std::pair<const char*, const char*> bad[] = {{"temperature", R"("hot")"},
                                                       {"temperature", "2.1"},
                                                       {"temperature", "-0.1"},
                                                       {"max_tokens", R"("ten")"},
                                                       {"max_tokens", "-1"},
                                                       {"max_tokens", "1.5"},
                                                       {"n", "0"},
                                                       {"n", "-1"},
                                                       {"n", "1000000"},
                                                       {"stream", "1"},
                                                       {"top_logprobs", "21"},
                                                       {"messages", R"("Hi")"},
                                                       {"logit_bias", "[]"},
                                                       {"tools", "{}"},
                                                       {"top_p", "1.01"},
                                                       {"presence_penalty", "true"}};
    for (const auto& [name, value] : bad) CHECK(faultOf("{\"" + std::string(name) + "\": " + value + "}") == name);
}

TEST_CASE("request body: what would change the answer and cannot be done is refused, with neutral values allowed") {
    CHECK(faultOf(R"({"functions": []})") == "functions");
    CHECK(faultOf(R"({"modalities": ["text", "audio"]})") == "modalities");
    CHECK(faultOf(R"({"modalities": ["text"]})") == "");
    CHECK(faultOf(R"({"typical_p": 0.9})") == "typical_p");
    CHECK(faultOf(R"({"typical_p": 1, "mirostat": 0, "min_tokens": 0, "repetition_penalty": 1.0})") == "");
    CHECK(faultOf(R"({"best_of": 3})", completions) == "best_of");
    CHECK(faultOf(R"({"best_of": 1, "suffix": ""})", completions) == "");
    CHECK(faultOf(R"({"user": "x", "metadata": {"a": "b"}, "store": true, "service_tier": "auto"})") == "");
    CHECK(faultOf(R"({"unknown_field": 1})") == "");
}

TEST_CASE("request body: a name that is almost one of ours is a mistake") {
    CHECK(faultOf(R"({"temprature": 1})") == "temprature");
    CHECK(faultOf(R"({"max_token": 1})") == "max_token");
    CHECK(faultOf(R"({"top_ps": 1})") == "top_ps");
    CHECK(faultOf(R"({"steram": true})") == "steram");
    CHECK(faultOf(R"({"tool": 1})") == "tool");
}

TEST_CASE("request body: JSON that is none, too deep or too much") {
    for (const char* bad :
         {"", "[]", "1", "{", "{\"a\": }", "{\"a\": \"\xe9\"}", "{\"a\": \"\\ud800\"}", "{\"a\": 1e999}"})
        CHECK(faultOf(bad) == "json");
    CHECK(faultOf(std::string(100000, '[')) == "json");
    CHECK(faultOf("{\"a\": " + std::string(101, '[') + std::string(101, ']') + "}") == "json");
    CHECK(faultOf("{\"a\": " + std::string(90, '[') + std::string(90, ']') + "}") == "");
    std::string many = "{\"a\": [0";
    for (int i = 0; i < 1000000; ++i) many += ",0";
    CHECK(faultOf(many + "]}") == "json");
    CHECK(faultOf("\xef\xbb\xbf{}") == "");
}

TEST_CASE("request body: the table says each name once for an endpoint, and its schemas are JSON") {
    for (unsigned endpoint = 1; endpoint <= embeddings; endpoint *= 2) {
        std::set<std::string_view> names;
        for (const Parameter& parameter : allParameters())
            if (parameter.endpoints & endpoint) {
                CHECK_MESSAGE(names.insert(parameter.name).second, parameter.name);
                if (!parameter.schema.empty()) CHECK_MESSAGE(Json::accept(parameter.schema), parameter.name);
            }
        CHECK_FALSE(names.empty());
    }
}
