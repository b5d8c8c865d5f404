// Shows a reply while it grows: thoughts dimmed on a terminal, and kept out of pipes and files.
#pragma once
#include <string>
#include <string_view>

#include "axial/llm/thinking.h"

namespace axial::cli {

enum class Thoughts {
    dimmed,  // for a terminal
    hidden,
    asText,  // everything as the model wrote it, tags and all
};

class ReplyPrinter {
  public:
    // opened: the prompt has already written <think>.
    ReplyPrinter(Thoughts thoughts, bool opened) : thoughts_(thoughts), splitter_(opened) {}

    // More of the reply.
    void show(std::string_view text);
    // The reply is over: ends the line.
    void finish();

  private:
    void show(const llm::ThinkingSplitter::Parts& parts);
    void write(std::string_view text);

    Thoughts thoughts_;
    llm::ThinkingSplitter splitter_;
    bool dimmed_ = false, waiting_ = false;
    char last_ = 0;  // written
};

}  // namespace axial::cli
