#include "axial/llm/server/service.h"

#include <array>
#include <new>

#include "axial/llm/server/api_error.h"
#include "axial/llm/server/json-inl.h"
#include "axial/llm/server/openapi.h"
#include "axial/llm/server/page_routes.h"
#include "axial/llm/server/task.h"
#include "axial/llm/server/text_routes.h"

namespace axial::llm::server {
namespace {

Answer submitted(Task task, const ServedModel& model) {
    task.generation.events = std::make_shared<EventChannel>();
    RunningReply running{task.generation.events, std::move(task.writer)};
    switch (model.loop->submit(std::move(task.generation))) {
        case InferenceLoop::Admission::full:
            throw ApiError(429, "too many requests wait already; try again in a moment", {}, "queue_full");
        case InferenceLoop::Admission::stopping:
            throw ApiError(503, "the server is shutting down", {}, "server_shutting_down");
        case InferenceLoop::Admission::accepted:
            break;
    }
    return running;
}

using Handler = Answer (*)(const HttpRequest&, const ServedModel&);

struct Route {
    std::string_view method, path;
    bool versioned;  // also below /v1
    Handler handler;
    bool needsKey = true;
};

Answer noEmbeddings(const HttpRequest&, const ServedModel&) {
    throw ApiError(501, "this server's models write text; they are not made for embeddings", {}, "not_implemented");
}

const Route routes[] = {
    {"POST", "/chat/completions", true,
     [](const HttpRequest& r, const ServedModel& m) { return submitted(chatTask(r.body, m), m); }},
    {"POST", "/completions", true,
     [](const HttpRequest& r, const ServedModel& m) { return submitted(completionTask(r.body, m), m); }},
    {"POST", "/responses", true,
     [](const HttpRequest& r, const ServedModel& m) { return submitted(responsesTask(r.body, m), m); }},
    {"POST", "/embeddings", true, noEmbeddings},
    {"GET", "/models", true, [](const HttpRequest&, const ServedModel& m) -> Answer { return modelList(m); }},
    {"GET", "/models/", true,
     [](const HttpRequest& r, const ServedModel& m) -> Answer { return modelNamed(r.path, m); }},
    {"POST", "/tokenize", false,
     [](const HttpRequest& r, const ServedModel& m) -> Answer { return tokenized(r.body, m); }},
    {"POST", "/detokenize", false,
     [](const HttpRequest& r, const ServedModel& m) -> Answer { return detokenized(r.body, m); }},
    {"POST", "/apply-template", false,
     [](const HttpRequest& r, const ServedModel& m) -> Answer { return templateApplied(r.body, m); }},
    {"GET", "/health", false,
     [](const HttpRequest&, const ServedModel&) -> Answer { return HttpReply{.body = R"({"status":"ok"})"}; }, false},
    {"GET", "/openapi.json", false,
     [](const HttpRequest&, const ServedModel&) -> Answer { return HttpReply{.body = openApi()}; }},
    {"GET", "/metrics", false, nullptr},
    {"POST", "/attention", false,
     [](const HttpRequest& r, const ServedModel& m) -> Answer { return m.attention->draw(r.body, m); }},
    {"GET", "/attention/", false,
     [](const HttpRequest& r, const ServedModel& m) -> Answer { return m.attention->show(r.path); }, false},
};

std::string_view withoutVersion(std::string_view path) { return path.starts_with("/v1/") ? path.substr(3) : path; }

bool fits(const Route& route, std::string_view path) {
    const std::string_view rest = route.versioned ? withoutVersion(path) : path;
    if (route.path.ends_with('/')) return rest.starts_with(route.path) && rest.size() > route.path.size();
    return rest == route.path;
}

// The route of a request; null where there is none, or none with its method.
const Route* routeOf(const HttpRequest& request, bool anyMethod = false) {
    for (const Route& route : routes)
        if (fits(route, request.path) &&
            (anyMethod || route.method == request.method || (route.method == "GET" && request.method == "HEAD")))
            return &route;
    return nullptr;
}

}  // namespace

void Service::setModel(std::shared_ptr<const ServedModel> model) {
    const std::lock_guard lock(mutex_);
    model_ = std::move(model);
}

std::shared_ptr<const ServedModel> Service::model() const {
    const std::lock_guard lock(mutex_);
    return model_;
}

std::string Service::routeName(const HttpRequest& request) const {
    const Route* route = routeOf(request, true);
    return route ? std::string(route->path) : "other";
}

std::optional<HttpReply> Service::answerHead(const HttpRequest& head) const {
    if (!access_.knowsHost(head.header("host")))
        return ApiError(403, "the Host header names another server; --allowed-host makes this one known by that name")
            .reply();
    if (head.method == "OPTIONS") return access_.preflight(head);
    const std::optional<HttpReply> page = pageFileAt(head.path);
    if (page && (head.method == "GET" || head.method == "HEAD")) return page;
    const Route* other = routeOf(head, true);
    if (!(other && !other->needsKey) && !page && !access_.hasKey(head))
        return ApiError(401, "the API key is missing or wrong; send it as \"Authorization: Bearer KEY\"", {},
                        "invalid_api_key")
            .reply();
    if (routeOf(head)) return std::nullopt;
    if (other || page) {
        const std::string method(other ? other->method : "GET");
        HttpReply reply =
            ApiError(405, "this path is for " + method + " requests only", {}, "method_not_allowed").reply();
        reply.headers.emplace_back("Allow", method + ", OPTIONS");
        return reply;
    }
    return ApiError(404, "there is nothing at this path", {}, "not_found").reply();
}

Answer Service::answer(const HttpRequest& request) {
    try {
        const Route* route = routeOf(request);
        if (!route) return *answerHead(request);
        if (!route->handler)
            return HttpReply{.body = metrics_.text(), .contentType = "text/plain; version=0.0.4; charset=utf-8"};
        const std::shared_ptr<const ServedModel> served = model();
        if (!served && request.path == "/health") return HttpReply{.status = 503, .body = R"({"status":"loading"})"};
        if (!served) throw ApiError(503, "the model is being loaded; try again in a moment", {}, "loading");
        return route->handler(request, *served);
    } catch (const ApiError& error) {
        return error.reply();
    } catch (const std::bad_alloc&) {
        return ApiError(500, "not enough memory for the request").reply();
    } catch (const std::exception& error) {
        return ApiError(500, error.what()).reply();
    }
}

}  // namespace axial::llm::server
