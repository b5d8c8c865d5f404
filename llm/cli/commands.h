// The subcommands.
#pragma once
#include <span>
#include <string_view>

#include "options.h"

namespace axial::cli {

int runChat(const Options&);
int runGenerate(const Options&);
int runServe(const Options&);
int runInfo(const Options&);
int runRender(const Options&);
int runTokenize(const Options&);
int runDetokenize(const Options&);
int runLogits(const Options&);
int runTrace(const Options&);
int runPerplexity(const Options&);
int runDiff(const Options&);
int runAttention(const Options&);
int runGraph(const Options&);
int runBench(const Options&);
int runOpBench(const Options&);

struct Command {
    unsigned bit;  // in Flag::commands
    std::string_view name, usage, summary;
    int (*run)(const Options&);  // returns the exit code, or throws
};
std::span<const Command> allCommands();

// Exit codes.
inline constexpr int done = 0, failed = 1, misused = 2, unsupported = 3, interrupted = 130;

}  // namespace axial::cli
