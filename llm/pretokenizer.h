// The step before BPE: a text is cut into pieces, and no token crosses a cut.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace axial::llm {

// The matches of a regular expression become pieces of their own, and so does what lies between them (Hugging Face's
// Split with behavior Isolated), unless that is left out (Removed, inverted).
struct SplitRule {
    std::string pattern;
    bool keepUnmatched = true;
};

// What a name in the key tokenizer.ggml.pre stands for.
struct PreTokenizerRules {
    std::vector<std::string_view> names;
    std::vector<SplitRule> rules;  // each one is applied to the pieces that the one before has left
    bool ignoresMerges = false;    // a piece that is a token as a whole is that token, whatever the merges say
    bool addsBos = false;          // unless the file says otherwise
};

// The rules of a name, or nothing.
const PreTokenizerRules* findPreTokenizer(std::string_view name);

// All names, for a message.
std::string preTokenizerNames();

// A compiled list of rules. Immutable, cheap to copy, and shared by any number of threads.
class PreTokenizer {
  public:
    // UnsupportedError: a pattern that the regular expression engine (PCRE2) cannot compile, or reads differently.
    explicit PreTokenizer(std::span<const SplitRule> rules);

    // Appends the pieces of well-formed UTF-8 to `pieces`; joined they are the text (but for what a rule leaves out).
    // ValueError: a pattern that runs into the engine's limits of backtracking or memory.
    void split(std::string_view text, std::vector<std::string_view>& pieces) const;

  private:
    class Pattern;
    std::vector<std::shared_ptr<const Pattern>> patterns_;
};

}  // namespace axial::llm
