#include "streams.h"

#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "axial/llm/batch.h"
#include "axial/llm/stream_decoder.h"
#include "commands.h"
#include "speculation.h"
#include "structured_output.h"
#include "terminal.h"

namespace axial::cli {
namespace {

struct Stream {
    llm::Conversation<Engine> conversation;
    llm::Sampler sampler;
    std::unique_ptr<llm::Speculator> drafter;
    std::string text = {};
    llm::Reply reply = {};
    bool over = false;
};

double secondsSince(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

int generateStreams(const Engine& engine, const std::shared_ptr<const llm::Tokenizer>& tokenizer,
                    std::span<const llm::TokenId> prompt, const llm::SamplerSettings& settings,
                    const llm::ReplyOptions& replyOptions, const Options& options) {
    const auto count = static_cast<std::size_t>(options.streams);
    std::size_t capacity = contextSize(engine.model().hyperparameters(), options);
    if (options.predict >= 0) capacity = std::min(capacity, prompt.size() + static_cast<std::size_t>(options.predict));
    const llm::CacheFormats formats = cacheFormats(options);
    const llm::Sampler first(settings, structureIn(options, tokenizer));
    const Speculation speculation(options, *tokenizer);

    // The prompt is read once; each stream begins with a copy of its keys and values.
    const auto started = std::chrono::steady_clock::now();
    llm::Conversation<Engine> trunk(engine, engine.makeCache(capacity, formats));
    llm::Sampler unused(settings);
    llm::ReplyOptions reading = replyOptions;
    reading.maxTokens = 0;
    const llm::Reply read =
        trunk.reply(prompt, unused, llm::StreamDecoder(*tokenizer), reading, [](std::string_view) {});
    if (read.end == llm::ReplyEnd::cancelled) return interrupted;
    const double readSeconds = secondsSince(started);

    std::vector<Stream> streams;
    streams.reserve(count);  // conversations must not move while they are in the batch
    llm::Batch<Engine> batch(engine, replyOptions.batch);
    for (std::size_t i = 0; i < count; ++i) {
        llm::SamplerSettings own = settings;
        own.seed = first.seed() + i;
        streams.push_back({trunk.fork(trunk.history().size(), capacity),
                           llm::Sampler(own, structureIn(options, tokenizer)),
                           speculation.drafter(speculates(options))});
        Stream& stream = streams.back();
        llm::ReplyOptions its = replyOptions;
        its.drafter = stream.drafter.get();
        batch.join(stream.conversation,
                   stream.conversation.begin(prompt, stream.sampler, llm::StreamDecoder(*tokenizer), its,
                                             [&stream](std::string_view piece) { stream.text += piece; }));
    }

    const auto begun = std::chrono::steady_clock::now();
    std::size_t printed = 0, tokens = 0;
    bool cancelled = false;
    while (printed < count) {
        for (llm::Conversation<Engine>* conversation : batch.step())
            for (Stream& stream : streams)
                if (&stream.conversation == conversation) {
                    stream.reply = batch.leave(*conversation);
                    stream.over = true;
                    tokens += stream.reply.tokens.size();
                    cancelled = cancelled || stream.reply.end == llm::ReplyEnd::cancelled;
                }
        for (; printed < count && streams[printed].over; ++printed) {
            const std::string& text = streams[printed].text;
            if (!options.quiet)
                note("[ " + std::to_string(printed + 1) + " of " + std::to_string(count) + ", seed " +
                     std::to_string(streams[printed].sampler.seed()) + " ]\n");
            print(text);
            if (!text.ends_with('\n')) print("\n");
        }
    }
    if (!options.quiet && (stdoutIsTerminal() || options.verbose)) {
        char line[160];
        std::snprintf(line, sizeof line, "[ Prompt: %.1f t/s | Generation: %.1f t/s, %zu streams together ]",
                      static_cast<double>(read.promptTokens) / readSeconds,
                      static_cast<double>(tokens) / secondsSince(begun), count);
        note(faint(line, stderrIsTerminal()) + "\n");
    }
    return cancelled ? interrupted : done;
}

}  // namespace axial::cli
