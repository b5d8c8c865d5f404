// What reading a vocabulary from GGUF and from tokenizer.json have in common: pieces are named by their texts.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "axial/llm/vocabulary.h"

namespace axial::llm {

class VocabularyBuilder {
  public:
    // One text and one type for every token. Texts are as the file has them, and must stay valid until finish(): normal
    // tokens in the byte-level alphabet, bytes written <0x0A>, all others as themselves; if two are the same, the first
    // is the one that is found. `source` is the file, for messages. FileError: more than mostTokens.
    VocabularyBuilder(std::string source, std::vector<std::string_view> texts, const std::vector<TokenType>& types);

    // What is beyond any real vocabulary, and keeps the memory for one within bounds.
    static constexpr std::size_t mostTokens = 1 << 20, mostMerges = 1 << 20;

    // The next merge, in the order of the file. FileError for a piece that is no token, or more than mostMerges.
    void addMerge(std::string_view left, std::string_view right);
    // The same for a merge spelled "left right".
    void addMerge(std::string_view spelled);

    // The token with this text, or Vocabulary::noToken.
    TokenId find(std::string_view text) const;

    // Fills in what follows from the tokens: byteTokens, and the control tokens that end a reply. Everything else of
    // the vocabulary is the caller's to set, through vocabulary().
    Vocabulary finish();
    Vocabulary& vocabulary() { return vocabulary_; }

  private:
    [[noreturn]] void failMerge(std::string_view text, const std::string& why) const;
    TokenId piece(std::string_view text, std::string_view merge) const;

    struct Slot {
        std::uint32_t hash = 0;
        TokenId id = Vocabulary::noToken;
    };
    // The place of the slot that a text has, or would get.
    std::size_t slotOf(std::string_view text, std::uint32_t hash) const;

    Vocabulary vocabulary_;
    std::vector<std::string_view> texts_;
    std::vector<Slot> slots_;  // a hash table of the texts with linear probing; a power of two, at most two thirds full
    std::string joined_;
};

}  // namespace axial::llm
