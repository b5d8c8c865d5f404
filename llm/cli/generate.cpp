#include <cstdio>
#include <memory>

#include "axial/llm/conversation.h"
#include "axial/llm/stream_decoder.h"
#include "checked_engine.h"
#include "commands.h"
#include "flags.h"
#include "input.h"
#include "interrupt.h"
#include "open_model.h"
#include "reply_settings.h"
#include "speculation.h"
#include "streams.h"
#include "structured_output.h"
#include "terminal.h"

namespace axial::cli {
namespace {

// One reply, printed as it grows.
template <class M>
llm::Reply generateOne(const M& engine, std::size_t capacity, const llm::Tokenizer& tokenizer,
                       std::span<const llm::TokenId> prompt, llm::Sampler& sampler,
                       const llm::ReplyOptions& replyOptions, const Options& options) {
    llm::Conversation<M> conversation(engine, engine.makeCache(capacity, cacheFormats(options)));
    bool lineEnded = true;
    const llm::Reply reply =
        conversation.reply(prompt, sampler, llm::StreamDecoder(tokenizer), replyOptions, [&](std::string_view piece) {
            print(piece);
            lineEnded = piece.ends_with('\n');
        });
    if (stdoutIsTerminal() && !lineEnded) print("\n");
    if (!options.quiet) note(endNote(reply, capacity));
    if (!options.quiet && (stdoutIsTerminal() || options.verbose))
        note(faint(speeds(reply), stderrIsTerminal()) + "\n");
    return reply;
}

// What --verify-cache found. Returns whether all was equal.
bool showVerified(const CheckedEngine& engine) {
    char difference[32];
    std::snprintf(difference, sizeof difference, "%g", engine.largestDifference());
    note("cache verified: " + std::to_string(engine.compared()) + " positions compared, " +
         std::to_string(engine.unequal()) + " of them unequal, largest difference of a logit " + difference + "\n");
    return engine.unequal() == 0;
}

}  // namespace

int runGenerate(const Options& options) {
    if (options.streams > 1 && options.verifyCache > 0)
        throw UsageError("--verify-cache compares one conversation; leave --streams out");
    const std::string text = inputText(options);
    const llm::LoadedModel loaded = openModel(options.model, options);
    const llm::Tokenizer& tokenizer = *loaded.tokenizer;
    const llm::SamplerSettings settings = samplingIn(options, loaded.file, false);
    llm::Sampler sampler(settings, structureIn(options, loaded.tokenizer));
    llm::ReplyOptions replyOptions = replyOptionsIn(options, tokenizer.vocabulary().endOfGeneration);

    std::vector<llm::TokenId> prompt = tokenizer.encode(text);
    if (const auto bos = tokenizer.vocabulary().bos; tokenizer.vocabulary().addsBos && bos)
        prompt.insert(prompt.begin(), *bos);
    if (prompt.empty()) throw UsageError("the text is empty; the model needs at least one token to go on from");
    const Engine engine = makeEngine(loaded, options);
    const std::size_t capacity = contextSize(loaded.model->hyperparameters(), options);
    if (options.verbose)
        note(std::to_string(prompt.size()) + " tokens of prompt, context " + std::to_string(capacity) + ", " +
             described(sampler.settings()) + ", seed " + std::to_string(sampler.seed()) + "\n");

    const Interruptible interruptible;
    if (options.streams > 1) return generateStreams(engine, loaded.tokenizer, prompt, settings, replyOptions, options);
    const std::unique_ptr<llm::Speculator> drafter = Speculation(options, tokenizer).drafter(speculates(options));
    replyOptions.drafter = drafter.get();
    bool verified = true;
    llm::Reply reply;
    if (options.verifyCache > 0) {
        const CheckedEngine checked(engine, capacity, cacheFormats(options),
                                    static_cast<std::size_t>(options.verifyCache));
        reply = generateOne(checked, capacity, tokenizer, prompt, sampler, replyOptions, options);
        verified = showVerified(checked);
    } else {
        reply = generateOne(engine, capacity, tokenizer, prompt, sampler, replyOptions, options);
    }
    return reply.end == llm::ReplyEnd::cancelled ? interrupted : verified ? done : failed;
}

}  // namespace axial::cli
