#include "axial/llm/conversation.h"
#include "axial/llm/stream_decoder.h"
#include "commands.h"
#include "flags.h"
#include "input.h"
#include "interrupt.h"
#include "open_model.h"
#include "reply_settings.h"
#include "terminal.h"

namespace axial::cli {

int runGenerate(const Options& options) {
    const std::string text = inputText(options);
    const llm::CacheFormats formats = cacheFormats(options);
    const llm::LoadedModel loaded = openModel(options.model, options);
    const llm::Tokenizer& tokenizer = *loaded.tokenizer;
    llm::Sampler sampler(samplingIn(options, loaded.file, false));
    const llm::ReplyOptions replyOptions = replyOptionsIn(options, tokenizer.vocabulary().endOfGeneration);

    std::vector<llm::TokenId> prompt = tokenizer.encode(text);
    if (const auto bos = tokenizer.vocabulary().bos; tokenizer.vocabulary().addsBos && bos)
        prompt.insert(prompt.begin(), *bos);
    if (prompt.empty()) throw UsageError("the text is empty; the model needs at least one token to go on from");
    const Engine engine = makeEngine(loaded, options);
    llm::Conversation conversation(engine,
                                   engine.makeCache(contextSize(loaded.model->hyperparameters(), options), formats));
    if (options.verbose)
        note(std::to_string(prompt.size()) + " tokens of prompt, context " + std::to_string(conversation.capacity()) +
             ", " + described(sampler.settings()) + ", seed " + std::to_string(sampler.seed()) + "\n");

    bool lineEnded = true;
    const Interruptible interruptible;
    const llm::Reply reply =
        conversation.reply(prompt, sampler, llm::StreamDecoder(tokenizer), replyOptions, [&](std::string_view piece) {
            print(piece);
            lineEnded = piece.ends_with('\n');
        });
    if (stdoutIsTerminal() && !lineEnded) print("\n");
    if (reply.end == llm::ReplyEnd::contextFull && !options.quiet)
        note("note: the context of " + std::to_string(conversation.capacity()) +
             " tokens is full; -c N makes it larger\n");
    if (!options.quiet && (stdoutIsTerminal() || options.verbose))
        note(faint(speeds(reply), stderrIsTerminal()) + "\n");
    return reply.end == llm::ReplyEnd::cancelled ? interrupted : done;
}

}  // namespace axial::cli
