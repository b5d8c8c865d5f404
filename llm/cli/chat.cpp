#include "axial/tensor/error.h"
#include "chat_commands.h"
#include "chat_session.h"
#include "commands.h"
#include "flags.h"
#include "input.h"
#include "line_reader.h"
#include "reply_settings.h"
#include "terminal.h"

namespace axial::cli {
namespace {

constexpr std::string_view quotes = "\"\"\"";

// The message of a single turn: -p, -f, or all of stdin. The newline that ends a file or an echo is no part of it.
std::string messageIn(const Options& options) {
    const bool typed = options.prompt && *options.prompt != "-";
    if (!options.prompt && !options.file && stdinIsTerminal()) note("Type the message; Ctrl-D ends it.\n");
    std::string text = options.prompt || options.file ? inputText(options) : readFile("-");
    while (!typed && (text.ends_with('\n') || text.ends_with('\r'))) text.pop_back();
    if (text.empty()) throw UsageError("the message is empty");
    return text;
}

int oneTurn(ChatSession& session, const std::string& message) {
    const Options& options = session.options();
    const llm::Reply reply = session.send(message);
    if (!options.quiet && (stdoutIsTerminal() || options.verbose)) {
        ChatCommands(session).showEnd(reply);
    } else if (!options.quiet) {
        note(endNote(reply, session.capacity()));
    }
    return reply.end == llm::ReplyEnd::cancelled ? interrupted : done;
}

// Reads a line, or several between """ and """. Nothing at the end of the input.
std::optional<std::string> readMessage(LineReader& reader) {
    std::optional<std::string> line = reader.read("> ");
    if (!line || !line->starts_with(quotes)) return line;
    std::string text = line->substr(quotes.size());
    while (!text.ends_with(quotes)) {
        line = reader.read(". ");
        if (!line) return line;
        text += "\n" + *line;
    }
    text.resize(text.size() - quotes.size());
    return text.starts_with('\n') ? text.substr(1) : text;
}

int manyTurns(ChatSession& session) {
    LineReader reader;
    ChatCommands commands(session);
    if (!session.options().quiet)
        note(session.modelName() + ", room for " + std::to_string(session.capacity()) +
             " tokens. /help lists the commands, Ctrl-D ends.\n");
    while (const std::optional<std::string> message = readMessage(reader)) {
        if (message->find_first_not_of(" \t\n") == message->npos) continue;
        if (message->starts_with('/') && message->find('\n') == message->npos) {
            if (commands.run(*message) == ChatCommands::Next::end) return done;
            continue;
        }
        try {
            commands.showEnd(session.send(commands.takeAttached() + *message));
        } catch (const llm::ContextFullError& e) {
            note(std::string(e.what()) + ". /clear starts anew, and -c N at the start makes it larger\n");
        } catch (const Error& e) {
            note(std::string(e.what()) + "\n");
        }
    }
    note("\n");
    return done;
}

}  // namespace

int runChat(const Options& options) {
    if (options.system && options.systemFile) throw UsageError("-sys and -sysf are both given; one of them is enough");
    const bool single = options.prompt || options.file || !stdinIsTerminal() || !stdoutIsTerminal();
    const std::string message = single ? messageIn(options) : "";
    const llm::LoadedModel loaded = openModel(options.model, options);
    ChatSession session(loaded, options);
    if (options.system || options.systemFile)
        session.setSystemMessage(options.system ? *options.system : readFile(*options.systemFile));
    return single ? oneTurn(session, message) : manyTurns(session);
}

}  // namespace axial::cli
