// Separates a reasoning model's thoughts, <think> ... </think> before the answer, from the answer.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "axial/llm/tokenizer.h"

namespace axial::llm {

// Whether a prompt has written <think> for the model, so that the reply begins with thoughts.
bool opensThoughts(std::span<const TextPart> prompt);

class ThinkingSplitter {
  public:
    // opened: the prompt has already written <think>, so the reply begins with thoughts.
    explicit ThinkingSplitter(bool opened) : place_(opened ? Place::thoughtsStart : Place::start) {}

    struct Parts {
        std::string thoughts, answer;
    };
    // Takes the next piece of the reply and returns what it adds to either part. Tags and the white space around them
    // are in neither; text that may be the start of a tag is held back. A reply that does not begin with <think> is
    // all answer, unchanged.
    Parts push(std::string_view piece);
    // The reply is over: what was held back.
    Parts finish();
    // Whether there is text that was held back.
    bool holdsBack() const { return !held_.empty(); }
    // Whether the next text belongs to the thoughts.
    bool inThoughts() const { return place_ == Place::thoughtsStart || place_ == Place::thoughts; }

  private:
    enum class Place { start, thoughtsStart, thoughts, answerStart, answer };
    bool step(Parts& parts);

    Place place_;
    std::string held_;
};

}  // namespace axial::llm
