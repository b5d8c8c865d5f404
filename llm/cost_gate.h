// Whether a draft pays: what a step with more rows costs, learned from the times of steps, and a purse that bounds the
// loss when expectations are wrong.
#pragma once
#include <array>
#include <cstddef>

#include "axial/llm/draft_source.h"

namespace axial::llm {

// What a step with so many rows takes, in units of a step with one. Starts from figures for Q4_K on two cores and
// corrects them by what is observed; between observed numbers of rows the correction is interpolated.
class StepCosts {
  public:
    double of(std::size_t rows) const;
    void observe(std::size_t rows, double cost);

  private:
    static constexpr std::size_t most = 64;  // rows of one step that are told apart
    struct Correction {
        double factor = 1;
        std::size_t observed = 0;
    };
    std::array<Correction, most + 1> corrections_;
};

// Speculation by this gate is never slower than 0.97 of plain decoding, whatever becomes of the drafts:
//   * a draft of d tokens is worth its cost if the step's expected tokens per time are more than a plain step's; of all
//     lengths the one with the most is taken;
//   * a step's loss is the time that it took beyond a plain step, less the tokens accepted, in plain steps. The purse
//     pays it: it starts with 0.5, gets 0.01 for every token, and the gains, but never holds more than 32. A draft whose
//     loss, should nothing be accepted, is more than the purse holds is not proposed. So n tokens lose at most
//     0.5 + 0.01 n plain steps, but for errors in the times;
//   * at least one step of 33 is plain, so that there is always a fresh time to compare with, and two before the first
//     draft;
//   * when no draft has paid for 32 steps, one is tried all the same, since costs may have changed; the next such try
//     waits twice as long, up to 1024 steps, until a draft pays again.
// Others' rows in the same step (of a batch) are taken for a token each, and a step's extra time is charged for all.
class CostGate {
  public:
    // How many tokens to draft of at most `longest`. 0: none would pay.
    std::size_t choose(const Acceptance& acceptance, std::size_t longest, std::size_t others);

    // A step's outcome, and what it gained, in plain steps. Seconds that are not a number above 0 teach nothing.
    double observe(std::size_t drafted, std::size_t accepted, double seconds, std::size_t others);

    const StepCosts& costs() const { return costs_; }
    // The seconds of a step with one row; 0: not known yet.
    double plainSeconds() const { return plainSeconds_; }
    double purse() const { return purse_; }

  private:
    double loss(std::size_t drafted, std::size_t others) const;
    void learn(std::size_t rows, double seconds);

    StepCosts costs_;
    double plainSeconds_ = 0;
    double purse_ = 0.5;
    std::size_t plainSteps_ = 0, plainInARow_ = 0, draftsInARow_ = 0;
    std::size_t patience_ = 32;  // plain steps until a draft is tried that is not expected to pay
    bool trying_ = false;
};

}  // namespace axial::llm
