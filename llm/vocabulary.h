// The vocabulary of a byte-level BPE tokenizer, from a GGUF file's metadata (tokenizer_json.h has the other source).
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "axial/llm/pretokenizer.h"
#include "axial/llm/token.h"

namespace axial::llm {

class GgufFile;

// The numbers are those of GGUF's tokenizer.ggml.token_type.
enum class TokenType : std::uint8_t {
    normal = 1,   // reached by merging
    unknown,      // stands for what has no token
    control,      // a marker that is no text: the end of a turn
    userDefined,  // a marker that is text: <think>
    unused,       // fills a number
    byte,         // one byte, written <0x0A>
};

// The bytes and the type of every token.
class TokenList {
  public:
    void reserve(std::size_t tokens, std::size_t bytes);
    void add(std::string_view bytes, TokenType type);

    std::size_t size() const { return types_.size(); }
    bool contains(TokenId id) const { return id >= 0 && static_cast<std::size_t>(id) < size(); }
    // The token must be contained.
    std::string_view bytes(TokenId id) const {
        const std::size_t i = static_cast<std::size_t>(id), begin = i == 0 ? 0 : ends_[i - 1];
        return std::string_view(bytes_).substr(begin, ends_[i] - begin);
    }
    TokenType type(TokenId id) const { return types_[static_cast<std::size_t>(id)]; }

  private:
    std::string bytes_;
    std::vector<std::size_t> ends_;
    std::vector<TokenType> types_;
};

// Two neighbours that become one token.
struct Merge {
    TokenId left, right, merged;
};

struct Vocabulary {
    std::string source;  // the file, for messages
    TokenList tokens;
    std::vector<Merge> merges;  // the first is the best
    // What a byte is before anything is merged; noToken where the vocabulary lacks it. Well-formed UTF-8 has no use
    // for 13 of the 256.
    std::array<TokenId, 256> byteTokens{};
    static constexpr TokenId noToken = -1;

    std::string preTokenizer;           // its name; empty where the file spells the rules out
    std::vector<SplitRule> splitRules;  // what the name stands for
    bool ignoresMerges = false;         // see PreTokenizerRules
    bool normalizesNfc = false;         // the file asks for Normalization Form C before anything else; GGUF cannot
    // Markers that take the white space beside them along.
    std::vector<TokenId> stripsLeft, stripsRight;

    std::optional<TokenId> bos, eos, pad;
    std::optional<TokenId> unknown;         // stands for bytes without a token; without it, those are left out
    bool addsBos = false, addsEos = false;  // whether a text for the model begins with bos and ends with eos
    // Every token that ends a reply, ascending: the file's eos, eot and eom, and the control tokens spelled as one.
    std::vector<TokenId> endOfGeneration;

    std::optional<std::string> chatTemplate;  // the Jinja text, if the file has one

    // Whether a token is looked for in text before that is cut: control, user-defined and unknown ones are.
    bool isMarker(TokenId id) const {
        const TokenType type = tokens.type(id);
        return type == TokenType::control || type == TokenType::userDefined || type == TokenType::unknown;
    }
    // The marker with this text, if there is one.
    std::optional<TokenId> marker(std::string_view text) const;
};

// Reads the keys tokenizer.ggml.* and tokenizer.chat_template. preTokenizer, if given, takes the place of
// tokenizer.ggml.pre.
// FileError: keys that are missing or contradict each other, naming the key and the token or merge.
// UnsupportedError: a tokenizer that is no byte-level BPE, or a pre-tokenizer without a name or with one that
// findPreTokenizer() does not know; the text says how to override it.
Vocabulary vocabularyOf(const GgufFile& file, const std::optional<std::string>& preTokenizer = std::nullopt);

}  // namespace axial::llm
