// The one table of what requests may say: it checks them, and the API's own description is made from it.
#pragma once
#include <limits>
#include <span>
#include <string_view>

namespace axial::llm::server {

// Endpoints whose requests have a body; a sum of these says where a parameter belongs.
enum Endpoint : unsigned {
    chatCompletions = 1,
    completions = 2,
    responses = 4,
    tokenizing = 8,
    detokenizing = 16,
    applyTemplate = 32,
    embeddings = 64,
    attentionView = 128,
};

enum class Use {
    honoured,
    ignored,  // changes nothing about the answer
    refused,  // would change the answer, and cannot be done: a request that has it, and no neutral value, is an error
};
enum class Kind { boolean, integer, number, text, list, object, any };

struct Parameter {
    unsigned endpoints;
    std::string_view name;
    Use use;
    Kind kind;
    std::string_view help;
    double least = -std::numeric_limits<double>::infinity(), most = std::numeric_limits<double>::infinity();
    std::string_view neutral = {};  // of refused ones: JSON values that change nothing, with | between them
    std::string_view schema = {};   // of kinds any, list and object: a JSON schema
};

std::span<const Parameter> allParameters();

}  // namespace axial::llm::server
