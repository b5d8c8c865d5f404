#include "bench_speculation.h"

#include <limits>
#include <memory>
#include <string>

#include "axial/llm/sampler_random.h"
#include "axial/llm/speculator.h"
#include "flags.h"

namespace axial::cli {
namespace {

using Tokens = std::vector<llm::TokenId>;

// Makes the model say a given text.
class Dictation : public llm::LogitProcessor {
  public:
    explicit Dictation(Tokens text) : text_(std::move(text)) {}
    void process(std::span<float> logits, std::span<const llm::TokenId>) override {
        logits[static_cast<std::size_t>(text_.at(next_))] = std::numeric_limits<float>::infinity();
    }
    void commit(llm::TokenId) override { ++next_; }
    void reset() override { next_ = 0; }
    std::unique_ptr<LogitProcessor> clone() const override { return std::make_unique<Dictation>(text_); }

  private:
    Tokens text_;
    std::size_t next_ = 0;
};

struct NoText {
    std::string push(llm::TokenId) { return {}; }
    std::string finish() { return {}; }
};

Tokens randomTokens(const Engine& engine, std::size_t count) {
    const auto vocabulary = static_cast<double>(engine.model().hyperparameters().vocabulary);
    Tokens tokens;
    for (std::size_t i = 0; i < count; ++i)
        tokens.push_back(static_cast<llm::TokenId>(llm::uniformAt(2, i) * vocabulary));
    return tokens;
}

llm::Sampler samplerFor(const Tokens& dictated) {
    llm::SamplerSettings settings;
    settings.seed = 1;
    std::vector<std::unique_ptr<llm::LogitProcessor>> processors;
    if (dictated.empty()) {
        settings.temperature = 0.6;
        settings.topK = 20;
        settings.topP = 0.95;
    } else {
        settings.temperature = 0;
        processors.push_back(std::make_unique<Dictation>(dictated));
    }
    return llm::Sampler(std::move(settings), std::move(processors));
}

}  // namespace

void checkText(const Tokens& text, const BenchTest& test) {
    const std::size_t count = test.generate + 1;
    if (test.text == BenchText::free && !text.empty() && text.size() < count)
        throw UsageError("--spec-text has " + std::to_string(text.size()) + " tokens, fewer than the " +
                         std::to_string(count) + " that a test of " + std::to_string(test.generate) + " needs");
}

SpeculationBench::SpeculationBench(const Engine& engine, const BenchTest& test, Tokens text)
    : test_(test),
      prompt_(randomTokens(engine, std::max(test.depth, test.generate + 1))),
      conversation_(engine, engine.makeCache(prompt_.size() + test.generate + 1, test.cache)) {
    // One token more than is counted, since the first one needs no step of its own.
    const std::size_t count = test.generate + 1;
    if (test.text == BenchText::copy) text = prompt_;
    if (text.empty()) return;
    checkText(text, test);
    text.resize(count);
    dictated_ = std::move(text);
}

double SpeculationBench::run() {
    llm::Speculator drafter;
    llm::Sampler sampler = samplerFor(dictated_);
    llm::ReplyOptions options;
    options.maxTokens = static_cast<std::int64_t>(test_.generate + 1);
    options.batch = std::min(test_.batch, test_.ubatch);
    if (test_.drafts) options.drafter = &drafter;
    reply_ = conversation_.reply(prompt_, sampler, NoText(), options, [](std::string_view) {});
    return reply_.replySeconds;
}

}  // namespace axial::cli
