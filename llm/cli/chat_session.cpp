#include "chat_session.h"

#include "attention_file.h"
#include "axial/llm/cache_file.h"
#include "axial/llm/stream_decoder.h"
#include "axial/llm/thinking.h"
#include "flags.h"
#include "interrupt.h"
#include "model_facts.h"
#include "reply_settings.h"
#include "terminal.h"

namespace axial::cli {
namespace {

Thoughts thoughtsIn(const Options& options) {
    if (!stdoutIsTerminal()) return options.showThinking ? Thoughts::asText : Thoughts::hidden;
    return options.hideThinking ? Thoughts::hidden : Thoughts::dimmed;
}

}  // namespace

ChatSession::ChatSession(const llm::LoadedModel& loaded, const Options& options)
    : loaded_(loaded),
      options_(options),
      template_(openTemplate(loaded.tokenizer->vocabulary(), options)),
      engine_(makeEngine(loaded, options)),
      conversation_(engine_,
                    engine_.makeCache(contextSize(loaded.model->hyperparameters(), options), cacheFormats(options))),
      sampler_(makeSampler()),
      speculation_(options, *loaded.tokenizer),
      drafter_(speculation_.drafter(speculates(options))) {
    options_.speculate = speculates(options);  // as /set shows and changes it
}

llm::Sampler ChatSession::makeSampler() const {
    const bool thinks = !options_.noThink && template_.thinks();
    return llm::Sampler(samplingIn(options_, loaded_.file, thinks),
                        structureIn(options_, loaded_.tokenizer, [this] { return thoughtsBefore(); }));
}

// Where the thoughts of an answer will stand, as its template begins answers.
ThoughtsBefore ChatSession::thoughtsBefore() const {
    if (options_.noThink && template_.canSkipThinking()) return ThoughtsBefore::none;
    const std::vector<llm::Message> question{{"user", "?", {}, {}}};
    if (llm::opensThoughts(template_.render(question, {.thinking = !options_.noThink}))) return ThoughtsBefore::begun;
    const bool marked = loaded_.tokenizer->vocabulary().marker("<think>").has_value();
    return template_.thinks() && marked ? ThoughtsBefore::first : ThoughtsBefore::none;
}

std::string ChatSession::modelName() const {
    const ModelFacts facts(loaded_.file);
    const std::string& name = facts.hyperparameters.name;
    return name.empty() ? facts.typeName() : name + " (" + facts.typeName() + ")";
}

void ChatSession::setOptions(const Options& options) {
    const Options before = std::exchange(options_, options);
    try {
        sampler_ = makeSampler();
        if (options.speculate != before.speculate) drafter_ = speculation_.drafter(options.speculate);
    } catch (...) {
        options_ = before;
        throw;
    }
}

std::string ChatSession::systemMessage() const {
    return !messages_.empty() && messages_.front().role == "system" ? messages_.front().content : "";
}

void ChatSession::setSystemMessage(const std::string& text) {
    if (!messages_.empty() && messages_.front().role == "system") messages_.erase(messages_.begin());
    if (!text.empty()) messages_.insert(messages_.begin(), {"system", text, {}, {}});
}

void ChatSession::clear() {
    const std::string system = systemMessage();
    messages_.clear();
    setSystemMessage(system);
    conversation_.truncate(0);
}

std::string ChatSession::writeAttention(const std::string& path, std::vector<std::size_t> layers) const {
    if (conversation_.history().empty()) throw UsageError("nothing has been said yet");
    return cli::writeAttention(path, loaded_, engine_, cacheFormats(options_), conversation_.history(),
                               std::move(layers));
}

void ChatSession::saveCache(const std::string& path) const {
    llm::saveCache(path, llm::identityOf(loaded_), conversation_.history(), conversation_.cache());
}

void ChatSession::loadCache(const std::string& path) {
    llm::SavedCache saved =
        llm::loadCache(path, llm::identityOf(loaded_), *loaded_.model, capacity(), cacheFormats(options_));
    auto drafter = speculation_.drafter(options_.speculate);  // the old one knows another text
    conversation_ = llm::Conversation<Engine>(engine_, std::move(saved.cache), std::move(saved.tokens));
    drafter_ = std::move(drafter);
}

llm::Reply ChatSession::send(const std::string& text) {
    messages_.push_back({"user", text, {}, {}});
    try {
        return answer();
    } catch (...) {
        messages_.pop_back();
        throw;
    }
}

llm::Reply ChatSession::regenerate() {
    std::size_t last = messages_.size();
    while (last > 0 && messages_[last - 1].role != "user") --last;
    if (last == 0) throw UsageError("there is no message yet that could be answered again");
    const std::vector<llm::Message> before = messages_;
    messages_.resize(last);
    try {
        return answer();
    } catch (...) {
        messages_ = before;
        throw;
    }
}

llm::Reply ChatSession::answer() {
    const std::vector<llm::TextPart> parts =
        template_.render(messages_, {.thinking = !options_.noThink, .date = options_.date});
    const std::vector<llm::TokenId> prompt = loaded_.tokenizer->encode(parts);
    llm::ReplyOptions replyOptions = replyOptionsIn(options_, loaded_.tokenizer->vocabulary().endOfGeneration);
    replyOptions.drafter = drafter_.get();
    if (options_.verbose)
        note(std::to_string(prompt.size()) + " tokens of prompt, " + described(sampler_.settings()) + ", seed " +
             std::to_string(sampler_.seed()) + "\n");

    ReplyPrinter printer(thoughtsIn(options_), llm::opensThoughts(parts));
    std::string text;
    const Interruptible interruptible;
    const llm::Reply reply = conversation_.reply(prompt, sampler_, llm::StreamDecoder(*loaded_.tokenizer), replyOptions,
                                                 [&](std::string_view piece) {
                                                     text += piece;
                                                     printer.show(piece);
                                                 });
    printer.finish();
    // A question without an answer would be followed by another question.
    if (reply.tokens.empty() && reply.end == llm::ReplyEnd::cancelled)
        messages_.pop_back();
    else
        messages_.push_back({"assistant", text, {}, {}});
    return reply;
}

}  // namespace axial::cli
