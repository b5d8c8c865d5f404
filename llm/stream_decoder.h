// Tokens to text, one at a time, as a model writes them.
#pragma once
#include <string>

#include "axial/llm/token.h"

namespace axial::llm {

class Tokenizer;

// What it returns is always well-formed UTF-8: a character comes when its last byte does, and bytes that can no longer
// be part of one come as U+FFFD, one for each maximal ill-formed subsequence. How the text is cut into tokens makes no
// difference to the whole.
class StreamDecoder {
  public:
    // Borrows the tokenizer.
    explicit StreamDecoder(const Tokenizer& tokenizer, bool showControl = false)
        : tokenizer_(&tokenizer), showControl_(showControl) {}

    // The text that a token completes; often all of its own, sometimes none. ValueError: an id that is not in the
    // vocabulary; the decoder is then as before.
    std::string push(TokenId id);

    // The tokens are over. A character that they have not completed is dropped: a reply that was cut off ends before
    // it. Returns what is left to show, which is nothing; the decoder can begin again.
    std::string finish();

  private:
    const Tokenizer* tokenizer_;
    bool showControl_;
    std::string held_;  // fewer than four bytes
};

}  // namespace axial::llm
