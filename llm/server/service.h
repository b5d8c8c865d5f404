// All endpoints: from a request to its answer, whatever brings the one and carries the other.
#pragma once
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>

#include "axial/llm/server/access.h"
#include "axial/llm/server/http_message.h"
#include "axial/llm/server/metrics.h"
#include "axial/llm/server/served_model.h"

namespace axial::llm::server {

// Any number of threads may use one.
class Service {
  public:
    explicit Service(AccessSettings access) : access_(std::move(access)) {}

    Metrics& metrics() { return metrics_; }
    // The model is loaded; what needs one gets 503 until then.
    void setModel(std::shared_ptr<const ServedModel> model);
    std::shared_ptr<const ServedModel> model() const;

    // What can be answered without the body: a request from or for somewhere else, without a key, for a path or a
    // method that there is not.
    std::optional<HttpReply> answerHead(const HttpRequest& head) const;
    // The answer. It may take a moment to find (long texts to cut into tokens), but not the time to generate one. What
    // goes wrong is an answer too.
    Answer answer(const HttpRequest& request);
    // What every answer to this request has besides its own headers.
    Headers headersFor(const HttpRequest& request) const { return access_.corsHeaders(request); }
    // The path's name in the metrics: one of a few.
    std::string routeName(const HttpRequest& request) const;

  private:
    Access access_;
    Metrics metrics_;
    mutable std::mutex mutex_;
    std::shared_ptr<const ServedModel> model_;
};

}  // namespace axial::llm::server
