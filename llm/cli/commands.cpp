#include "commands.h"

#include "flags.h"

namespace axial::cli {

std::span<const Command> allCommands() {
    static constexpr Command commands[] = {
        {chat, "chat", "axial chat [-m MODEL] [-p TEXT]",
         "Talk with a model. With -p, or when stdin or stdout is no terminal: one turn, and only the answer on stdout.",
         runChat},
        {generate, "generate", "axial generate [-m MODEL] -p TEXT [-n N]",
         "Continue a text, token by token, with no chat template around it.", runGenerate},
        {serve, "serve", "axial serve [-m MODEL] [--host HOST] [--port PORT]",
         "Answer programs that speak the OpenAI API: chat, completions, tools, streams, many at once; docs/server.md.",
         runServe},
        {info, "info", "axial info [MODEL] [--tensors] [--statistics] [-o json]",
         "Show what a model file holds: hyperparameters with their named axes, parameters, formats, memory, tokenizer.",
         runInfo},
        {render, "render", "axial render [-m MODEL] -f MESSAGES.json",
         "Write the prompt that the model's chat template makes of a conversation, byte for byte.", runRender},
        {tokenize, "tokenize", "axial tokenize [-m MODEL] [-p TEXT | -f FILE]",
         "Show the token ids of a text, taken byte for byte from -p, -f or stdin.", runTokenize},
        {detokenize, "detokenize", "axial detokenize [-m MODEL] [--ids IDS | -f FILE]",
         "Write the text of token ids, from --ids, -f or stdin.", runDetokenize},
        {logits, "logits", "axial logits [-m MODEL] --ids IDS [--all] -o FILE",
         "Write the logits that a model gives after the last token, or after each.", runLogits},
        {trace, "trace", "axial trace [-m MODEL] [-p TEXT | --ids IDS] [--layer L] [-o FORMAT or FOLDER]",
         "Show every value of a forward pass by name: its axes, the range and size of its numbers, the first of them.",
         runTrace},
        {diff, "diff", "axial diff [-m MODEL] --reference PATH [-p TEXT | --ids IDS] [--layer L] [--tolerance X]",
         "Compare every value of a forward pass with saved ones, and say which is the first that departs, and how far. "
         "Exit code 0: all agree; 1: one does not.",
         runDiff},
        {perplexity, "perplexity", "axial perplexity [-m MODEL] -f FILE [-c N]",
         "Measure how well a model predicts a text: negative log likelihood and perplexity, in llama.cpp's windows.",
         runPerplexity},
        {attention, "attention", "axial attention [-m MODEL] -p TEXT -o FILE.html",
         "Write a page for a browser that shows what each head of each layer looks at while the model reads a text.",
         runAttention},
        {graph, "graph", "axial graph [-m MODEL] [-p TEXT] [-o txt|svg|dot|json]",
         "Show the ops of one step as they run, with axes, extents, formats, bytes, multiply-adds and times; equal "
         "layers "
         "once.",
         runGraph},
        {bench, "bench", "axial bench [-m MODEL,...] [-p N,...] [-n N,...]",
         "Measure tokens per second with llama-bench's tests and columns. Tokens are random; choosing and decoding "
         "them "
         "is not part of the time.",
         runBench},
        {opbench, "opbench", "axial opbench [--op OP,...] [--format FORMAT,...] [--axes AXIS=N,...] [--from MODEL]",
         "Measure each op by Google Benchmark: GB/s read, multiply-accumulates a second, and their shares of what this "
         "machine can do, measured in the same process.",
         runOpBench},
    };
    return commands;
}

}  // namespace axial::cli
