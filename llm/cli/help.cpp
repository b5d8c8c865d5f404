#include "help.h"

#include <algorithm>

#include "chat_commands.h"
#include "flags.h"

namespace axial::cli {
namespace {

// Breaks a text into lines of at most `width` characters, each after the first indented.
std::string wrapped(std::string_view text, std::size_t width, std::size_t indent) {
    std::string result;
    while (text.size() > width) {
        std::size_t end = text.rfind(' ', width);
        if (end == text.npos || end == 0) end = std::min(text.find(' '), text.size());
        result.append(text.substr(0, end)).append("\n").append(indent, ' ');
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return result.append(text);
}

std::string spelled(const Flag& flag) {
    std::string text;
    for (std::string_view spelling : flag.spellings()) text.append(text.empty() ? "" : ", ").append(spelling);
    if (!flag.isSwitch() && !flag.isPositional()) text.append(" ").append(flag.value);
    return text;
}

std::string described(const Flag& flag) {
    std::string text(flag.help);
    if (const std::string value = defaultOf(flag); !value.empty()) text += " (default " + value + ")";
    return text;
}

// Calls f(group, flags of the group) for each group that the command has.
template <class F>
void forEachGroup(unsigned command, F f) {
    std::vector<const Flag*> flags = flagsOf(command);
    for (auto from = flags.begin(); from != flags.end();) {
        const auto to = std::find_if(from, flags.end(), [&](const Flag* x) { return x->group != (*from)->group; });
        f((*from)->group, std::span(from, to));
        from = to;
    }
}

}  // namespace

std::string helpText() {
    std::string text = "Usage: axial COMMAND [FLAGS]\n\nRuns Qwen3 and its relatives from GGUF files.\n\nCommands:\n";
    for (const Command& command : allCommands()) {
        std::string line = "  " + std::string(command.name);
        line.resize(14, ' ');
        text += line + wrapped(command.summary, 84, 14) + "\n";
    }
    return text +
           "\nFlags:\n"
           "  -h, --help        this text; \"axial COMMAND --help\" lists the flags of a command\n"
           "  --version         the version, and the SIMD instructions that are used here\n"
           "  --completion-bash print a completion script: source <(axial --completion-bash)\n"
           "\nExit codes: 0 done, 1 failed, 2 wrong usage, 3 model or format not supported, 130 interrupted.\n";
}

std::string helpText(const Command& command) {
    std::string text = "Usage: " + std::string(command.usage) + "\n\n" + wrapped(command.summary, 98, 0) + "\n";
    forEachGroup(command.bit, [&](std::string_view group, std::span<const Flag* const> flags) {
        text.append("\n").append(group).append(":\n");
        for (const Flag* flag : flags) {
            std::string line = "  " + spelled(*flag);
            if (line.size() > 34)
                line += "\n" + std::string(36, ' ');
            else
                line.resize(36, ' ');
            text += line + wrapped(described(*flag), 64, 36) + "\n";
        }
    });
    return text + "\n  -h, --help                        this text\n";
}

std::string manualPage() {
    std::string text =
        "# The axial command\n\n"
        "Made from the command's own tables by `axial --markdown-help`; a test checks that it is up to date.\n\n"
        "Only generated text, or the output that was asked for, goes to stdout; everything else goes to stderr. Exit "
        "codes: 0 done, 1 failed at run time, 2 wrong usage, 3 model or format not supported, 130 interrupted.\n";
    for (const Command& command : allCommands()) {
        text.append("\n## axial ").append(command.name).append("\n\n    ").append(command.usage).append("\n\n");
        text.append(command.summary).append("\n");
        forEachGroup(command.bit, [&](std::string_view group, std::span<const Flag* const> flags) {
            text.append("\n| ").append(group).append(" | |\n|---|---|\n");
            for (const Flag* flag : flags) {
                std::string help = described(*flag);
                for (std::size_t at = help.find('|'); at != help.npos; at = help.find('|', at + 2))
                    help.insert(at, "\\");
                text += "| `" + spelled(*flag) + "` | " + help + " |\n";
            }
        });
        if (command.bit == chat)
            text += "\nIn a chat, lines that begin with / are commands:\n\n```\n" + ChatCommands::helpLines() + "```\n";
    }
    return text;
}

std::string bashCompletion() {
    std::string names, cases;
    for (const Command& command : allCommands()) {
        names.append(names.empty() ? "" : " ").append(command.name);
        std::string flags;
        for (const Flag* flag : flagsOf(command.bit)) {
            if (flag->isPositional()) continue;
            for (std::string_view spelling : flag->spellings()) flags.append(spelling).append(" ");
            if (!flag->values.choices.empty() && !flag->values.list) {
                std::string pattern, values(flag->values.choices);
                for (std::string_view spelling : flag->spellings())
                    pattern.append(pattern.empty() ? "" : "|").append(command.name).append(" ").append(spelling);
                std::replace(values.begin(), values.end(), ',', ' ');
                cases += "        \"" + pattern + "\") words=\"" + values + "\";;\n";
            }
        }
        cases += "        \"" + std::string(command.name) + " \"*) words=\"" + flags + "--help\";;\n";
    }
    for (std::size_t at = cases.find('|'); at != cases.npos; at = cases.find('|', at + 3))
        cases.replace(at, 1, "\"|\"");
    return "_axial() {\n"
           "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} words=\n"
           "    if ((COMP_CWORD == 1)); then words=\"" +
           names + " --help --version\"; else case \"${COMP_WORDS[1]} $before\" in\n" + cases +
           "    esac; fi\n"
           "    if [[ $word == -* || $words != -* ]]; then COMPREPLY=($(compgen -W \"$words\" -- \"$word\")); fi\n"
           "}\n"
           "complete -o default -F _axial axial\n";
}

}  // namespace axial::cli
