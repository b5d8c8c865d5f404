// Text and token ids from flags, files and stdin.
#pragma once
#include <string>
#include <vector>

#include "axial/llm/token.h"
#include "options.h"

namespace axial::llm {
class Tokenizer;
}

namespace axial::cli {

// All bytes of a file; "-" is stdin. FileError.
std::string readFile(const std::string& path);

// The text that -p or -f says ("-": stdin); with neither, stdin, if that is no terminal. Byte for byte, nothing
// stripped. UsageError if both are given, or nothing is.
std::string inputText(const Options& options);

// Token ids from a text such as "1, 2 3", "[1, 2]" or {"ids": [1, 2]}. UsageError for anything else.
std::vector<llm::TokenId> idsIn(const std::string& text);

// The tokens of --ids, or of the text that -p, -f or stdin say, with the BOS that the model adds to texts. UsageError
// if both are given, or there is no token.
std::vector<llm::TokenId> tokensIn(const Options& options, const llm::Tokenizer& tokenizer);

}  // namespace axial::cli
