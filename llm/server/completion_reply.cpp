#include "axial/llm/server/completion_reply.h"

#include "axial/llm/server/api_error.h"
#include "axial/llm/server/reply_parts-inl.h"

namespace axial::llm::server {
namespace {

class CompletionWriter final : public ReplyWriter {
  public:
    explicit CompletionWriter(CompletionForm form)
        : form_(std::move(form)), choices_(form_.begins.size()), totals_(form_.choicesEach) {}

    bool streams() const override { return form_.streams; }

    std::string take(Event event) override {
        if (auto* piece = std::get_if<Piece>(&event)) return takePiece(std::move(*piece));
        if (const auto* end = std::get_if<ChoiceEnd>(&event)) return takeEnd(*end);
        return {};
    }

    std::string end() override {
        std::string bytes;
        if (form_.includesUsage) {
            Json chunk = objectOf(Json::array());
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
        for (std::size_t i = 0; i < choices_.size(); ++i) {
            Choice& choice = choices_[i];
            list.push_back(choiceJson(i, form_.begins[i] + choice.text, choice.logprobs, finishReason(choice.end.end)));
        }
        Json json = objectOf(std::move(list));
        json["usage"] = totals_.usage();
        json["timings"] = timingsOf(choices_.front().end);
        return {.body = dumped(json)};
    }

  private:
    struct Choice {
        std::string text;
        std::vector<TokenLogprob> logprobs;
        std::size_t offset = 0;  // of the text that was told, in characters
        bool begun = false;
        ChoiceEnd end;
    };

    Json objectOf(Json list) const {
        Json object{{"id", form_.id},       {"object", "text_completion"},         {"created", form_.created},
                    {"model", form_.model}, {"system_fingerprint", fingerprint()}, {"choices", std::move(list)}};
        if (form_.streams && form_.includesUsage) object["usage"] = nullptr;
        return object;
    }

    Json choiceJson(std::size_t index, const std::string& text, const std::vector<TokenLogprob>& tokens,
                    Json finish = nullptr) {
        Json logprobs = nullptr;
        if (form_.logprobs) logprobs = logprobsIn(choices_[index], tokens);
        return {
            {"text", text}, {"index", index}, {"logprobs", std::move(logprobs)}, {"finish_reason", std::move(finish)}};
    }

    // {"tokens", "token_logprobs", "top_logprobs", "text_offset"}: lists of one for each token.
    Json logprobsIn(Choice& choice, const std::vector<TokenLogprob>& tokens) const {
        Json texts = Json::array(), logprobs = Json::array(), tops = Json::array(), offsets = Json::array();
        for (const TokenLogprob& token : tokens) {
            const std::string text = tokenText(token.chosen.token, *form_.tokenizer);
            offsets.push_back(choice.offset);
            for (const char byte : text) choice.offset += (static_cast<unsigned char>(byte) & 0xc0) != 0x80;
            texts.push_back(text);
            logprobs.push_back(finite(token.chosen.logprob));
            Json top = Json::object();
            for (const Logprob& other : token.top)
                top[tokenText(other.token, *form_.tokenizer)] = finite(other.logprob);
            tops.push_back(std::move(top));
        }
        return {{"tokens", std::move(texts)},
                {"token_logprobs", std::move(logprobs)},
                {"top_logprobs", std::move(tops)},
                {"text_offset", std::move(offsets)}};
    }

    std::string begin(std::size_t index) {
        if (std::exchange(choices_[index].begun, true) || form_.begins[index].empty()) return {};
        return eventOf(objectOf(Json::array({choiceJson(index, form_.begins[index], {})})));
    }

    std::string takePiece(Piece piece) {
        Choice& choice = choices_[piece.choice];
        if (!form_.streams) {
            choice.text += piece.text;
            choice.logprobs.insert(choice.logprobs.end(), piece.logprobs.begin(), piece.logprobs.end());
            return {};
        }
        Json chunk = objectOf(Json::array({choiceJson(piece.choice, piece.text, piece.logprobs)}));
        if (form_.timings) chunk["timings"] = timingsOf(piece);
        return begin(piece.choice) + eventOf(chunk);
    }

    std::string takeEnd(const ChoiceEnd& end) {
        choices_[end.choice].end = end;
        totals_.add(end);
        if (!form_.streams) return {};
        Json chunk = objectOf(Json::array({choiceJson(end.choice, "", {}, finishReason(end.end))}));
        chunk["timings"] = timingsOf(end);
        return begin(end.choice) + eventOf(chunk);
    }

    CompletionForm form_;
    std::vector<Choice> choices_;
    Totals totals_;
};

}  // namespace

std::shared_ptr<ReplyWriter> completionWriter(CompletionForm form) {
    return std::make_shared<CompletionWriter>(std::move(form));
}

}  // namespace axial::llm::server
