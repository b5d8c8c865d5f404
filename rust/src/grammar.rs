//! Constrained decoding by llguidance: which tokens keep a text within a grammar.

use crate::{guarded, slice, AxialText};
use llguidance::api::TopLevelGrammar;
use llguidance::toktrie::{InferenceCapabilities, TokEnv, TokRxInfo, TokTrie, TokenId, TokenizerEnv};
use llguidance::{Matcher, ParserFactory};
use std::ffi::{c_char, c_int, c_void, CStr};
use std::sync::Arc;

/// Writes the tokens of a UTF-8 text, at most `room` of them, and returns how many there are.
pub type Tokenize =
    unsafe extern "C" fn(owner: *const c_void, text: *const u8, size: usize, to: *mut u32, room: usize) -> usize;

struct Tokenizer {
    trie: TokTrie,
    tokenize: Tokenize,
    owner: *const c_void,
}
// SAFETY: axial_rust.h asks for a function that any thread may call, and an owner that outlives the vocabulary.
unsafe impl Send for Tokenizer {}
unsafe impl Sync for Tokenizer {}

impl Tokenizer {
    fn tokens_of(&self, text: &str) -> Vec<TokenId> {
        let mut tokens = vec![0; text.len()];
        // SAFETY: the function writes at most as many tokens as there is room for.
        let count =
            unsafe { (self.tokenize)(self.owner, text.as_ptr(), text.len(), tokens.as_mut_ptr(), tokens.len()) };
        tokens.truncate(count);
        // A tokenizer that normalises writes another text.
        let known = tokens.iter().all(|&token| (token as usize) < self.trie.vocab_size());
        if known && count <= text.len() && self.trie.decode_raw(&tokens) == text.as_bytes() {
            tokens
        } else {
            self.trie.greedy_tokenize(text.as_bytes())
        }
    }
}

impl TokenizerEnv for Tokenizer {
    fn tok_trie(&self) -> &TokTrie {
        &self.trie
    }
    fn tokenize_bytes(&self, bytes: &[u8]) -> Vec<TokenId> {
        self.trie.tokenize_with_greedy_fallback(bytes, |text| self.tokens_of(text))
    }
}

/// A vocabulary as llguidance wants it: a tree of all tokens.
pub struct AxialVocabulary {
    factory: ParserFactory,
}

/// A grammar and how far a text has come in it.
pub struct AxialGrammar {
    start: Matcher,
    now: Matcher,
}

fn vocabulary(
    words: &[Vec<u8>],
    ends: &[u32],
    tokenize: Tokenize,
    owner: *const c_void,
) -> anyhow::Result<AxialVocabulary> {
    let first = *ends.first().ok_or_else(|| anyhow::anyhow!("no token ends a text"))?;
    let trie = TokTrie::from(&TokRxInfo::new(words.len() as u32, first), words).with_eos_tokens(ends);
    let env: TokEnv = Arc::new(Tokenizer { trie, tokenize, owner });
    let slices = llguidance::earley::SlicedBiasComputer::general_slices();
    let mut factory = ParserFactory::new(&env, InferenceCapabilities::default(), &slices)?;
    factory.quiet();
    factory.limits_mut().verbose_errors = false;
    Ok(AxialVocabulary { factory })
}

fn grammar(vocabulary: &AxialVocabulary, kind: &str, text: &str) -> anyhow::Result<AxialGrammar> {
    let parser = vocabulary.factory.create_parser(TopLevelGrammar::from_tagged_str(kind, text)?)?;
    let mut start = Matcher::new(Ok(parser));
    start.is_accepting()?;
    Ok(AxialGrammar { now: start.clone(), start })
}

/// Hands a result to C++: 0 and `keep`, or 1 and the text of the error.
fn finish<T>(work: impl FnOnce() -> anyhow::Result<T>, error: *mut AxialText, keep: impl FnOnce(T)) -> c_int {
    let text = match guarded(work) {
        Ok(Ok(value)) => {
            keep(value);
            return 0;
        }
        Ok(Err(fault)) => format!("{fault:#}"),
        Err(fault) => fault,
    };
    // What llguidance appends for its own developers.
    let text = text.split("\n<").next().unwrap_or_default().trim();
    AxialText::put(text, error);
    1
}

/// See axial_rust.h, as for all that follows.
///
/// # Safety
/// Pointers are valid for their sizes, and what is returned can be written.
#[no_mangle]
pub unsafe extern "C" fn axial_vocabulary_new(
    bytes: *const u8,
    sizes: *const u32,
    tokens: usize,
    ends: *const u32,
    ends_count: usize,
    tokenize: Tokenize,
    owner: *const c_void,
    out: *mut *mut AxialVocabulary,
    error: *mut AxialText,
) -> c_int {
    let made = || {
        let mut at = 0;
        let words = slice(sizes, tokens).iter().map(|&size| {
            let word = slice(bytes.add(at), size as usize).to_vec();
            at += size as usize;
            word
        });
        vocabulary(&words.collect::<Vec<_>>(), slice(ends, ends_count), tokenize, owner)
    };
    finish(made, error, |made| out.write(Box::into_raw(Box::new(made))))
}

/// # Safety
/// As above.
#[no_mangle]
pub unsafe extern "C" fn axial_vocabulary_free(vocabulary: *mut AxialVocabulary) {
    drop(Box::from_raw(vocabulary));
}

/// # Safety
/// As above.
#[no_mangle]
pub unsafe extern "C" fn axial_grammar_new(
    vocabulary: *const AxialVocabulary,
    kind: *const c_char,
    text: *const u8,
    size: usize,
    out: *mut *mut AxialGrammar,
    error: *mut AxialText,
) -> c_int {
    let made = || {
        let kind = CStr::from_ptr(kind).to_str()?;
        grammar(&*vocabulary, kind, std::str::from_utf8(slice(text, size))?)
    };
    finish(made, error, |made| out.write(Box::into_raw(Box::new(made))))
}

/// # Safety
/// As above.
#[no_mangle]
pub unsafe extern "C" fn axial_grammar_clone(
    grammar: *const AxialGrammar,
    out: *mut *mut AxialGrammar,
    error: *mut AxialText,
) -> c_int {
    let made = || {
        let start = (*grammar).start.deep_clone();
        Ok(AxialGrammar { now: start.clone(), start })
    };
    finish(made, error, |made| out.write(Box::into_raw(Box::new(made))))
}

/// # Safety
/// As above.
#[no_mangle]
pub unsafe extern "C" fn axial_grammar_free(grammar: *mut AxialGrammar) {
    drop(Box::from_raw(grammar));
}

/// # Safety
/// As above.
#[no_mangle]
pub unsafe extern "C" fn axial_grammar_reset(grammar: *mut AxialGrammar, error: *mut AxialText) -> c_int {
    finish(|| Ok((*grammar).start.clone()), error, |start| (*grammar).now = start)
}

/// # Safety
/// As above.
#[no_mangle]
pub unsafe extern "C" fn axial_grammar_mask(
    grammar: *mut AxialGrammar,
    words: *mut u32,
    count: usize,
    error: *mut AxialText,
) -> c_int {
    let mask = || (*grammar).now.compute_mask_or_eos();
    finish(mask, error, |mask| {
        let mask = mask.as_slice();
        let size = mask.len().min(count);
        std::ptr::copy_nonoverlapping(mask.as_ptr(), words, size);
        std::slice::from_raw_parts_mut(words.add(size), count - size).fill(0);
    })
}

/// # Safety
/// As above.
#[no_mangle]
pub unsafe extern "C" fn axial_grammar_commit(grammar: *mut AxialGrammar, token: u32, error: *mut AxialText) -> c_int {
    let commit = || {
        let now = &mut (*grammar).now;
        // Where a text cannot go on, the matcher has stopped by itself.
        let over = now.is_stopped() && !now.is_error();
        if over && now.tok_env()?.tok_trie().eos_tokens().contains(&token) {
            return Ok(());
        }
        now.consume_token(token)
    };
    finish(commit, error, |()| ())
}

/// # Safety
/// As above.
#[no_mangle]
pub unsafe extern "C" fn axial_grammar_forced(
    grammar: *mut AxialGrammar,
    tokens: *mut u32,
    room: usize,
    count: *mut usize,
    error: *mut AxialText,
) -> c_int {
    let forced = || Ok((*grammar).now.compute_ff_tokens());
    finish(forced, error, |forced| {
        let size = forced.len().min(room);
        std::ptr::copy_nonoverlapping(forced.as_ptr(), tokens, size);
        count.write(size);
    })
}

/// # Safety
/// As above.
#[no_mangle]
pub unsafe extern "C" fn axial_grammar_valid(
    grammar: *mut AxialGrammar,
    tokens: *const u32,
    size: usize,
    count: *mut usize,
    error: *mut AxialText,
) -> c_int {
    let valid = || {
        let now = &mut (*grammar).now;
        let tokens = slice(tokens, size);
        let valid = now.validate_tokens(tokens)?;
        let ends = tokens.first().is_some_and(|token| match now.tok_env() {
            Ok(env) => env.tok_trie().eos_tokens().contains(token),
            Err(_) => false,
        });
        Ok(if ends { usize::from(now.is_accepting()?) } else { valid })
    };
    finish(valid, error, |valid| count.write(valid))
}
