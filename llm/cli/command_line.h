// Reads the arguments of a subcommand.
#pragma once
#include <string>
#include <vector>

#include "commands.h"
#include "options.h"

namespace axial::cli {

struct CommandLine {
    Options options;
    bool help = false;  // -h or --help stood among the arguments; options are not read then
};

// `arguments`: what follows the subcommand's name. Throws UsageError.
CommandLine readCommandLine(const Command& command, const std::vector<std::string>& arguments);

// The candidate nearest to a mistyped word, if one is near.
std::string nearest(std::string_view word, const std::vector<std::string_view>& candidates);

}  // namespace axial::cli
