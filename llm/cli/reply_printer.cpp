#include "reply_printer.h"

#include <utility>

#include "terminal.h"

namespace axial::cli {

void ReplyPrinter::write(std::string_view text) {
    if (text.empty()) return;
    print(text);
    last_ = text.back();
}

void ReplyPrinter::show(std::string_view text) {
    if (thoughts_ == Thoughts::asText) return write(text);
    show(splitter_.push(text));
    // Something to look at while thoughts are not shown.
    if (thoughts_ == Thoughts::hidden && !waiting_ && splitter_.inThoughts() && stdoutIsTerminal()) {
        waiting_ = true;
        note(faint("thinking ...", stderrIsTerminal()));
    }
}

void ReplyPrinter::show(const llm::ThinkingSplitter::Parts& parts) {
    if (thoughts_ == Thoughts::dimmed && !parts.thoughts.empty()) {
        if (!std::exchange(dimmed_, true)) print(faintOn(true));
        write(parts.thoughts);
    }
    if (parts.answer.empty()) return;
    if (std::exchange(dimmed_, false)) write(faintOff(true) + "\n\n");
    if (std::exchange(waiting_, false)) note("\r            \r");
    write(parts.answer);
}

void ReplyPrinter::finish() {
    if (thoughts_ != Thoughts::asText) show(splitter_.finish());
    if (dimmed_) print(faintOff(true));
    if (waiting_) note("\n");
    dimmed_ = waiting_ = false;
    if (last_ != '\n' && (last_ != 0 || stdoutIsTerminal())) print("\n");
}

}  // namespace axial::cli
