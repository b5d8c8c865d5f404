#include "axial/llm/server/chat_reply.h"

#include "axial/llm/server/api_error.h"
#include "axial/llm/server/growing_reply.h"
#include "axial/llm/server/reply_parts-inl.h"

namespace axial::llm::server {
namespace {

class ChatWriter final : public ReplyWriter {
  public:
    explicit ChatWriter(ChatForm form) : form_(std::move(form)) {
        for (std::size_t i = 0; i < form_.choices; ++i) choices_.emplace_back(form_);
    }

    bool streams() const override { return form_.streams; }

    std::string take(Event event) override {
        if (const auto* piece = std::get_if<Piece>(&event)) return takePiece(*piece);
        if (const auto* end = std::get_if<ChoiceEnd>(&event)) return takeEnd(*end);
        return {};
    }

    std::string end() override {
        std::string bytes;
        if (form_.includesUsage) {
            Json chunk = chunkOf(Json::array());
            chunk["usage"] = totals_.usage();
            bytes = eventOf(chunk);
        }
        return bytes.append(doneEvent);
    }

    std::string end(const Failure& failure) override {
        return "data: " + apiErrorOf(failure).json() + "\n\n" + std::string(doneEvent);
    }

    HttpReply reply() override {
        Json list = Json::array();
        for (std::size_t i = 0; i < choices_.size(); ++i) list.push_back(choiceJson(i));
        Json json{{"id", form_.id},          {"object", "chat.completion"},         {"created", form_.created},
                  {"model", form_.model},    {"system_fingerprint", fingerprint()}, {"choices", std::move(list)},
                  {"usage", totals_.usage()}};
        json["timings"] = timingsOf(choices_.front().end);
        return {.body = dumped(json)};
    }

  private:
    struct Choice {
        explicit Choice(const ChatForm& form) : growing(form.thoughtsOpened, form.toolForm) {}
        GrowingReply growing;
        bool begun = false;
        Json timings;  // so far
        ChoiceEnd end;
        std::vector<std::string> callIds;
        // Without a stream, all that came.
        std::string thoughts, content;
        std::vector<ToolCall> calls;
        std::vector<TokenLogprob> logprobs;
    };

    Json chunkOf(Json list) const {
        Json chunk{{"id", form_.id},       {"object", "chat.completion.chunk"},   {"created", form_.created},
                   {"model", form_.model}, {"system_fingerprint", fingerprint()}, {"choices", std::move(list)}};
        if (form_.includesUsage) chunk["usage"] = nullptr;
        return chunk;
    }

    Json chunkOf(std::size_t choice, Json delta, Json logprobs = nullptr, Json finish = nullptr) const {
        return chunkOf(Json::array({{{"index", choice},
                                     {"delta", std::move(delta)},
                                     {"logprobs", std::move(logprobs)},
                                     {"finish_reason", std::move(finish)}}}));
    }

    // The chunk with the role comes before any other of the choice.
    std::string begin(std::size_t index) {
        if (std::exchange(choices_[index].begun, true)) return {};
        return eventOf(chunkOf(index, {{"role", "assistant"}, {"content", ""}}));
    }

    std::string takePiece(const Piece& piece) {
        Choice& choice = choices_[piece.choice];
        if (form_.timings) choice.timings = timingsOf(piece);
        return grow(piece.choice, choice.growing.take(piece));
    }

    std::string takeEnd(const ChoiceEnd& end) {
        Choice& choice = choices_[end.choice];
        choice.end = end;
        std::string bytes = grow(end.choice, choice.growing.end(end));
        totals_.add(end, choice.growing.thoughtTokens());
        if (!form_.streams) return {};
        Json chunk = chunkOf(end.choice, Json::object(), nullptr, finishOf(choice));
        chunk["timings"] = timingsOf(end);
        return bytes + begin(end.choice) + eventOf(chunk);
    }

    std::string grow(std::size_t index, GrowingReply::Growth growth) {
        if (growth.thoughts.empty() && growth.content.empty() && growth.calls.empty()) return {};
        Choice& choice = choices_[index];
        const std::size_t before = choice.callIds.size();
        for (std::size_t i = 0; i < growth.calls.size(); ++i) choice.callIds.push_back(newId("call_"));
        if (!form_.streams) {
            choice.thoughts += growth.thoughts;
            choice.content += growth.content;
            choice.calls.insert(choice.calls.end(), growth.calls.begin(), growth.calls.end());
            choice.logprobs.insert(choice.logprobs.end(), growth.logprobs.begin(), growth.logprobs.end());
            return {};
        }
        std::string bytes = begin(index);
        const auto tell = [&](Json delta, Json logprobs = nullptr) {
            Json chunk = chunkOf(index, std::move(delta), std::move(logprobs));
            if (form_.timings) chunk["timings"] = choice.timings;
            bytes += eventOf(chunk);
        };
        if (!growth.thoughts.empty()) tell({{"reasoning_content", growth.thoughts}});
        if (!growth.content.empty()) {
            Json logprobs = nullptr;
            if (form_.logprobs)
                logprobs = {{"content", logprobsOf(growth.logprobs, *form_.tokenizer)}, {"refusal", nullptr}};
            tell({{"content", growth.content}}, std::move(logprobs));
        }
        for (std::size_t i = 0; i < growth.calls.size(); ++i) {
            Json call{{"index", before + i}};
            call.update(callJson(growth.calls[i], choice.callIds[before + i]));
            tell({{"tool_calls", Json::array({std::move(call)})}});
        }
        return bytes;
    }

    static Json callJson(const ToolCall& call, const std::string& id) {
        return {{"id", id}, {"type", "function"}, {"function", {{"name", call.name}, {"arguments", call.arguments}}}};
    }

    static const char* finishOf(const Choice& choice) {
        const char* reason = finishReason(choice.end.end);
        return choice.callIds.empty() || std::string_view(reason) != "stop" ? reason : "tool_calls";
    }

    Json choiceJson(std::size_t index) const {
        const Choice& choice = choices_[index];
        Json message{{"role", "assistant"}, {"content", choice.content}};
        if (choice.content.empty() && !choice.calls.empty()) message["content"] = nullptr;
        message["refusal"] = nullptr;
        if (!choice.thoughts.empty()) message["reasoning_content"] = choice.thoughts;
        if (!choice.calls.empty()) {
            Json calls = Json::array();
            for (std::size_t i = 0; i < choice.calls.size(); ++i)
                calls.push_back(callJson(choice.calls[i], choice.callIds[i]));
            message["tool_calls"] = std::move(calls);
        }
        Json logprobs = nullptr;
        if (form_.logprobs)
            logprobs = {{"content", logprobsOf(choice.logprobs, *form_.tokenizer)}, {"refusal", nullptr}};
        return {{"index", index},
                {"message", std::move(message)},
                {"logprobs", std::move(logprobs)},
                {"finish_reason", finishOf(choice)}};
    }

    ChatForm form_;
    std::vector<Choice> choices_;
    Totals totals_{form_.choices};
};

}  // namespace

std::shared_ptr<ReplyWriter> chatWriter(ChatForm form) { return std::make_shared<ChatWriter>(std::move(form)); }

}  // namespace axial::llm::server
