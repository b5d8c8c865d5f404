// Thoughts first, and only then an answer by a rule.
#pragma once
#include <memory>
#include <optional>
#include <string>

#include "axial/llm/logit_processor.h"

namespace axial::llm {

class Tokenizer;

// Leaves the thoughts of a reply, <think> ... </think>, to the model, and hands the answer behind them to another
// processor. One token of white space may stand between the two. Thoughts cannot end the reply, and the token that ends
// them has nothing but white space behind </think>.
class ThinkFirst : public LogitProcessor {
  public:
    // opened: the prompt has already written <think>. Else it is what the reply begins with.
    ThinkFirst(std::shared_ptr<const Tokenizer> tokenizer, std::unique_ptr<LogitProcessor> answer, bool opened);

    void process(std::span<float> logits, std::span<const TokenId> history) override;
    void commit(TokenId token) override;
    void reset() override;
    std::unique_ptr<LogitProcessor> clone() const override;
    std::vector<TokenId> forced() const override;
    std::size_t validPrefix(std::span<const TokenId> draft) const override;

  private:
    enum class Place { start, thoughts, gap, answer };
    // How far a reply has come: `text` is what it has of <think>, or the last bytes of the thoughts.
    struct Progress {
        Place place;
        std::string text;
    };
    Progress beginning() const { return {opened_ ? Place::thoughts : Place::start, ""}; }
    bool allows(const Progress& progress, TokenId token) const;
    void advance(Progress& progress, TokenId token) const;
    bool isGap(TokenId token) const;

    std::shared_ptr<const Tokenizer> tokenizer_;
    std::unique_ptr<LogitProcessor> answer_;
    bool opened_;
    std::optional<TokenId> opening_;  // the marker <think>, if there is one
    std::vector<TokenId> closing_;    // tokens that may end the thoughts and go on
    Progress progress_;
};

}  // namespace axial::llm
