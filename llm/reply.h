// What is asked of a reply, and what is said about it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "axial/llm/token.h"
#include "axial/tensor/error.h"

namespace axial::llm {

class Drafter;

struct ReplyOptions {
    std::int64_t maxTokens = -1;              // below 0: until another end
    std::vector<TokenId> stopTokens = {};     // every id that ends a reply; none is part of it
    std::vector<std::string> stopTexts = {};  // not part of the reply either
    std::size_t batch = 512;                  // prompt tokens in one forward pass
    std::function<bool()> cancelled = {};     // asked before a piece of the prompt and before each token; may be empty
    // What to do when the context is full. None: the reply ends, and a prompt that is too long is refused. A number:
    // the first so many tokens stay, and of the others the newer half, whose keys and values are computed again at
    // their new positions, so that what follows is what a new conversation would go on with after these tokens.
    std::optional<std::size_t> keepFirst = {};
    // Speculation: borrowed, and the conversation's own. The reply is the same with it and without.
    Drafter* drafter = nullptr;
};

// Why a reply ended.
enum class ReplyEnd {
    stopToken,    // the model ended it
    stopText,     // a stop string stood in the text
    length,       // options.maxTokens
    contextFull,  // no room for another position
    cancelled,
};

struct Reply {
    ReplyEnd end = ReplyEnd::stopToken;
    std::vector<TokenId> tokens;     // without the stop token
    std::string stop;                // the stop string that was found
    std::size_t promptTokens = 0;    // of the prompt, but for what was dropped before it was read
    std::size_t reusedTokens = 0;    // of them, those whose keys and values were still there
    std::size_t droppedTokens = 0;   // of prompt and reply, because the context was full (ReplyOptions::keepFirst)
    std::size_t draftedTokens = 0;   // by options.drafter
    std::size_t acceptedTokens = 0;  // of them, those that the sampler chose as well
    double promptSeconds = 0;        // to compute the prompt's tokens that were not reused
    double replySeconds = 0;         // from the first token's choice to the end
};

// A prompt that does not fit. The conversation is as it was before.
class ContextFullError : public ValueError {
  public:
    ContextFullError(std::size_t prompt, std::size_t capacity);
};

}  // namespace axial::llm
