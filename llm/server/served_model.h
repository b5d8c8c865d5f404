// The model that answers, with what is known of it once it is loaded.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "axial/llm/chat_template.h"
#include "axial/llm/load.h"
#include "axial/llm/sampler.h"
#include "axial/llm/server/attention_views.h"
#include "axial/llm/server/inference_loop.h"

namespace axial::llm::server {

struct ServedModel {
    LoadedModel loaded;
    std::string id = {};
    std::int64_t created = 0;  // seconds since 1970: when it was loaded
    std::optional<ChatTemplate> chat = {};
    std::string noChat = {};                       // why there is none
    SamplerSettings thinking = {}, straight = {};  // the advice for replies that think first, and for others
    std::unique_ptr<InferenceLoop> loop = {};
    std::unique_ptr<AttentionViews> attention = std::make_unique<AttentionViews>();

    const Tokenizer& tokenizer() const { return *loaded.tokenizer; }
};

}  // namespace axial::llm::server
