#include "axial/llm/pretokenizer.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <cstdint>
#include <new>
#include <optional>

#include "axial/llm/newer_unicode.h"
#include "axial/tensor/error.h"

namespace axial::llm {

namespace {
template <auto free>
struct FreeWith {
    template <class T>
    void operator()(T* handle) const {
        free(handle);
    }
};

// What a match needs besides the pattern: one of each for a thread, whatever the patterns.
class MatchState {
  public:
    MatchState()
        : data_(pcre2_match_data_create(1, nullptr)),
          context_(pcre2_match_context_create(nullptr)),
          stack_(pcre2_jit_stack_create(firstStackBytes, mostStackBytes, nullptr)) {
        if (!data_ || !context_ || !stack_) throw std::bad_alloc();
        pcre2_set_match_limit(context_.get(), mostBacktracks);
        pcre2_set_heap_limit(context_.get(), mostHeapKibibytes);
        pcre2_jit_stack_assign(context_.get(), nullptr, stack_.get());
    }
    pcre2_match_data* data() const { return data_.get(); }
    pcre2_match_context* context() const { return context_.get(); }

  private:
    // The stack is address space until it is used. It lies outside of the thread's own, which may be small.
    static constexpr std::size_t firstStackBytes = 64 << 10, mostStackBytes = 16 << 20;
    static constexpr std::uint32_t mostBacktracks = 50'000'000, mostHeapKibibytes = 32 << 10;

    std::unique_ptr<pcre2_match_data, FreeWith<pcre2_match_data_free>> data_;
    std::unique_ptr<pcre2_match_context, FreeWith<pcre2_match_context_free>> context_;
    std::unique_ptr<pcre2_jit_stack, FreeWith<pcre2_jit_stack_free>> stack_;
};

std::string errorText(int code) {
    PCRE2_UCHAR text[256];
    pcre2_get_error_message(code, text, sizeof text);
    return reinterpret_cast<const char*>(text);
}

// The published patterns are written for Oniguruma, Ruby's engine. Some of its spellings are valid in PCRE2 and mean
// something else there.
void refuseOtherMeaning(const std::string& pattern) {
    const auto refuse = [&](const char* what, std::size_t at) {
        throw UnsupportedError("pre-tokenizer: pattern " + pattern.substr(0, 1000) + " has " + what + " at byte " +
                               std::to_string(at) + ": not supported");
    };
    int classDepth = 0;
    for (std::size_t i = 0; i < pattern.size(); i++) {
        const char next = i + 1 < pattern.size() ? pattern[i + 1] : '\0';
        if (pattern[i] == '\\') {
            if (next == 'h' || next == 'H') {
                refuse("\\h, in Oniguruma a hexadecimal digit,", i);
            }
            i++;
        } else if (pattern[i] == '[') {
            if (classDepth > 0 && next != ':') refuse("nested character classes", i);
            classDepth++;
        } else if (pattern[i] == ']' && classDepth > 0) {
            classDepth--;
        } else if (pattern[i] == '&' && next == '&' && classDepth > 0) {
            refuse("an intersection of character classes (&&)", i);
        }
    }
}

struct Match {
    std::size_t begin, end;
};
}  // namespace

class PreTokenizer::Pattern {
  public:
    explicit Pattern(const SplitRule& rule) : text_(rule.pattern), keepUnmatched_(rule.keepUnmatched) {
        constexpr std::size_t mostPatternBytes = 64 << 10;
        refuseOtherMeaning(text_);
        const std::unique_ptr<pcre2_compile_context, FreeWith<pcre2_compile_context_free>> context(
            pcre2_compile_context_create(nullptr));
        if (!context) throw std::bad_alloc();
        pcre2_set_max_pattern_length(context.get(), mostPatternBytes);
        pcre2_set_newline(context.get(), PCRE2_NEWLINE_LF);
        int code = 0;
        PCRE2_SIZE offset = 0;
        // As in Ruby, ^ and $ match at every line.
        code_.reset(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(text_.data()), text_.size(),
                                  PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C, &code, &offset,
                                  context.get()));
        if (!code_) {
            throw UnsupportedError("pre-tokenizer: pattern " + text_.substr(0, 1000) + ": " + errorText(code) +
                                   " at byte " + std::to_string(offset));
        }
        // Where there is no just-in-time compiler, PCRE2 interprets the pattern.
        pcre2_jit_compile(code_.get(), PCRE2_JIT_COMPLETE);
    }

    void split(std::string_view text, const MatchState& state, std::vector<std::string_view>& pieces) const {
        const auto add = [&](std::size_t begin, std::size_t end) {
            if (end > begin) pieces.push_back(text.substr(begin, end - begin));
        };
        std::size_t done = 0;
        for (std::size_t at = 0; at < text.size();) {
            const std::optional<Match> match = next(text, at, state);
            if (!match) break;
            if (keepUnmatched_) add(done, match->begin);
            add(match->begin, match->end);
            done = at = match->end;
            if (match->end == match->begin) {  // an empty match is a cut and nothing more; go on behind one character
                do at++;
                while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80);
            }
        }
        if (keepUnmatched_) add(done, text.size());
    }

  private:
    std::optional<Match> next(std::string_view text, std::size_t at, const MatchState& state) const {
        int result = attempt(text, at, state, PCRE2_NO_UTF_CHECK);
        if (result == PCRE2_ERROR_JIT_STACKLIMIT) result = attempt(text, at, state, PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT);
        if (result == PCRE2_ERROR_NOMATCH) return std::nullopt;
        if (result < 0) {
            throw ValueError("pre-tokenizer: pattern " + text_ + ": " + errorText(result) + " at byte " +
                             std::to_string(at) + " of " + std::to_string(text.size()) +
                             "; give the text in smaller parts");
        }
        const PCRE2_SIZE* bounds = pcre2_get_ovector_pointer(state.data());
        return Match{bounds[0], bounds[1]};
    }
    int attempt(std::string_view text, std::size_t at, const MatchState& state, std::uint32_t options) const {
        return pcre2_match(code_.get(), reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), at, options,
                           state.data(), state.context());
    }

    std::string text_;
    bool keepUnmatched_;
    std::unique_ptr<pcre2_code, FreeWith<pcre2_code_free>> code_;
};

PreTokenizer::PreTokenizer(std::span<const SplitRule> rules) {
    for (const SplitRule& rule : rules) patterns_.push_back(std::make_shared<const Pattern>(rule));
}

void PreTokenizer::split(std::string_view text, std::vector<std::string_view>& pieces) const {
    if (text.empty()) return;
    thread_local const MatchState state;
    const std::optional<std::string> older = withOlderCharacters(text);
    std::vector<std::string_view> before{older ? std::string_view(*older) : text}, after;
    const char* const origin = before.front().data();
    for (const auto& pattern : patterns_) {
        after.clear();
        for (std::string_view piece : before) pattern->split(piece, state, after);
        before.swap(after);
    }
    pieces.reserve(pieces.size() + before.size());
    for (std::string_view piece : before) {
        pieces.push_back(text.substr(static_cast<std::size_t>(piece.data() - origin), piece.size()));
    }
}

}  // namespace axial::llm
