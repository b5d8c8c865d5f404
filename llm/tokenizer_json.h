// A vocabulary from tokenizer.json, the file of Hugging Face tokenizers.
#pragma once
#include <filesystem>

#include "axial/llm/vocabulary.h"

namespace axial::llm {

// Reads tokenizer.json (its own path, not the folder's), and from the same folder, where they exist:
// chat_template.jinja, tokenizer_config.json (bos, eos, pad, add_bos_token, chat_template), generation_config.json and
// config.json (eos_token_id, vocab_size: numbers without a token count as unused). Added tokens with "special": true
// are control tokens, the others userDefined; "normalized" makes no difference here, they are looked for in the text as
// it is given. Merges may be spelled "a b" or ["a", "b"]. FileError: files that are no JSON (with the byte), or that
// contradict themselves: a number with two tokens, a merge that is malformed or names a piece that is no token.
// UnsupportedError: anything that would change the tokens and is not done here, by its name in the file: another model
// than BPE, a normalizer but NFC, a pre-tokenizer but Split, Digits, Punctuation and ByteLevel.
Vocabulary vocabularyFromTokenizerJson(const std::filesystem::path& file);

}  // namespace axial::llm
