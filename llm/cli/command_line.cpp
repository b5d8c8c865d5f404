#include "command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <numeric>

#include "flags.h"

namespace axial::cli {
namespace {

[[noreturn]] void failUnknown(const Command& command, std::string_view argument) {
    std::vector<std::string_view> known;
    for (const Flag* flag : flagsOf(command.bit))
        for (std::string_view spelling : flag->spellings()) known.push_back(spelling);
    const std::string near = nearest(argument, known);
    throw UsageError("unknown argument \"" + std::string(argument) + "\"" +
                     (near.empty() ? "" : "; did you mean " + near + "?"));
}

const Flag* flagSpelled(unsigned command, std::string_view spelling) {
    for (const Flag* flag : flagsOf(command))
        for (std::string_view s : flag->spellings())
            if (s == spelling && !flag->isPositional()) return flag;
    return nullptr;
}

// Gives every flag its long name, since CLI11 would read llama.cpp's one-dash words (-ctk) as -c with the value "tk",
// and looks for --help; values are not looked into.
std::vector<std::string> normalised(const Command& command, const std::vector<std::string>& arguments, bool& help) {
    std::vector<std::string> result;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const std::string& argument = arguments[i];
        const std::size_t equals = std::min(argument.find('='), argument.size());
        const std::string spelling = argument.substr(0, equals);
        if (argument == "-h" || argument == "--help") {
            help = true;
        } else if (const Flag* flag = flagSpelled(command.bit, spelling)) {
            const bool separate = equals == argument.size() && !flag->isSwitch();
            if (separate && i + 1 == arguments.size())
                throw UsageError(spelling + " needs a value: " + spelling + " " + std::string(flag->value));
            result.emplace_back(flag->longName());
            if (separate) result.push_back(arguments[++i]);
            if (equals < argument.size()) result.push_back(argument.substr(equals + 1));
        } else if (argument.size() > 1 && argument[0] == '-') {
            failUnknown(command, argument);
        } else {
            result.push_back(argument);
        }
    }
    return result;
}

}  // namespace

CommandLine readCommandLine(const Command& command, const std::vector<std::string>& arguments) {
    CommandLine line;
    std::vector<std::string> words = normalised(command, arguments, line.help);
    if (line.help) return line;

    CLI::App parser;
    parser.set_help_flag();
    for (const Flag* flag : flagsOf(command.bit)) {
        std::string names(flag->isPositional() ? flag->names : flag->longName());
        const auto set = [flag, &line](const std::vector<std::string>& values) {
            for (const std::string& value : values) store(*flag, value, line.options);
        };
        if (flag->isSwitch())
            parser.add_flag_callback(names, [flag, &line] { store(*flag, "true", line.options); });
        else
            parser.add_option_function<std::vector<std::string>>(names, set)
                ->expected(1)
                ->allow_extra_args(false)
                ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    }
    std::reverse(words.begin(), words.end());  // as CLI11 wants them
    try {
        parser.parse(words);
    } catch (const CLI::ExtrasError&) {
        failUnknown(command, parser.remaining().front());
    } catch (const CLI::ParseError& e) {
        throw UsageError(e.what());
    }
    return line;
}

std::string nearest(std::string_view word, const std::vector<std::string_view>& candidates) {
    std::string_view best;
    std::size_t least = std::max<std::size_t>(2, word.size() / 3) + 1;
    for (std::string_view candidate : candidates) {
        // Levenshtein's distance, a row at a time.
        std::vector<std::size_t> row(candidate.size() + 1);
        std::iota(row.begin(), row.end(), std::size_t{0});
        for (std::size_t i = 0; i < word.size(); ++i) {
            std::size_t diagonal = std::exchange(row[0], i + 1);
            for (std::size_t j = 0; j < candidate.size(); ++j) {
                const std::size_t replaced = diagonal + (word[i] != candidate[j]);
                diagonal = row[j + 1];
                row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
            }
        }
        if (row.back() < least && candidate.size() > 2) {
            least = row.back();
            best = candidate;
        }
    }
    return std::string(best);
}

}  // namespace axial::cli
