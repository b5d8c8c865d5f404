#include "axial/llm/server/responses_reply.h"

#include "axial/llm/server/api_error.h"
#include "axial/llm/server/growing_reply.h"
#include "axial/llm/server/reply_parts-inl.h"

namespace axial::llm::server {
namespace {

class ResponsesWriter final : public ReplyWriter {
  public:
    explicit ResponsesWriter(ResponsesForm form)
        : form_(std::move(form)), base_(Json::parse(form_.base)), growing_(form_.thoughtsOpened, form_.toolForm) {}

    bool streams() const override { return form_.streams; }

    std::string take(Event event) override {
        bytes_.clear();
        begin();
        if (const auto* piece = std::get_if<Piece>(&event)) {
            grow(growing_.take(*piece));
        } else if (const auto* end = std::get_if<ChoiceEnd>(&event)) {
            grow(growing_.end(*end));
            end_ = *end;
            closeItem();
            totals_.add(*end, growing_.thoughtTokens());
        }
        return std::move(bytes_);
    }

    std::string end() override {
        bytes_.clear();
        begin();
        const Json whole = object();
        tell(whole["status"] == "completed" ? "response.completed" : "response.incomplete", {{"response", whole}});
        return std::move(bytes_);
    }

    std::string end(const Failure& failure) override {
        bytes_.clear();
        begin();
        Json whole = object();
        whole["status"] = "failed";
        whole["error"] = {{"code", "server_error"}, {"message", apiErrorOf(failure).what()}};
        tell("response.failed", {{"response", whole}});
        return std::move(bytes_);
    }

    HttpReply reply() override { return {.body = dumped(object())}; }

  private:
    // An event of the stream, if there is one.
    void tell(const char* name, Json fields) {
        if (!form_.streams) return;
        Json event{{"type", name}, {"sequence_number", sequence_++}};
        event.update(fields);
        bytes_ += eventOf(event, name);
    }

    void begin() {
        if (std::exchange(begun_, true)) return;
        Json empty = object();
        empty["status"] = "in_progress";
        empty["incomplete_details"] = nullptr;
        empty["usage"] = nullptr;
        tell("response.created", {{"response", empty}});
        tell("response.in_progress", {{"response", empty}});
    }

    Json object() const {
        Json whole = base_;
        const bool cut = std::string_view(finishReason(end_.end)) != "stop";
        whole["status"] = cut ? "incomplete" : "completed";
        whole["incomplete_details"] = cut ? Json{{"reason", "max_output_tokens"}} : Json(nullptr);
        whole["error"] = nullptr;
        whole["output"] = output_;
        whole["usage"] = {{"input_tokens", totals_.prompt},
                          {"input_tokens_details", {{"cached_tokens", totals_.cached}}},
                          {"output_tokens", totals_.reply},
                          {"output_tokens_details", {{"reasoning_tokens", totals_.thoughts}}},
                          {"total_tokens", totals_.prompt + totals_.reply}};
        return whole;
    }

    // Where the text of the open item is, for events about it.
    Json place() const {
        return {{"item_id", output_.back()["id"]}, {"output_index", output_.size() - 1}, {"content_index", 0}};
    }

    void openItem(const std::string& type, Json item, Json part) {
        if (open_ == type) return;
        closeItem();
        open_ = type;
        tell("response.output_item.added", {{"output_index", output_.size()}, {"item", item}});
        output_.push_back(std::move(item));
        Json added = place();
        added["part"] = part;
        tell("response.content_part.added", std::move(added));
        output_.back()["content"].push_back(std::move(part));
    }

    void closeItem() {
        if (open_.empty()) return;
        Json& item = output_.back();
        item["status"] = "completed";
        const Json& part = item["content"][0];
        Json done = place();
        done["text"] = part["text"];
        if (open_ == "message") done["logprobs"] = part["logprobs"];
        tell(open_ == "message" ? "response.output_text.done" : "response.reasoning_text.done", std::move(done));
        Json whole = place();
        whole["part"] = part;
        tell("response.content_part.done", std::move(whole));
        tell("response.output_item.done", {{"output_index", output_.size() - 1}, {"item", item}});
        open_.clear();
    }

    void grow(GrowingReply::Growth growth) {
        if (!growth.thoughts.empty()) {
            openItem("reasoning",
                     {{"id", newId("rs_")},
                      {"type", "reasoning"},
                      {"summary", Json::array()},
                      {"content", Json::array()},
                      {"status", "in_progress"}},
                     {{"type", "reasoning_text"}, {"text", ""}});
            append("response.reasoning_text.delta", growth.thoughts);
        }
        if (!growth.content.empty()) {
            openItem(
                "message",
                {{"id", newId("msg_")},
                 {"type", "message"},
                 {"role", "assistant"},
                 {"status", "in_progress"},
                 {"content", Json::array()}},
                {{"type", "output_text"}, {"text", ""}, {"annotations", Json::array()}, {"logprobs", Json::array()}});
            Json logprobs = Json::array();
            if (form_.logprobs) logprobs = logprobsOf(growth.logprobs, *form_.tokenizer);
            append("response.output_text.delta", growth.content, &logprobs);
        }
        for (const ToolCall& call : growth.calls) addCall(call);
    }

    void append(const char* event, const std::string& text, const Json* logprobs = nullptr) {
        Json& part = output_.back()["content"][0];
        part["text"].get_ref<std::string&>() += text;
        Json delta = place();
        delta["delta"] = text;
        if (logprobs) {
            for (const Json& one : *logprobs) part["logprobs"].push_back(one);
            delta["logprobs"] = *logprobs;
        }
        tell(event, std::move(delta));
    }

    void addCall(const ToolCall& call) {
        closeItem();
        Json item{{"id", newId("fc_")}, {"type", "function_call"}, {"call_id", newId("call_")},
                  {"name", call.name},  {"arguments", ""},         {"status", "in_progress"}};
        const Json where{{"item_id", item["id"]}, {"output_index", output_.size()}};
        tell("response.output_item.added", {{"output_index", output_.size()}, {"item", item}});
        item["arguments"] = call.arguments;
        item["status"] = "completed";
        Json delta = where, done = where;
        delta["delta"] = call.arguments;
        done["name"] = call.name;
        done["arguments"] = call.arguments;
        tell("response.function_call_arguments.delta", std::move(delta));
        tell("response.function_call_arguments.done", std::move(done));
        tell("response.output_item.done", {{"output_index", output_.size()}, {"item", item}});
        output_.push_back(std::move(item));
    }

    ResponsesForm form_;
    Json base_;
    GrowingReply growing_;
    Json output_ = Json::array();
    std::string open_;   // the type of the item that still grows, the last one
    std::string bytes_;  // of the stream, not handed over yet
    std::size_t sequence_ = 0;
    bool begun_ = false;
    ChoiceEnd end_;
    Totals totals_{1};
};

}  // namespace

std::shared_ptr<ReplyWriter> responsesWriter(ResponsesForm form) {
    return std::make_shared<ResponsesWriter>(std::move(form));
}

}  // namespace axial::llm::server
