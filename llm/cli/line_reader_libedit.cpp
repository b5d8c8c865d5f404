#include <histedit.h>
#include <langinfo.h>
#include <unistd.h>

#include <clocale>
#include <cstdio>
#include <string_view>

#include "line_reader.h"

namespace axial::cli {

class LineReader::Editor {
  public:
    Editor() : edit_(el_init("axial", stdin, stderr, stderr)), history_(history_init()) {
        HistEvent event;
        history(history_, &event, H_SETSIZE, 500);
        history(history_, &event, H_SETUNIQUE, 1);
        el_set(edit_, EL_CLIENTDATA, this);
        el_set(edit_, EL_PROMPT, &Editor::prompt);
        el_set(edit_, EL_HIST, history, history_);
        el_set(edit_, EL_EDITOR, "emacs");
        el_set(edit_, EL_BIND, "^R", "em-inc-search-prev", nullptr);
        el_set(edit_, EL_BIND, "\033[1~", "ed-move-to-beg", nullptr);
        el_set(edit_, EL_BIND, "\033[3~", "ed-delete-next-char", nullptr);
        el_set(edit_, EL_BIND, "\033[4~", "ed-move-to-end", nullptr);
    }
    ~Editor() {
        history_end(history_);
        el_end(edit_);
    }

    std::optional<std::string> read(const std::string& prompt) {
        prompt_ = prompt;
        int count = 0;
        const char* text = el_gets(edit_, &count);
        if (!text || count <= 0) return std::nullopt;
        std::string line(text, static_cast<std::size_t>(count));
        if (line.ends_with('\n')) line.pop_back();
        HistEvent event;
        if (!line.empty()) history(history_, &event, H_ENTER, line.c_str());
        return line;
    }

  private:
    static char* prompt(EditLine* edit) {
        Editor* self = nullptr;
        el_get(edit, EL_CLIENTDATA, &self);
        return self->prompt_.data();
    }

    EditLine* edit_;
    History* history_;
    std::string prompt_;
};

LineReader::LineReader() {
    // libedit reads characters by the locale; the one of plain C knows only ASCII.
    std::setlocale(LC_CTYPE, "");
    if (std::string_view(nl_langinfo(CODESET)) != "UTF-8") std::setlocale(LC_CTYPE, "C.UTF-8");
    editor_ = std::make_unique<Editor>();
}
LineReader::~LineReader() = default;

std::optional<std::string> LineReader::read(const std::string& prompt) { return editor_->read(prompt); }

}  // namespace axial::cli
