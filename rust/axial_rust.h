/* What axial takes from Rust crates (src/): chat templates by MiniJinja and constrained decoding by llguidance. All texts
 * are UTF-8 with a size, without a NUL at the end. Functions may be called on any thread; one object on one at a time. */
#pragma once
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

/* Given to the caller, who frees it; a null pointer is no text. */
typedef struct {
    uint8_t* bytes;
    size_t size;
} AxialText;
void axial_text_free(AxialText text);

enum {
    AXIAL_TEMPLATE_SYNTAX = 1,    /* it does not compile */
    AXIAL_TEMPLATE_RENDERING = 2, /* something in it fails with these variables */
    AXIAL_TEMPLATE_RAISED = 3,    /* it has called raise_exception, with the text */
    AXIAL_TEMPLATE_FUEL = 4,      /* it needs more steps than `fuel` */
    AXIAL_TEMPLATE_PANIC = 5      /* a mistake in the component */
};

/* Writes the time now by a format of strftime (whose text ends nowhere but at its size) to `to`, and returns the length;
 * 0 if it does not fit into `room`. Must not throw. */
typedef size_t (*AxialClock)(const uint8_t* format, size_t size, uint8_t* to, size_t room);

/* Renders a Jinja template with the variables of a JSON object. 0: `out` is the text, and `fuel` what is left of it; else
 * one of the above, `out` says what is wrong, and `line` in which line of the template, 0 if in none. */
int axial_template_render(const uint8_t* text, size_t text_size, const uint8_t* variables, size_t variables_size,
                          AxialClock clock, uint64_t* fuel, size_t* line, AxialText* out);

/* A vocabulary as grammars want it, and a grammar with how far a text has come in it. Functions that can fail return 0,
 * or 1 and say in `error` what is wrong. */
typedef struct AxialVocabulary AxialVocabulary;
typedef struct AxialGrammar AxialGrammar;

/* Writes the tokens of a UTF-8 text, at most `room` of them, and returns how many there are. Any thread may call it; it
 * must not throw. */
typedef size_t (*AxialTokenize)(const void* owner, const uint8_t* text, size_t size, uint32_t* to, size_t room);

/* The bytes of all tokens, one behind the other, and their sizes; those that are no text begin with the byte 0xFF. `ends`
 * are the tokens that end a text. The owner must live as long as the vocabulary. */
int axial_vocabulary_new(const uint8_t* bytes, const uint32_t* sizes, size_t tokens, const uint32_t* ends,
                         size_t ends_count, AxialTokenize tokenize, const void* owner, AxialVocabulary** out,
                         AxialText* error);
void axial_vocabulary_free(AxialVocabulary* vocabulary);

/* `kind`: "json" (a JSON schema), "regex" or "lark". The vocabulary may be freed before the grammar, its owner not. */
int axial_grammar_new(const AxialVocabulary* vocabulary, const char* kind, const uint8_t* text, size_t size,
                      AxialGrammar** out, AxialText* error);
/* The same grammar, at the beginning of a text. */
int axial_grammar_clone(const AxialGrammar* grammar, AxialGrammar** out, AxialText* error);
void axial_grammar_free(AxialGrammar* grammar);
int axial_grammar_reset(AxialGrammar* grammar, AxialText* error);
/* One bit for each token, the lowest bit of a word first: whether it may come next. */
int axial_grammar_mask(AxialGrammar* grammar, uint32_t* words, size_t count, AxialText* error);
int axial_grammar_commit(AxialGrammar* grammar, uint32_t token, AxialText* error);
/* The tokens that must come next; at most `room` of them are written. */
int axial_grammar_forced(AxialGrammar* grammar, uint32_t* tokens, size_t room, size_t* count, AxialText* error);
/* How many of the tokens, from the first on, may come next. */
int axial_grammar_valid(AxialGrammar* grammar, const uint32_t* tokens, size_t size, size_t* count, AxialText* error);

#ifdef __cplusplus
}
#endif
