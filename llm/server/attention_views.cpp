#include "axial/llm/server/attention_views.h"

#include "axial/llm/attention_maps.h"
#include "axial/llm/attention_page.h"
#include "axial/llm/server/chat_prompt-inl.h"
#include "axial/llm/server/page_routes.h"
#include "axial/llm/server/reply_parts-inl.h"
#include "axial/ops/activations.h"
#include "axial/tensor/parallel.h"

namespace axial::llm::server {

HttpReply AttentionViews::draw(std::string_view text, const ServedModel& model) {
    const RequestBody body(text, attentionView);
    const Json* messages = body.find("messages");
    if (!messages) refuse("messages is missing", "messages");
    const ChatPrompt prompt =
        renderChat(model, *messages, readTools(body), readReasoning(body, body.text("reasoning_effort"), model), false);
    const std::vector<TokenId> tokens = model.tokenizer().encode(prompt.parts);

    const std::unique_lock alone(drawing_, std::try_to_lock);
    if (!alone) throw ApiError(429, "attention of another conversation is being drawn; try again in a moment");
    const LoopSettings& settings = model.loop->settings();
    std::string page;
    try {
        ThreadTeam team(settings.threads);
        const UseTeam threads(team);
        const UseActivations arithmetic(settings.activations);
        const Model& forward = *model.loaded.model;
        const AttentionMaps maps = attentionOf(forward, forward.hyperparameters(), tokens, settings.cacheFormats);
        page = attentionPage(maps, model.tokenizer(), tokens, model.id);
    } catch (const ValueError& error) {
        refuse(error.what(), "messages", "context_length_exceeded");
    }

    const std::string path = "/attention/" + newId("");
    const std::lock_guard lock(mutex_);
    pages_.emplace_back(path, std::move(page));
    if (pages_.size() > most) pages_.pop_front();
    return {.body = dumped({{"url", path}, {"tokens", tokens.size()}})};
}

HttpReply AttentionViews::show(std::string_view path) const {
    const std::lock_guard lock(mutex_);
    for (const auto& [known, page] : pages_)
        if (known == path)
            return {
                .body = page, .contentType = "text/html; charset=utf-8", .headers = pageHeaders(attentionPagePolicy())};
    throw ApiError(404, "this view of attention is not kept any more; draw it again");
}

}  // namespace axial::llm::server
