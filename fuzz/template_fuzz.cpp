// Any conversation through the chat templates, and any text as a template. The first byte chooses; see read().
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "axial/llm/chat_messages.h"
#include "axial/llm/chat_template.h"
#include "axial/llm/gguf.h"
#include "axial/llm/tokenizer.h"
#include "axial/llm/unicode.h"
#include "axial/tensor/error.h"

namespace {

using namespace axial::llm;

void require(bool holds) {
    if (!holds) std::abort();
}

struct Conversation {
    std::vector<Message> messages;
    RenderOptions options;
};

std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    for (std::size_t end; (end = text.find(separator)) != text.npos; text.remove_prefix(end + 1))
        parts.push_back(text.substr(0, end));
    parts.push_back(text);
    return parts;
}

std::vector<std::string> templateNames() {
    std::vector<std::string> names;
    const std::string all = ChatTemplate::names();  // "one, two, three"
    for (std::string_view name : split(all, ',')) names.emplace_back(name.substr(name.find_first_not_of(' ')));
    return names;
}

// A message as fields between \x1f: the role's first letter, the content, and, if they are there, the thoughts, the
// name of a function that is called and its arguments.
Message messageOf(std::string_view record) {
    const std::vector<std::string_view> fields = split(record, '\x1f');
    const auto field = [&](std::size_t i) { return i < fields.size() ? std::string(fields[i]) : std::string(); };
    Message message;
    message.role = field(0);
    for (const char* role : {"system", "user", "assistant", "tool"})
        if (message.role == std::string(role, 1)) message.role = role;
    message.content = field(1);
    if (fields.size() > 2) message.thoughts = field(2);
    if (fields.size() > 3) message.toolCalls.push_back({field(3), field(4)});
    return message;
}

// Behind the first byte: parts between NULs, the first the messages, the others tools. The byte's bits say whether the
// messages are JSON or fields between \x1e, and set the options.
Conversation read(unsigned bits, std::string_view input) {
    const std::vector<std::string_view> parts = split(input, '\0');
    Conversation conversation;
    if ((bits & 1u) != 0) {
        conversation.messages = messagesFromJson(parts[0]);
    } else {
        for (const std::string_view record : split(parts[0], '\x1e'))
            conversation.messages.push_back(messageOf(record));
    }
    conversation.options.generationPrompt = (bits & 2u) != 0;
    conversation.options.thinking = (bits & 4u) != 0;
    for (std::size_t i = 1; i < parts.size(); ++i) conversation.options.tools.emplace_back(parts[i]);
    return conversation;
}

std::size_t occurrences(std::string_view text, std::string_view word) {
    std::size_t count = 0;
    for (std::size_t at = 0; (at = text.find(word, at)) != text.npos; at += word.size()) ++count;
    return count;
}

// What stands in messages never becomes a marker, and nothing of it is lost.
void checkPrompt(const Tokenizer& tokenizer, const std::vector<TextPart>& parts) {
    const std::string_view start = "<|im_start|>";
    static const std::optional<TokenId> marker = tokenizer.vocabulary().marker(start);
    std::string text;
    std::size_t turns = 0;
    for (const TextPart& part : parts) {
        text += part.text;
        if (part.special == SpecialTokens::parse) turns += occurrences(part.text, start);
    }
    const std::vector<TokenId> ids = tokenizer.encode(parts);
    require(tokenizer.bytes(ids) == replaceInvalidUtf8(text));
    require(static_cast<std::size_t>(std::ranges::count(ids, marker)) == turns);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const Tokenizer tokenizer(
        vocabularyOf(GgufFile::open(std::filesystem::path(AXIAL_TEST_DATA) / "tiny-vocab.gguf")));
    static const std::vector<std::string> names = templateNames();
    if (size == 0) return 0;
    const std::string_view input(reinterpret_cast<const char*>(data + 1), size - 1);
    try {
        if ((data[0] & 8u) != 0) {
            const std::vector<Message> messages = {{"user", "Hello"}};
            checkPrompt(tokenizer, ChatTemplate::ofText(input).render(messages));
        } else {
            const Conversation conversation = read(data[0], input);
            for (const std::string& name : names) {
                try {
                    const ChatTemplate chosen(name);
                    checkPrompt(tokenizer, chosen.render(conversation.messages, conversation.options));
                } catch (const axial::Error&) {  // another may take it
                }
            }
        }
    } catch (const axial::Error&) {
    }
    return 0;
}
