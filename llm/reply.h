// What is asked of a reply, and what is said about it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "axial/llm/token.h"
#include "axial/tensor/error.h"

namespace axial::llm {

struct ReplyOptions {
    std::int64_t maxTokens = -1;              // below 0: until another end
    std::vector<TokenId> stopTokens = {};     // every id that ends a reply; none is part of it
    std::vector<std::string> stopTexts = {};  // not part of the reply either
    std::size_t batch = 512;                  // prompt tokens in one forward pass
    std::function<bool()> cancelled = {};     // asked before every forward pass; may be empty
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
    std::vector<TokenId> tokens;   // without the stop token
    std::string stop;              // the stop string that was found
    std::size_t promptTokens = 0;  // all of the prompt
    std::size_t reusedTokens = 0;  // of them, those whose keys and values were still there
    double promptSeconds = 0;      // to compute the others
    double replySeconds = 0;       // from the first token's choice to the end
};

// A prompt that does not fit. The conversation is as it was before.
class ContextFullError : public ValueError {
  public:
    ContextFullError(std::size_t prompt, std::size_t capacity);
};

}  // namespace axial::llm
