#include "axial/llm/server/openapi.h"

#include <cmath>

#include "axial/llm/server/json-inl.h"
#include "axial/llm/server/parameters.h"

namespace axial::llm::server {
namespace {

struct Operation {
    std::string_view method, path, summary;
    Endpoint endpoint = {};          // of those with a body
    std::string_view required = {};  // parameter
    bool streams = false;
    std::string_view answer = "application/json";
};

// Without /v1/embeddings, which is not implemented.
constexpr Operation operations[] = {
    {"post", "/v1/chat/completions", "a conversation to its answer", chatCompletions, "messages", true},
    {"post", "/v1/completions", "a text to what follows", completions, "prompt", true},
    {"post", "/v1/responses", "input items to output items", responses, "input", true},
    {"post", "/tokenize", "a text to its tokens", tokenizing, "content"},
    {"post", "/detokenize", "tokens to their text", detokenizing, "tokens"},
    {"post", "/apply-template", "a conversation to the text that the model continues", applyTemplate, "messages"},
    {"post", "/attention", "a conversation to the address of a page that shows where its tokens look", attentionView,
     "messages"},
    {"get", "/v1/models", "the models that there are"},
    {"get", "/health", "whether the model is loaded"},
    {"get", "/metrics", "counters and histograms for Prometheus", {}, {}, false, "text/plain"},
    {"get", "/openapi.json", "this description"},
};

const char* typeOf(Kind kind) {
    switch (kind) {
        case Kind::boolean:
            return "boolean";
        case Kind::integer:
            return "integer";
        case Kind::number:
            return "number";
        case Kind::text:
            return "string";
        case Kind::list:
            return "array";
        case Kind::object:
            return "object";
        case Kind::any:
            break;
    }
    return "";
}

Json boundOf(double value) {
    return std::floor(value) == value && std::abs(value) < 1e18 ? Json(static_cast<std::int64_t>(value)) : Json(value);
}

Json schemaOf(const Parameter& parameter) {
    Json schema = Json::object();
    if (!parameter.schema.empty())
        schema = Json::parse(parameter.schema);
    else if (const std::string type = typeOf(parameter.kind); !type.empty())
        schema["type"] = type;
    if (parameter.kind == Kind::integer || parameter.kind == Kind::number) {
        if (std::isfinite(parameter.least)) schema["minimum"] = boundOf(parameter.least);
        if (std::isfinite(parameter.most)) schema["maximum"] = boundOf(parameter.most);
    }
    if (parameter.use == Use::ignored) schema = Json::object();
    if (!schema.empty()) schema = {{"anyOf", Json::array({std::move(schema), {{"type", "null"}}})}};
    schema["description"] = parameter.help;
    return schema;
}

Json bodyOf(const Operation& operation) {
    Json properties = Json::object();
    for (const Parameter& parameter : allParameters())
        if (parameter.endpoints & operation.endpoint && parameter.use != Use::refused)
            properties[std::string(parameter.name)] = schemaOf(parameter);
    const std::string required(operation.required);
    // What is required cannot be null.
    if (Json& schema = properties[required]; schema.contains("anyOf")) schema.update(Json(schema["anyOf"][0]));
    Json schema{{"type", "object"}, {"required", {required}}, {"properties", std::move(properties)}};
    return {{"required", true}, {"content", {{"application/json", {{"schema", std::move(schema)}}}}}};
}

Json operationJson(const Operation& operation) {
    Json content{{std::string(operation.answer), Json::object()}};
    if (operation.streams) content["text/event-stream"] = Json::object();
    const Json error{{"$ref", "#/components/schemas/Error"}};
    Json json{{"summary", operation.summary},
              {"responses",
               {{"200", {{"description", "done"}, {"content", std::move(content)}}},
                {"default",
                 {{"description", "what went wrong"}, {"content", {{"application/json", {{"schema", error}}}}}}}}}};
    if (operation.endpoint) json["requestBody"] = bodyOf(operation);
    return json;
}

}  // namespace

std::string openApi() {
    Json paths = Json::object();
    for (const Operation& operation : operations)
        paths[std::string(operation.path)][std::string(operation.method)] = operationJson(operation);
    const Json text{{"type", "string"}}, textOrNull{{"type", {"string", "null"}}};
    const Json error{{"type", "object"},
                     {"required", {"message", "type", "param", "code"}},
                     {"properties", {{"message", text}, {"type", text}, {"param", textOrNull}, {"code", textOrNull}}}};
    return dumped(
        {{"openapi", "3.1.0"},
         {"info", {{"title", "axial serve"}, {"version", AXIAL_VERSION}}},
         {"security", Json::array({Json::object(), {{"key", Json::array()}}})},
         {"paths", std::move(paths)},
         {"components",
          {{"securitySchemes", {{"key", {{"type", "http"}, {"scheme", "bearer"}}}}},
           {"schemas",
            {{"Error", {{"type", "object"}, {"required", {"error"}}, {"properties", {{"error", error}}}}}}}}}});
}

}  // namespace axial::llm::server
