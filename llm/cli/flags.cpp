#include "flags.h"

namespace axial::cli {
namespace {

constexpr double maxWhole = 9e15, maxSize = 1 << 24;
constexpr unsigned replies = chat | generate, computes = replies | logits | perplexity | trace,
                   everywhere = 127 | render | perplexity | trace | diff;
constexpr std::string_view cacheTypes = "f32,f16,q8_0";

constexpr Values from(double least, double most) { return {.least = least, .most = most}; }
constexpr Values oneOf(std::string_view choices) { return {.choices = choices}; }
constexpr Values listOf(std::string_view choices) { return {.choices = choices, .list = true}; }
constexpr Values listFrom(double least, double most) { return {.least = least, .most = most, .list = true}; }

const Flag flags[] = {
    {info, "Model", "MODEL", "MODEL", "the model, as with -m", &Options::model},
    {everywhere & ~bench, "Model", "-m,--model", "FILE",
     "a GGUF file (of a split one any), or a folder with safetensors; without it, the small bundled model",
     &Options::model},
    {bench, "Model", "-m,--model", "LIST", "models, separated by commas; without it, the small bundled model",
     &Options::model},
    {everywhere & ~bench, "Model", "--pre-tokenizer", "NAME",
     "cut text by these rules instead of those that the file names (qwen2, llama-bpe, gpt-2, ...)",
     &Options::preTokenizer},
    {replies | info, "Model", "-c,--ctx-size", "N",
     "how many tokens prompt and reply may have together; 0: as many as the model was trained for",
     &Options::contextSize, from(0, maxSize)},
    {perplexity, "Model", "-c,--ctx-size", "N", "tokens of a window, each of which is read from an empty context",
     &Options::window, from(2, maxSize)},
    {computes | info, "Model", "-ctk,--cache-type-k", "TYPE", "number format of the cached keys: f32, f16 or q8_0",
     &Options::cacheTypeK, oneOf(cacheTypes)},
    {computes | info, "Model", "-ctv,--cache-type-v", "TYPE", "number format of the cached values",
     &Options::cacheTypeV, oneOf(cacheTypes)},
    {bench, "Model", "-ctk,--cache-type-k", "LIST", "number formats of the cached keys: f32, f16, q8_0",
     &Options::benchCacheK, listOf(cacheTypes)},
    {bench, "Model", "-ctv,--cache-type-v", "LIST", "number formats of the cached values", &Options::benchCacheV,
     listOf(cacheTypes)},
    {computes | bench | opbench, "Model", "--activations", "ARITHMETIC",
     "what activations are rounded to before they meet quantised weights: int8 is fastest, float32 exact, int16 nearly "
     "both",
     &Options::activations, oneOf("int8,int16,float32")},
    {diff, "Model", "--activations", "ARITHMETIC", "what activations are rounded to before they meet quantised weights",
     &Options::exactActivations, oneOf("int8,int16,float32")},
    {computes | diff, "Model", "-t,--threads", "N", "threads; 0: one for each core that this process may use",
     &Options::threads, from(0, 256)},
    {computes, "Model", "-tb,--threads-batch", "N", "threads while the prompt is read; 0: as many as -t says",
     &Options::threadsBatch, from(0, 256)},
    {replies, "Model", "-b,--batch-size", "N", "most prompt tokens between two looks at Ctrl-C", &Options::batch,
     from(1, maxSize)},
    {replies | perplexity, "Model", "-ub,--ubatch-size", "N", "most prompt tokens computed at once", &Options::ubatch,
     from(1, maxSize)},

    {chat, "Text", "-p,--prompt", "TEXT", "the message: one turn with it, then exit; \"-\" reads it from stdin",
     &Options::prompt},
    {generate | tokenize | perplexity | trace | diff, "Text", "-p,--prompt", "TEXT",
     "the text; \"-\" reads it from stdin", &Options::prompt},
    {detokenize, "Text", "-p,--prompt", "IDS", "token ids, separated by commas or spaces; \"-\" reads them from stdin",
     &Options::prompt},
    {replies | tokenize | detokenize | perplexity | trace | diff, "Text", "-f,--file", "FILE",
     "the same from a file; \"-\" is stdin", &Options::file},
    {detokenize | logits | trace | diff, "Text", "--ids", "IDS", "token ids, separated by commas or spaces",
     &Options::ids},
    {chat, "Text", "-sys,--system-prompt", "TEXT", "the system message: what the model is to be and do",
     &Options::system},
    {chat, "Text", "-sysf,--system-prompt-file", "FILE", "the system message from a file", &Options::systemFile},
    {render, "Text", "-f,--file", "FILE",
     "the conversation as JSON, {\"messages\": [...], \"tools\": [...]} or the list of messages alone; \"-\" is stdin",
     &Options::file},
    {chat | render, "Text", "--chat-template", "NAME",
     "qwen3, qwen2.5, chatml, llama3.2, gemma3, ..., instead of the template that the file has",
     &Options::chatTemplate},
    {chat | render, "Text", "--date", "TEXT", "what a template that writes today's date shall write: \"26 Jul 2024\"",
     &Options::date},
    {render, "Text", "--no-generation-prompt", "", "end behind the last message, not with the beginning of an answer",
     &Options::noGenerationPrompt},
    {replies, "Text", "--spec-ref", "FILE",
     "a text that the reply may quote, for --spec, which it turns on; may be given up to 8 times",
     &Options::references},
    {tokenize, "Text", "--no-special", "", "read markers such as <|im_end|> in the text as plain text",
     &Options::noSpecial},

    {replies, "Reply", "-n,--predict", "N", "at most N tokens of reply; -1: until the model ends it", &Options::predict,
     from(-1, maxWhole)},
    {replies, "Reply", "--stop", "TEXT", "end the reply before this text; may be given several times", &Options::stop},
    {replies, "Reply", "--keep-first", "N",
     "when the context is full, drop the middle and go on: the first N tokens stay, and of the others the newer half",
     &Options::keepFirst, from(0, maxSize)},
    {replies, "Reply", "--spec", "",
     "guess from the text so far what comes next and verify it in one pass: the same reply, faster where it repeats",
     &Options::speculate},
    {generate, "Reply", "--streams", "N",
     "N replies to the text, computed together, with the seeds -s, -s + 1, ...; printed one after the other",
     &Options::streams, from(1, 256)},
    {replies, "Reply", "--json-schema", "SCHEMA",
     "only JSON that this schema allows, a file or the schema itself; where the model thinks first, behind its "
     "thoughts",
     &Options::jsonSchema},
    {replies, "Reply", "--regex", "PATTERN", "only a text that this regular expression matches as a whole",
     &Options::regex},
    {replies, "Reply", "--grammar", "FILE", "only a text of this context-free grammar, in the syntax of Lark",
     &Options::grammar},
    {chat | render, "Reply", "--no-think", "", "answer without thinking first", &Options::noThink},
    {chat, "Reply", "--hide-thinking", "", "do not show the thoughts on a terminal", &Options::hideThinking},
    {chat, "Reply", "--show-thinking", "", "write the thoughts to a pipe or file, too", &Options::showThinking},

    {replies, "Sampling", "--temp", "T",
     "temperature; 0: always the best token. This and the next three have the "
     "model's advice as their default, else Qwen3's: 0.6, 20, 0.95, 0 with thinking, 0.7, 20, 0.8, 0 without",
     &Options::temperature, from(0, 1e6)},
    {replies, "Sampling", "--top-k", "K", "choose among the K best tokens; 0: all", &Options::topK, from(-1, maxWhole)},
    {replies, "Sampling", "--top-p", "P", "choose among the best tokens that together have this probability; 1: all",
     &Options::topP, from(0, 1)},
    {replies, "Sampling", "--min-p", "P", "leave out tokens less probable than P times the best; 0: none",
     &Options::minP, from(0, 1)},
    {replies, "Sampling", "--typical", "P",
     "locally typical sampling: choose among the tokens whose surprise is nearest to the expected one and that "
     "together "
     "have this probability (default 1: all)",
     &Options::typicalP, from(0, 1)},
    {replies, "Sampling", "--repeat-penalty", "X",
     "make tokens of the recent past X times less likely (default 1: "
     "off)",
     &Options::repeatPenalty, from(1e-6, 1e6)},
    {replies, "Sampling", "--repeat-last-n", "N", "how many tokens that past has (default 64); -1: all",
     &Options::repeatLastN, from(-1, maxWhole)},
    {replies, "Sampling", "--presence-penalty", "X", "taken off the logit of each token of the past (default 0)",
     &Options::presencePenalty, from(-1e6, 1e6)},
    {replies, "Sampling", "--frequency-penalty", "X", "taken off it for each time it stands there (default 0)",
     &Options::frequencyPenalty, from(-1e6, 1e6)},
    {replies, "Sampling", "-s,--seed", "N", "the same seed gives the same text; -1: another one every time",
     &Options::seed, from(-1, maxWhole)},
    {replies, "Sampling", "--logit-bias", "ID+X",
     "add X to a token's logit: 42+1.5 or 42-inf; may be given several times", &Options::logitBias},
    {replies, "Sampling", "--temp-last", "",
     "choose by top-k, typical, top-p, min-p and temperature in this order, as llama.cpp does, not by top-k, "
     "temperature, top-p, min-p, typical",
     &Options::temperatureLast},

    {logits, "Output", "--all", "", "the logits of all positions, not of the last alone", &Options::all},
    {logits, "Output", "-o,--output", "FILE", "a .npy file of float32 [positions, vocabulary]; \"-\" prints JSON",
     &Options::output},
    {generate, "Output", "--verify-cache", "N",
     "compare the logits behind every N-th step with those computed without a cache, and say the largest difference: "
     "it must be 0",
     &Options::verifyCache, from(1, maxWhole)},
    {perplexity, "Output", "--stride,--ppl-stride", "N",
     "windows begin N tokens apart, and the last N tokens of each count; 0: they do not overlap, and the second half "
     "of "
     "each counts",
     &Options::stride, from(0, maxSize)},
    {info, "Output", "--tensors", "", "list every tensor with its format, its axes and their extents",
     &Options::tensors},
    {info, "Output", "--statistics", "",
     "and with minimum, maximum, mean and root mean square of its numbers, all of which are read",
     &Options::statistics},
    {trace, "Output", "--layer", "L", "the values of this layer alone; the first is 0", &Options::layer,
     from(0, maxSize)},
    {trace, "Output", "--first", "N", "how many first values of each are shown", &Options::firstValues,
     from(0, maxSize)},
    {trace, "Output", "--without-norm", "",
     "an experiment: the size of the stream behind each layer as the model is, and with all norms left out",
     &Options::withoutNorm},
    {trace, "Output", "-o,--output", "FORMAT", "text, json, or a folder for <layer>/<name>.npy (default text)",
     &Options::output},
    {diff, "Text", "--reference", "PATH",
     "what to compare with: a folder of .npy files, or a .safetensors file with a tensor for each value. Names are "
     "those of axial trace (3/attn_norm, logits) or of modules in transformers (model.layers.3.input_layernorm). Its "
     "tokens are taken, if it has them and no others are given",
     &Options::reference},
    {diff, "Text", "--layer", "L", "only this layer, whose values names without a layer are; the first is 0",
     &Options::layer, from(0, maxSize)},
    {diff, "Output", "--tolerance", "X",
     "how far a number may be from the reference's, as a part of the largest number of that value "
     "(default 1e-4)",
     &Options::tolerance, from(0, 1)},
    {diff, "Output", "-o,--output", "FORMAT", "text or json (default text)", &Options::output, oneOf("text,json")},
    {info, "Output", "-o,--output", "FORMAT", "text or json (default text)", &Options::output, oneOf("text,json")},
    {tokenize, "Output", "-o,--output", "FORMAT", "ids, json or pieces (default ids)", &Options::output,
     oneOf("ids,json,pieces")},
    {bench, "Output", "-o,--output", "FORMAT", "md, csv, json or jsonl (default md)", &Options::output,
     oneOf("md,csv,json,jsonl")},
    {opbench, "Output", "-o,--output", "FORMAT", "table, json or jsonl (default table)", &Options::output,
     oneOf("table,json,jsonl")},
    {everywhere, "Output", "-q,--quiet", "", "no progress, no notes, no speeds on stderr", &Options::quiet},
    {everywhere, "Output", "-v,--verbose", "", "say on stderr what is done and with which settings", &Options::verbose},

    {bench, "Tests", "-p,--n-prompt", "LIST", "tests that read so many prompt tokens: pp512; 0: none",
     &Options::benchPrompt, listFrom(0, maxSize)},
    {bench, "Tests", "-n,--n-gen", "LIST", "tests that generate so many tokens: tg128; 0: none",
     &Options::benchGenerate, listFrom(0, maxSize)},
    {bench, "Tests", "-pg,--n-prompt-gen", "PP,TG",
     "a test that reads PP tokens and then generates TG; may be given several times", &Options::benchPairs},
    {bench, "Tests", "-d,--n-depth", "LIST", "tokens that are in the context already", &Options::benchDepth,
     listFrom(0, maxSize)},
    {bench, "Tests", "--streams", "LIST",
     "conversations that read or generate together: tg128 x 8 says how many tokens all of them get in a second",
     &Options::benchStreams, listFrom(1, 256)},
    {bench, "Tests", "--spec", "",
     "for each test that generates, four more: a reply that repeats its prompt (copy), and one that does not (free), "
     "both without and with speculation. Choosing tokens is in the time",
     &Options::speculate},
    {bench, "Tests", "--spec-text", "FILE", "what the free reply says, whatever the model does; else its own words",
     &Options::benchText},
    {opbench, "Tests", "--op", "LIST", "only these ops, separated by commas: dot, swigluDot, groupedAttention, ...",
     &Options::benchOps},
    {opbench, "Tests", "--format", "LIST",
     "only these number formats of weights, cache and table, separated by commas; F32 is also what other ops compute "
     "on. Without it: Q4_0, Q4_K, Q6_K, Q8_0 and F16",
     &Options::benchFormats},
    {opbench, "Tests", "--axes", "LIST",
     "other extents than Qwen3-0.6B's: \"seq=512,embed=1024\". Axes: seq and key, which may be given several times, "
     "embed, head, kvHead, channel, ff, vocab, expert, slot",
     &Options::benchAxes},
    {opbench, "Tests", "--from", "MODEL",
     "the extents and formats that a GGUF file really has: each kind of weights once, named by the first of them",
     &Options::benchFrom},
    {opbench, "Tests", "--cached", "",
     "leave what an op reads in the cache. Else it is spread over more memory than the caches hold", &Options::cached},
    {opbench, "Tests", "--target", "NAME",
     "compute with this instruction set, one of those that this machine has: AVX3+VNNI, AVX2, SCALAR, ...",
     &Options::benchTarget},
    {opbench, "Tests", "--min-time", "SECONDS", "repeat calls for so long, each time (default 0.05)", &Options::minTime,
     from(1e-6, 3600)},
    {bench | opbench, "Tests", "-r,--repetitions", "N", "how often each test is run", &Options::repetitions,
     from(1, 1000)},
    {bench | opbench, "Tests", "-t,--threads", "LIST", "threads; 0: one for each core that this process may use",
     &Options::benchThreads, listFrom(0, 256)},
    {bench, "Tests", "-b,--batch-size", "LIST", "prompt tokens handed over at once", &Options::benchBatch,
     listFrom(1, maxSize)},
    {bench, "Tests", "-ub,--ubatch-size", "LIST", "prompt tokens computed at once", &Options::benchUbatch,
     listFrom(1, maxSize)},
    {bench, "Tests", "--no-warmup", "", "do not run each test once before it counts", &Options::noWarmup},
    {bench, "Tests", "--progress", "", "say on stderr which test runs", &Options::progress},
};

}  // namespace

std::span<const Flag> allFlags() { return flags; }

std::vector<const Flag*> flagsOf(unsigned command) {
    std::vector<const Flag*> list;
    for (const Flag& flag : flags)
        if (flag.commands & command) list.push_back(&flag);
    return list;
}

}  // namespace axial::cli
