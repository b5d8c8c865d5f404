// Text to tokens and back: byte-level BPE, as Hugging Face tokenizers and llama.cpp do it.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "axial/llm/bpe.h"
#include "axial/llm/markers.h"
#include "axial/llm/pretokenizer.h"
#include "axial/llm/vocabulary.h"

namespace axial::llm {

// A part of a text, with its own answer to what becomes of markers in it.
struct TextPart {
    std::string text;
    SpecialTokens special = SpecialTokens::parse;
};

// Immutable: any number of threads may use one.
//
// Text is any bytes. Bytes that are not UTF-8 are encoded as U+FFFD, one for each maximal ill-formed subsequence
// (replaceInvalidUtf8), so encoding never fails because of them; NUL is a character like any other.
class Tokenizer {
  public:
    // UnsupportedError: a split rule that cannot be compiled (PreTokenizer).
    explicit Tokenizer(Vocabulary vocabulary);

    const Vocabulary& vocabulary() const { return *vocabulary_; }

    // The tokens of a text: its markers, and what BPE makes of the pieces between them. Nothing is added: for the
    // tokens that a model expects around a text see withEnds().
    std::vector<TokenId> encode(std::string_view text, SpecialTokens special = SpecialTokens::parse) const;

    // The tokens of all parts joined: a piece may reach over the border of two parts, a marker only if both parts allow
    // it. This is how a chat's messages are kept from spelling the markers of its template.
    std::vector<TokenId> encode(std::span<const TextPart> parts) const;

    // Puts the vocabulary's bos before the tokens and its eos behind them, where it adds them. No tokens stay none.
    std::vector<TokenId> withEnds(std::vector<TokenId> ids) const;

    // The bytes of tokens, joined, whether they are UTF-8 or not. Control tokens are left out unless showControl.
    // ValueError: an id that is not in the vocabulary.
    std::string bytes(std::span<const TokenId> ids, bool showControl = true) const;

    // The same as text, always well-formed: bytes in the middle that are not UTF-8 become U+FFFD, and a character that
    // the tokens do not complete is left out, exactly as when the same tokens are streamed (StreamDecoder).
    std::string decode(std::span<const TokenId> ids, bool showControl = true) const;

    // The bytes of one token. ValueError: an id that is not in the vocabulary.
    std::string_view piece(TokenId id) const;

    // Whether a token ends a reply.
    bool endsGeneration(TokenId id) const;

  private:
    std::vector<TokenId> encodeRanges(std::string_view text, std::span<const MarkerRange> ranges) const;

    std::unique_ptr<const Vocabulary> vocabulary_;  // the members below borrow from it
    PreTokenizer preTokenizer_;
    Markers markers_;
    Bpe bpe_;
};

}  // namespace axial::llm
