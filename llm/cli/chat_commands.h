// What can be typed in a chat besides messages.
#pragma once
#include <optional>
#include <string>

#include "chat_session.h"

namespace axial::cli {

class ChatCommands {
  public:
    explicit ChatCommands(ChatSession& session) : session_(session) {}

    // A line of help for each command.
    static std::string helpLines();

    enum class Next { readOn, end };
    // A line that begins with "/". Shows on stderr what there is to show, also what is wrong with it.
    Next run(const std::string& line);
    // Texts of /read that wait for the next message; they are handed over once.
    std::string takeAttached() { return std::exchange(attached_, {}); }
    // Shows speeds, and why a reply ended if not because it was finished.
    void showEnd(const llm::Reply& reply) const;

  private:
    struct Command;
    static const Command commands[];
    void help(const std::string&);
    void clear(const std::string&);
    void regenerate(const std::string&);
    void system(const std::string& text);
    void set(const std::string& text);
    void show(const std::string&);
    void save(const std::string& path);
    void load(const std::string& path);
    void read(const std::string& path);
    void tokens(const std::string&);
    void attention(const std::string& text);

    ChatSession& session_;
    std::string attached_;
};

}  // namespace axial::cli
