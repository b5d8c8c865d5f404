// Reads what is typed at a prompt.
#pragma once
#include <memory>
#include <optional>
#include <string>

namespace axial::cli {

// With libedit: arrow keys and a history of this session. Without: what the terminal itself offers.
class LineReader {
  public:
    LineReader();
    ~LineReader();
    LineReader(const LineReader&) = delete;
    LineReader& operator=(const LineReader&) = delete;

    // A line without its end; nothing after Ctrl-D. The prompt goes to stderr.
    std::optional<std::string> read(const std::string& prompt);

  private:
    class Editor;
    std::unique_ptr<Editor> editor_;
};

}  // namespace axial::cli
