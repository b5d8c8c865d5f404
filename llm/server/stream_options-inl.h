// stream and stream_options. For .cpp files.
#pragma once
#include "axial/llm/server/request_body-inl.h"

namespace axial::llm::server {

struct StreamOptions {
    bool streams = false, includesUsage = false;
};

// ApiError 400: stream_options without a stream, as the API has it.
inline StreamOptions readStreamOptions(const RequestBody& body) {
    StreamOptions options{body.boolean("stream").value_or(false)};
    const Json* given = body.find("stream_options");
    if (!given) return options;
    const std::string name = "stream_options";
    if (!options.streams) refuse("stream_options is only allowed when stream is true", name);
    const auto usage = given->find("include_usage");
    if (usage == given->end() || usage->is_null()) return options;
    if (!usage->is_boolean()) refuse("stream_options.include_usage must be true or false", name + ".include_usage");
    options.includesUsage = usage->get<bool>();
    return options;
}

}  // namespace axial::llm::server
