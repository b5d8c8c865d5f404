// Structured output: only tokens that keep the reply within a grammar.
#pragma once
#include <memory>
#include <string_view>

#include "axial/llm/logit_processor.h"

namespace axial::llm {

class Tokenizer;

enum class GrammarKind {
    jsonSchema,  // a JSON schema (2020-12 and older drafts)
    regex,       // a regular expression (Rust's, without look-around) that the whole reply matches
    lark,        // a context-free grammar in the syntax of Lark, from its rule "start" on
};

// Whether axial was built with its Rust component, without which there are none.
bool hasGrammars();

// A processor that forbids every token after which the reply could no longer become a text of the grammar (by the crate
// llguidance). A token that ends a reply is allowed where the text is complete, and nothing else where it cannot go on.
// Markers (<|im_end|>, <think>) are no text: a grammar's text that spells one is written in other tokens. Where only
// one text can come next, so can only its own tokens, as the tokenizer cuts it: those are forced().
//
// What must be known of the vocabulary is worked out once (half a second for 150,000 tokens), and shared by all
// grammars of a tokenizer as long as there is one. The tokenizer lives as long as its grammars.
//
// UnsupportedError: a schema with keywords that cannot be enforced, a grammar that is too large or wrong, with its
// text; a vocabulary in which no token ends a reply; axial without its Rust component. ValueError: a schema that is no
// JSON. The processor's functions throw ValueError where the grammar becomes too complex for one step, and for a
// committed token that was forbidden.
std::unique_ptr<LogitProcessor> makeGrammar(std::shared_ptr<const Tokenizer> tokenizer, GrammarKind kind,
                                            std::string_view text);

}  // namespace axial::llm
