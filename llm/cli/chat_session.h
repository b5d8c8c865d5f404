// A chat: messages, the template that makes a prompt of them, and the conversation that goes on from it.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "axial/llm/chat_template.h"
#include "axial/llm/conversation.h"
#include "open_model.h"
#include "reply_printer.h"
#include "speculation.h"
#include "structured_output.h"

namespace axial::cli {

class ChatSession {
  public:
    // Borrows the model. Throws UnsupportedError for a chat template that is not known.
    ChatSession(const llm::LoadedModel& loaded, const Options& options);
    ChatSession(const ChatSession&) = delete;  // its parts refer to each other
    ChatSession& operator=(const ChatSession&) = delete;

    // "Qwen3 0.6B (qwen3 0.6B Q8_0)".
    std::string modelName() const;
    // What the flags say, and what /set has changed since. The next reply follows changes.
    const Options& options() const { return options_; }
    void setOptions(const Options& options);

    const std::vector<llm::Message>& messages() const { return messages_; }
    void setMessages(std::vector<llm::Message> messages) { messages_ = std::move(messages); }
    // The system message; empty: none.
    std::string systemMessage() const;
    void setSystemMessage(const std::string& text);
    // Forgets all but the system message.
    void clear();

    // Sends a message and shows the reply. If it throws, the message has not been sent.
    llm::Reply send(const std::string& text);
    // Answers the last message again. Throws UsageError if there is none.
    llm::Reply regenerate();

    // Writes what is computed of the conversation to a file (cache_file.h), or goes on with what is in one; the
    // messages are another matter. Throws what the library's functions throw; the session is then as it was.
    void saveCache(const std::string& path) const;
    void loadCache(const std::string& path);
    // Writes the page of the conversation's attention to a file, and says where (attention_file.h). UsageError if there
    // is none yet.
    std::string writeAttention(const std::string& path, std::vector<std::size_t> layers) const;

    // Tokens that the context holds, and has room for.
    std::size_t used() const { return conversation_.history().size(); }
    std::size_t capacity() const { return conversation_.capacity(); }
    const llm::Sampler& sampler() const { return sampler_; }

  private:
    llm::Reply answer();
    llm::Sampler makeSampler() const;
    ThoughtsBefore thoughtsBefore() const;

    const llm::LoadedModel& loaded_;
    Options options_;
    llm::ChatTemplate template_;
    Engine engine_;
    llm::Conversation<Engine> conversation_;
    llm::Sampler sampler_;
    Speculation speculation_;
    std::unique_ptr<llm::Speculator> drafter_;  // null without --spec
    std::vector<llm::Message> messages_;
};

}  // namespace axial::cli
