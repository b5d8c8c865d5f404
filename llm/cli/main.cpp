// The axial command: finds the subcommand, runs it, and turns what goes wrong into a line on stderr and an exit code.
#include <exception>
#include <new>
#include <string>

#include "axial/llm/reply.h"
#include "axial/ops/instruction_set.h"
#include "axial/tensor/error.h"
#include "command_line.h"
#include "commands.h"
#include "flags.h"
#include "help.h"
#include "interrupt.h"
#include "terminal.h"

namespace axial::cli {
namespace {

int fail(int code, const std::string& who, const std::string& what) {
    note(who + ": " + what + "\n");
    return code;
}

int runCommand(const Command& command, const std::vector<std::string>& arguments) {
    const std::string who = "axial " + std::string(command.name);
    try {
        const CommandLine line = readCommandLine(command, arguments);
        if (line.help) {
            print(helpText(command));
            return done;
        }
        return command.run(line.options);
    } catch (const ClosedPipe&) {
        return done;
    } catch (const UsageError& e) {
        return fail(misused, who, e.what() + std::string("\n\"") + who + " --help\" lists the flags.");
    } catch (const llm::ContextFullError& e) {
        return fail(failed, who, e.what() + std::string(" (-c)"));
    } catch (const UnsupportedError& e) {
        return fail(unsupported, who, e.what());
    } catch (const std::bad_alloc&) {
        return fail(failed, who,
                    "not enough memory. A smaller context (-c), or a cache of q8_0 (-ctk, -ctv), takes less");
    } catch (const std::exception& e) {
        return fail(failed, who, e.what());
    }
}

int run(const std::vector<std::string>& arguments) {
    if (arguments.empty()) {
        note(helpText());
        return misused;
    }
    const std::string& first = arguments.front();
    if (first == "-h" || first == "--help" || first == "help") {
        print(helpText());
    } else if (first == "--version") {
        print("axial " AXIAL_VERSION " (" + instructionSet() + ")\n");
    } else if (first == "--markdown-help") {
        print(manualPage());
    } else if (first == "--completion-bash") {
        print(bashCompletion());
    } else {
        std::vector<std::string_view> names;
        for (const Command& command : allCommands()) {
            if (command.name == first) return runCommand(command, {arguments.begin() + 1, arguments.end()});
            names.push_back(command.name);
        }
        const std::string near = nearest(first, names);
        return fail(misused, "axial",
                    "unknown command \"" + first + "\"" + (near.empty() ? "" : "; did you mean " + near + "?") +
                        "\n\"axial --help\" lists the commands.");
    }
    return done;
}

}  // namespace
}  // namespace axial::cli

int main(int count, char** arguments) {
    using namespace axial::cli;
    handleSignals();
    try {
        return run({arguments + 1, arguments + count});
    } catch (const ClosedPipe&) {
        return done;
    } catch (const std::exception& e) {
        note(std::string("axial: ") + e.what() + "\n");
        return failed;
    }
}
