// What speculation does to the time of a reply: bench --spec.
#pragma once
#include <cstddef>
#include <vector>

#include "axial/llm/conversation.h"
#include "bench_plan.h"
#include "open_model.h"

namespace axial::cli {

// Throws UsageError for a text that is given and too short for the test, before anything is measured.
void checkText(const std::vector<llm::TokenId>& text, const BenchTest& test);

// A reply of test.generate tokens to a prompt of as many random ones, or of test.depth if those are more.
// BenchText::copy: it repeats the prompt, word for word, whatever the model says. BenchText::free: it is `text` if
// there is one, else what the model says itself with Qwen3's sampling. Choosing tokens and drafting is in the time.
class SpeculationBench {
  public:
    // Borrows the engine. Throws UsageError for a text that is too short.
    SpeculationBench(const Engine& engine, const BenchTest& test, std::vector<llm::TokenId> text);

    // Seconds that the reply takes, with a drafter that knows nothing yet if the test has drafts.
    double run();
    // Of the last run.
    const llm::Reply& reply() const { return reply_; }

  private:
    BenchTest test_;
    std::vector<llm::TokenId> prompt_, dictated_;
    llm::Conversation<Engine> conversation_;
    llm::Reply reply_;
};

}  // namespace axial::cli
