// Texts made from the tables of commands and flags.
#pragma once
#include <string>

#include "commands.h"

namespace axial::cli {

// What "axial --help" prints.
std::string helpText();
// What "axial <command> --help" prints.
std::string helpText(const Command& command);
// docs/command.md.
std::string manualPage();
// A completion script for bash.
std::string bashCompletion();

}  // namespace axial::cli
