// The table of all flags: the parser, the help, the manual page and the shell completion are made from it.
#pragma once
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "options.h"

namespace axial::cli {

// Which subcommands know a flag: a sum of these.
enum : unsigned {
    chat = 1,
    generate = 2,
    info = 4,
    tokenize = 8,
    detokenize = 16,
    logits = 32,
    bench = 64,
    opbench = 128,
    render = 256,
    perplexity = 512,
    trace = 1024,
    attention = 4096,
    diff = 8192,
    serve = 1u << 20,
    graph = 16384,
};

// Where a flag's value goes; a bool is a switch without a value, a vector takes the flag several times.
using Target = std::variant<bool Options::*, std::string Options::*, std::optional<std::string> Options::*,
                            std::vector<std::string> Options::*, std::int64_t Options::*,
                            std::optional<std::int64_t> Options::*, std::optional<double> Options::*>;

// Which values a flag takes.
struct Values {
    double least = -std::numeric_limits<double>::infinity(), most = std::numeric_limits<double>::infinity();
    std::string_view choices = {};  // "f32,f16": the only values
    bool list = false;              // several, separated by commas
};

struct Flag {
    unsigned commands;
    std::string_view group;
    std::string_view names;  // "-c,--ctx-size"; "MODEL": by its place, without a name
    std::string_view value;  // what the value is called; empty: a switch
    std::string_view help;
    Target target;
    Values values = {};

    std::vector<std::string_view> spellings() const;
    // The spelling that errors and documents use: the long one.
    std::string_view longName() const;
    bool isPositional() const { return names.front() != '-'; }
    bool isSwitch() const { return value.empty(); }
};

// All of them, group by group.
std::span<const Flag> allFlags();
// Those of a subcommand.
std::vector<const Flag*> flagsOf(unsigned command);

// A mistake in how the command is used: exit code 2.
class UsageError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

// Puts the text of a value ("true" for a switch) where the flag says. UsageError if it is none of the flag's values.
void store(const Flag& flag, std::string_view text, Options& options);
// The default as text; empty if there is none.
std::string defaultOf(const Flag& flag);

// "a,b" as {"a", "b"}.
std::vector<std::string> splitList(std::string_view text, char separator = ',');
// A whole text as a number, or nothing.
std::optional<double> numberIn(std::string_view text);
std::optional<std::int64_t> wholeIn(std::string_view text);

}  // namespace axial::cli
