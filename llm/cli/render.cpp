#include "axial/llm/chat_messages.h"
#include "commands.h"
#include "flags.h"
#include "input.h"
#include "open_model.h"
#include "terminal.h"

namespace axial::cli {
namespace {

std::string conversationIn(const Options& options) {
    if (!options.file && stdinIsTerminal())
        throw UsageError("there is no conversation: give it in a file with -f FILE, or through a pipe");
    return readFile(options.file.value_or("-"));
}

}  // namespace

int runRender(const Options& options) {
    const llm::ChatInput input = llm::chatFromJson(conversationIn(options));
    const llm::Tokenizer tokenizer = openTokenizer(options);
    const llm::ChatTemplate chat = openTemplate(tokenizer.vocabulary(), options);
    if (!options.quiet) {
        for (const std::string& key : input.others) note("note: \"" + key + "\" changes nothing here\n");
        if (options.noThink && chat.thinks() && !chat.canSkipThinking())
            note("note: " + std::string(chat.name()) + " always thinks; --no-think changes nothing\n");
    }
    std::string text;
    for (const llm::TextPart& part : chat.render(input.messages, {.generationPrompt = !options.noGenerationPrompt,
                                                                 .thinking = !options.noThink,
                                                                 .tools = input.tools,
                                                                 .date = options.date}))
        text += part.text;
    print(text);
    return done;
}

}  // namespace axial::cli
