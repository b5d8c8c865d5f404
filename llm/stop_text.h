// Stop strings in a stream of text: nothing that may be the start of one is shown before it is known not to be.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace axial::llm {

// The length of the longest end of `text` that is a start of `whole`, but not all of it.
std::size_t startAtEnd(std::string_view text, std::string_view whole);

class StopText {
  public:
    // Throws ValueError for an empty string, which would stop at once.
    explicit StopText(std::vector<std::string> stops = {});

    // Takes the next piece and returns the text that is safe to show: all before a stop string, without a tail that
    // could be the start of one. How the text is cut into pieces makes no difference to what is shown in the end. The
    // stop that is complete first counts; of two that end together, the longer. After it, pieces are dropped.
    std::string push(std::string_view piece);
    // The text is over: what was held back.
    std::string finish();

    bool found() const { return found_ != nullptr; }
    // The stop string that was found. found() must be true.
    const std::string& which() const { return *found_; }

  private:
    std::vector<std::string> stops_;
    std::string held_;
    const std::string* found_ = nullptr;
};

}  // namespace axial::llm
