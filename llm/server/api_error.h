// Errors as the OpenAI API tells them.
#pragma once
#include <optional>
#include <string>

#include "axial/llm/server/event_channel.h"
#include "axial/llm/server/http_message.h"
#include "axial/tensor/error.h"

namespace axial::llm::server {

// {"error": {"message", "type", "param", "code"}}. The type follows from the status.
class ApiError : public Error {
  public:
    // param: the parameter that is to blame; code: a word for programs. Empty ones are null.
    ApiError(unsigned status, const std::string& message, std::string param = {}, std::string code = {})
        : Error(message), status_(status), param_(std::move(param)), code_(std::move(code)) {}

    unsigned status() const { return status_; }
    std::string json() const;
    HttpReply reply() const;

  private:
    unsigned status_;
    std::string param_, code_;
};

// What a generation's failure is to a client.
ApiError apiErrorOf(const Failure& failure);

}  // namespace axial::llm::server
