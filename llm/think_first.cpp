#include "axial/llm/think_first.h"

#include <algorithm>
#include <limits>
#include <string_view>

#include "axial/llm/tokenizer.h"
#include "axial/tensor/error.h"

namespace axial::llm {

namespace {
constexpr std::string_view open = "<think>", close = "</think>", space = " \t\r\n";

bool isSpace(std::string_view text) { return text.find_first_not_of(space) == text.npos; }

// Whether a token could bring </think> to an end and go on with more than white space.
bool closesAndGoesOn(std::string_view token) {
    for (std::size_t end = token.find('>'); end != token.npos; end = token.find('>', end + 1)) {
        const std::string_view tag = token.substr(0, end + 1);
        if ((tag.ends_with(close) || close.ends_with(tag)) && !isSpace(token.substr(end + 1))) return true;
    }
    return false;
}
}  // namespace

ThinkFirst::ThinkFirst(std::shared_ptr<const Tokenizer> tokenizer, std::unique_ptr<LogitProcessor> answer, bool opened)
    : tokenizer_(std::move(tokenizer)), answer_(std::move(answer)), opened_(opened), progress_(beginning()) {
    opening_ = tokenizer_->vocabulary().marker(open);
    const TokenList& tokens = tokenizer_->vocabulary().tokens;
    for (TokenId id = 0; tokens.contains(id); id++) {
        if (closesAndGoesOn(tokens.bytes(id))) closing_.push_back(id);
    }
}

// The token is one before the answer.
bool ThinkFirst::allows(const Progress& progress, TokenId token) const {
    const Vocabulary& vocabulary = tokenizer_->vocabulary();
    if (!vocabulary.tokens.contains(token) || tokenizer_->endsGeneration(token)) return false;
    const std::string_view bytes = vocabulary.tokens.bytes(token);
    if (progress.place == Place::start) {
        if (opening_) return token == *opening_;
        const std::string_view rest = open.substr(progress.text.size());
        return !bytes.empty() && (rest.starts_with(bytes) || bytes.starts_with(rest));
    }
    const std::string text = progress.text + std::string(bytes);
    const std::size_t end = text.find(close);
    return end == text.npos || isSpace(std::string_view(text).substr(end + close.size()));
}

void ThinkFirst::advance(Progress& progress, TokenId token) const {
    progress.text += tokenizer_->piece(token);
    if (progress.place == Place::start) {
        if (!progress.text.starts_with(open)) return;
        progress = {Place::thoughts, progress.text.substr(open.size())};
    }
    if (const std::size_t end = progress.text.find(close); end != std::string::npos) {
        const bool spaced = progress.text.size() > end + close.size();
        progress = {spaced ? Place::answer : Place::gap, ""};
    } else if (progress.text.size() >= close.size()) {
        progress.text.erase(0, progress.text.size() - (close.size() - 1));
    }
}

void ThinkFirst::process(std::span<float> logits, std::span<const TokenId> history) {
    constexpr float never = -std::numeric_limits<float>::infinity();
    const Vocabulary& vocabulary = tokenizer_->vocabulary();
    const std::size_t tokens = std::min(vocabulary.tokens.size(), logits.size());
    switch (progress_.place) {
        case Place::start:
            for (std::size_t i = 0; i < logits.size(); i++) {
                if (!allows(progress_, static_cast<TokenId>(i))) logits[i] = never;
            }
            return;
        case Place::thoughts:
            for (const TokenId id : vocabulary.endOfGeneration) {
                if (static_cast<std::size_t>(id) < tokens) logits[static_cast<std::size_t>(id)] = never;
            }
            for (const TokenId id : closing_) {
                if (static_cast<std::size_t>(id) < tokens && !allows(progress_, id))
                    logits[static_cast<std::size_t>(id)] = never;
            }
            std::fill(logits.begin() + static_cast<std::ptrdiff_t>(tokens), logits.end(), never);
            return;
        case Place::gap: {
            std::vector<std::pair<std::size_t, float>> spaces;
            for (std::size_t i = 0; i < tokens; i++) {
                if (isGap(static_cast<TokenId>(i))) spaces.emplace_back(i, logits[i]);
            }
            answer_->process(logits, history);
            for (const auto& [i, logit] : spaces) logits[i] = logit;
            return;
        }
        case Place::answer:
            answer_->process(logits, history);
    }
}

// Whether a token is white space that may stand between thoughts and answer.
bool ThinkFirst::isGap(TokenId token) const {
    const TokenList& tokens = tokenizer_->vocabulary().tokens;
    return tokens.contains(token) && !tokens.bytes(token).empty() && isSpace(tokens.bytes(token));
}

void ThinkFirst::commit(TokenId token) {
    switch (progress_.place) {
        case Place::start:
        case Place::thoughts:
            if (!allows(progress_, token)) {
                throw ValueError("grammar: token " + std::to_string(token) +
                                 " cannot stand before the end of the thoughts, which come first");
            }
            advance(progress_, token);
            return;
        case Place::gap:
            progress_.place = Place::answer;
            if (isGap(token) && answer_->validPrefix(std::span(&token, 1)) == 0) return;
            [[fallthrough]];
        case Place::answer:
            answer_->commit(token);
    }
}

void ThinkFirst::reset() {
    answer_->reset();
    progress_ = beginning();
}

std::unique_ptr<LogitProcessor> ThinkFirst::clone() const {
    return std::make_unique<ThinkFirst>(tokenizer_, answer_->clone(), opened_);
}

std::vector<TokenId> ThinkFirst::forced() const {
    if (progress_.place == Place::answer) return answer_->forced();
    if (progress_.place == Place::start && opening_) return {*opening_};
    return {};
}

std::size_t ThinkFirst::validPrefix(std::span<const TokenId> draft) const {
    Progress progress = progress_;
    std::size_t i = 0;
    for (; i < draft.size() && (progress.place == Place::start || progress.place == Place::thoughts); i++) {
        if (!allows(progress, draft[i])) return i;
        advance(progress, draft[i]);
    }
    std::span<const TokenId> rest = draft.subspan(i);
    if (rest.empty()) return i;
    if (progress.place == Place::gap && isGap(rest[0]) && answer_->validPrefix(rest.first(1)) == 0) {
        i++;
        rest = rest.subspan(1);
    }
    return i + answer_->validPrefix(rest);
}

}  // namespace axial::llm
