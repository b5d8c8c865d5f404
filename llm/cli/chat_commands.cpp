#include "chat_commands.h"

#include <filesystem>
#include <new>
#include <nlohmann/json.hpp>

#include "axial/llm/atomic_file.h"
#include "attention_file.h"
#include "axial/tensor/error.h"
#include "command_line.h"
#include "flags.h"
#include "input.h"
#include "model_facts.h"
#include "reply_settings.h"
#include "terminal.h"

namespace axial::cli {
namespace {

// The flags that /set can change: those that a reply looks at.
std::vector<const Flag*> settable() {
    std::vector<const Flag*> list;
    for (const Flag* flag : flagsOf(chat))
        if (flag->group == "Sampling" || flag->group == "Reply") list.push_back(flag);
    return list;
}

// "--top-k" as people type it in a chat: top-k, top_k.
std::string nameOf(const Flag& flag) { return std::string(flag.longName().substr(2)); }

std::string trimmed(std::string_view text) {
    const std::size_t from = std::min(text.find_first_not_of(" \t"), text.size());
    return std::string(text.substr(from, text.find_last_not_of(" \t") + 1 - from));
}

std::vector<llm::Message> messagesIn(const std::string& path) {
    const nlohmann::json json = nlohmann::json::parse(readFile(path), nullptr, false);
    if (!json.is_object() || !json.contains("messages") || !json["messages"].is_array())
        throw FileError(path + ": is no saved chat: a JSON object with a list \"messages\" is expected");
    std::vector<llm::Message> messages;
    for (const nlohmann::json& m : json["messages"]) {
        if (!m.is_object() || !m.contains("role") || !m.contains("content") || !m["role"].is_string() ||
            !m["content"].is_string())
            throw FileError(path + ": message " + std::to_string(messages.size() + 1) +
                            " has no text for \"role\" and \"content\"");
        messages.push_back({m["role"], m["content"]});
    }
    return messages;
}

// Where /save FILE puts what is computed.
std::string cacheBeside(const std::string& path) { return path + ".cache"; }

}  // namespace

struct ChatCommands::Command {
    std::string_view name, arguments, help;
    void (ChatCommands::*run)(const std::string&);  // null: ends the chat
};

const ChatCommands::Command ChatCommands::commands[] = {
    {"/help", "", "this list", &ChatCommands::help},
    {"/clear", "", "forget the conversation, but for the system message", &ChatCommands::clear},
    {"/regen", "", "answer the last message again", &ChatCommands::regenerate},
    {"/system", "[TEXT]", "set the system message; without TEXT, remove it", &ChatCommands::system},
    {"/set", "[NAME VALUE]", "change a setting, as in /set temp 0.2 or /set think off; without NAME, list them",
     &ChatCommands::set},
    {"/show", "", "the model, the settings and the messages so far", &ChatCommands::show},
    {"/save", "FILE", "write the messages to a JSON file, and what is computed of them to FILE.cache",
     &ChatCommands::save},
    {"/load", "FILE", "go on from saved messages, with FILE.cache if it fits the model and its settings",
     &ChatCommands::load},
    {"/read", "FILE", "put the text of a file before the next message", &ChatCommands::read},
    {"/tokens", "", "how much of the context is used", &ChatCommands::tokens},
    {"/attention", "FILE [LAYERS]", "write a page for a browser that shows what each head looks at; LAYERS: 0,5-7",
     &ChatCommands::attention},
    {"/exit", "", "end; so do /bye and Ctrl-D", nullptr},
    {"/bye", "", "", nullptr},
};

ChatCommands::Next ChatCommands::run(const std::string& line) {
    const std::size_t space = std::min(line.find_first_of(" \t"), line.size());
    const std::string name = line.substr(0, space), arguments = trimmed(std::string_view(line).substr(space));
    std::vector<std::string_view> names;
    for (const Command& command : commands) {
        names.push_back(command.name);
        if (command.name != name) continue;
        if (!command.run) return Next::end;
        try {
            if (!command.arguments.empty() && command.arguments.front() != '[' && arguments.empty())
                throw UsageError("needs a value: " + name + " " + std::string(command.arguments));
            (this->*command.run)(arguments);
        } catch (const UsageError& e) {
            note(name + ": " + e.what() + "\n");
        } catch (const Error& e) {
            note(name + ": " + e.what() + "\n");
        }
        return Next::readOn;
    }
    const std::string near = nearest(name, names);
    note("unknown command " + name + (near.empty() ? "" : "; did you mean " + near + "?") +
         " /help lists the commands; a message that begins with \"/\" needs a space before it\n");
    return Next::readOn;
}

std::string ChatCommands::helpLines() {
    std::string text;
    for (const Command& command : commands) {
        if (command.help.empty()) continue;
        std::string row = "  " + std::string(command.name) + " " + std::string(command.arguments);
        row.resize(26, ' ');
        text += row + std::string(command.help) + "\n";
    }
    return text +
           "  \"\"\"                     begins a message of several lines, and ends it\n"
           "Ctrl-C stops a reply; at the prompt it ends the chat.\n";
}

void ChatCommands::help(const std::string&) { note(helpLines()); }

void ChatCommands::clear(const std::string&) {
    session_.clear();
    attached_.clear();
    note("the conversation is forgotten\n");
}

void ChatCommands::regenerate(const std::string&) { showEnd(session_.regenerate()); }

void ChatCommands::system(const std::string& text) {
    session_.setSystemMessage(text);
    note(text.empty() ? "there is no system message now\n" : "the system message is set\n");
}

void ChatCommands::set(const std::string& text) {
    const std::size_t space = std::min(text.find_first_of(" \t="), text.size());
    std::string name = text.substr(0, space), value = trimmed(std::string_view(text).substr(space));
    if (value.starts_with('=')) value = trimmed(std::string_view(value).substr(1));
    std::replace(name.begin(), name.end(), '_', '-');
    if (name.starts_with("--")) name.erase(0, 2);
    bool inverted = false;
    if (name == "think") {
        name = "no-think";
        inverted = true;
    }
    std::vector<std::string> names;
    for (const Flag* flag : settable()) {
        names.push_back(nameOf(*flag));
        if (names.back() != name) continue;
        if (value.empty() && !flag->isSwitch()) throw UsageError(name + " needs a value");
        if (flag->isSwitch()) {
            const bool on = value.empty() || value == "on" || value == "true";
            if (!on && value != "off" && value != "false") throw UsageError("\"" + value + "\" is not on or off");
            value = on != inverted ? "true" : "false";
        }
        Options changed = session_.options();
        store(*flag, value, changed);
        session_.setOptions(changed);
        note(described(session_.sampler().settings()) + "\n");
        return;
    }
    std::string list;
    for (const std::string& known : names)
        if (known != "no-think") list += (list.empty() ? "think, " : ", ") + known;
    if (name.empty()) return note("settings: " + list + "\nnow: " + described(session_.sampler().settings()) + "\n");
    throw UsageError("there is no setting \"" + name + "\"; these can be set: " + list);
}

void ChatCommands::show(const std::string&) {
    std::string text = session_.modelName() + "\n" + described(session_.sampler().settings()) + ", seed " +
                       std::to_string(session_.sampler().seed()) + ", thinking " +
                       (session_.options().noThink ? "off" : "on") + "\n";
    for (const llm::Message& message : session_.messages()) text += message.role + ": " + message.content + "\n";
    note(text);
    tokens({});
}

void ChatCommands::save(const std::string& path) {
    nlohmann::ordered_json json;
    json["messages"] = nlohmann::ordered_json::array();
    for (const llm::Message& m : session_.messages())
        json["messages"].push_back({{"role", m.role}, {"content", m.content}});
    llm::AtomicFile file(path);
    file.write(json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
    file.commit();
    note(std::to_string(session_.messages().size()) + " messages are saved\n");
    // Tokens tell what a cache is of, so one of other messages does no harm; but nobody would look for it here.
    const std::string cache = cacheBeside(path);
    std::error_code ignored;
    if (session_.used() == 0) return static_cast<void>(std::filesystem::remove(cache, ignored));
    session_.saveCache(cache);
    note(std::to_string(session_.used()) + " computed tokens are saved in " + cache + ", " +
         inBytes(std::filesystem::file_size(cache, ignored)) + "\n");
}

void ChatCommands::load(const std::string& path) {
    session_.setMessages(messagesIn(path));
    note("the chat goes on after " + std::to_string(session_.messages().size()) + " messages\n");
    const std::string cache = cacheBeside(path);
    std::error_code ignored;
    if (!std::filesystem::exists(cache, ignored)) return;
    const auto computedAgain = [](const std::string& why) {
        note("they are computed again with the next one, for " + why + "\n");
    };
    try {
        session_.loadCache(cache);
        note(std::to_string(session_.used()) + " tokens are computed already\n");
    } catch (const Error& e) {
        computedAgain(e.what());
    } catch (const std::bad_alloc&) {
        computedAgain("there is not enough memory for " + cache + " beside the chat so far");
    }
}

void ChatCommands::read(const std::string& path) {
    const std::string text = readFile(path);
    attached_ += text + (text.ends_with('\n') ? "\n" : "\n\n");
    note(std::to_string(text.size()) + " bytes will stand before your next message\n");
}

void ChatCommands::tokens(const std::string&) {
    note(std::to_string(session_.used()) + " of " + std::to_string(session_.capacity()) +
         " tokens of the context are used\n");
}

void ChatCommands::attention(const std::string& text) {
    // The last word is a list of layers if it could be one.
    const std::size_t space = text.find_last_of(" \t");
    const std::string last = space == text.npos ? "" : text.substr(space + 1);
    const bool chosen = !last.empty() && last.find_first_not_of("0123456789,-") == last.npos;
    note(session_.writeAttention(chosen ? trimmed(text.substr(0, space)) : text,
                                 chosen ? layersIn(last) : std::vector<std::size_t>()));
}

void ChatCommands::showEnd(const llm::Reply& reply) const {
    const Options& options = session_.options();
    if (options.quiet) return;
    std::string text = endNote(reply, session_.capacity(), "/clear starts anew, and -c N at the start makes it larger");
    if (reply.end == llm::ReplyEnd::length)
        text += "note: stopped after " + std::to_string(options.predict) + " tokens (-n)\n";
    note(text + faint(speeds(reply), stderrIsTerminal()) + "\n");
}

}  // namespace axial::cli
