#include "axial/llm/server/text_routes.h"

#include "axial/llm/server/chat_prompt-inl.h"
#include "axial/llm/unicode.h"

namespace axial::llm::server {
namespace {

Json modelJson(const ServedModel& model) {
    const Hyperparameters& shape = model.loaded.model->hyperparameters();
    return {{"id", model.id},
            {"object", "model"},
            {"created", model.created},
            {"owned_by", "axial"},
            {"meta",
             {{"architecture", shape.architecture},
              {"vocabulary", shape.vocabulary},
              {"context_trained", shape.contextLength},
              {"context", model.loop->settings().contextSize}}}};
}

}  // namespace

HttpReply modelList(const ServedModel& model) {
    return {.body = dumped({{"object", "list"}, {"data", Json::array({modelJson(model)})}})};
}

HttpReply modelNamed(std::string_view path, const ServedModel& model) {
    if (path.ends_with("/models/" + model.id)) return {.body = dumped(modelJson(model))};
    throw ApiError(404, "there is no model of that name; GET /v1/models lists what there is", "model",
                   "model_not_found");
}

HttpReply tokenized(std::string_view text, const ServedModel& model) {
    const RequestBody body(text, tokenizing);
    const auto content = body.text("content");
    if (!content) refuse("content is missing", "content");
    const Tokenizer& tokenizer = model.tokenizer();
    const bool parse = body.boolean("parse_special").value_or(true);
    std::vector<TokenId> ids = tokenizer.encode(*content, parse ? SpecialTokens::parse : SpecialTokens::asText);
    if (body.boolean("add_special").value_or(false)) ids = tokenizer.withEnds(std::move(ids));
    if (!body.boolean("with_pieces").value_or(false)) return {.body = dumped({{"tokens", ids}})};
    Json list = Json::array();
    for (const TokenId id : ids) {
        const std::string_view bytes = tokenizer.piece(id);
        Json piece = bytes;
        if (!isValidUtf8(bytes)) {  // a part of a character: its bytes as numbers
            piece = Json::array();
            for (const char byte : bytes) piece.push_back(static_cast<unsigned char>(byte));
        }
        list.push_back({{"id", id}, {"piece", std::move(piece)}});
    }
    return {.body = dumped({{"tokens", std::move(list)}})};
}

HttpReply detokenized(std::string_view text, const ServedModel& model) {
    const RequestBody body(text, detokenizing);
    const Json* tokens = body.find("tokens");
    if (!tokens) refuse("tokens is missing", "tokens");
    std::vector<TokenId> ids;
    for (const Json& token : *tokens) {
        if (!token.is_number_integer() || token.get<double>() < 0 || token.get<double>() > 2e9)
            refuse("tokens has something else than token ids", "tokens");
        ids.push_back(token.get<TokenId>());
    }
    try {
        return {.body = dumped({{"content", model.tokenizer().decode(ids)}})};
    } catch (const ValueError& error) {
        refuse(error.what(), "tokens");
    }
}

HttpReply templateApplied(std::string_view text, const ServedModel& model) {
    const RequestBody body(text, applyTemplate);
    const Json* messages = body.find("messages");
    if (!messages) refuse("messages is missing", "messages");
    const ChatPrompt prompt =
        renderChat(model, *messages, readTools(body), readReasoning(body, body.text("reasoning_effort"), model),
                   body.boolean("add_generation_prompt").value_or(true));
    std::string joined;
    for (const TextPart& part : prompt.parts) joined += part.text;
    return {.body = dumped({{"prompt", joined}})};
}

}  // namespace axial::llm::server
