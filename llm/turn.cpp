#include "axial/llm/turn.h"

#include <algorithm>
#include <string>
#include <utility>

#include "axial/llm/drafter.h"
#include "axial/tensor/error.h"

namespace axial::llm {
namespace {

// How many tokens behind the first `keep` are dropped when a context is full: the older half of them.
std::size_t droppedAtOnce(std::size_t capacity, std::size_t keep) {
    const std::size_t rest = capacity - keep;
    return rest - rest / 2;
}

// The prompt as it is when it has been read in a context of that size.
std::vector<TokenId> fitting(std::span<const TokenId> prompt, std::size_t capacity, std::optional<std::size_t> keep) {
    if (prompt.empty()) throw ValueError("conversation: the prompt is empty; give at least one token");
    if (keep && *keep >= capacity)
        throw ValueError("conversation: the first " + std::to_string(*keep) + " tokens of a context of " +
                         std::to_string(capacity) + " shall stay, which leaves no room; keep fewer");
    if (prompt.size() <= capacity) return {prompt.begin(), prompt.end()};
    if (!keep) throw ContextFullError(prompt.size(), capacity);
    const std::size_t once = droppedAtOnce(capacity, *keep);
    const std::size_t dropped = (prompt.size() - capacity + once - 1) / once * once;
    std::vector<TokenId> tokens(prompt.begin(), prompt.begin() + static_cast<std::ptrdiff_t>(*keep));
    tokens.insert(tokens.end(), prompt.begin() + static_cast<std::ptrdiff_t>(*keep + dropped), prompt.end());
    return tokens;
}

double seconds(std::chrono::steady_clock::duration time) { return std::chrono::duration<double>(time).count(); }

}  // namespace

Turn::Turn(std::span<const TokenId> history, std::size_t capacity, std::span<const TokenId> prompt, Sampler& sampler,
           AnyTextDecoder decoder, ReplyOptions options, OnText onText)
    : sampler_(&sampler),
      mark_(sampler.choices()),
      decoder_(std::move(decoder)),
      options_(std::move(options)),
      onText_(std::move(onText)),
      stop_(options_.stopTexts),
      capacity_(capacity),
      tokens_(fitting(prompt, capacity, options_.keepFirst)),
      known_(tokens_.size()) {
    const auto [its, mine] = std::mismatch(history.begin(), history.end(), tokens_.begin(), tokens_.end());
    untouched_ = static_cast<std::size_t>(mine - tokens_.begin());
    length_ = untouched_ = std::min(untouched_, known_ - 1);
    reply_.promptTokens = known_;
    reply_.reusedTokens = length_;
    reply_.droppedTokens = prompt.size() - known_;
    options_.batch = std::max<std::size_t>(1, options_.batch);
    sampler.begin();
    if (Drafter* drafter = options_.drafter) drafter->rewind(std::min(drafter->length(), length_));
    if (cancelled()) end(ReplyEnd::cancelled);
}

std::span<const TokenId> Turn::pending(std::size_t most) const {
    if (over_) return {};
    const auto rest = std::span(tokens_).subspan(length_);
    if (known_ - length_ > 1) most = std::min(most, options_.batch);
    return rest.first(std::min(rest.size(), most));
}

LogitsOf Turn::which(std::size_t count) const { return draftedOf(count) > 0 ? LogitsOf::all : LogitsOf::last; }

void Turn::take(std::size_t count, std::span<const float> logits, double forwardSeconds, std::size_t others) {
    const auto begin = Clock::now();
    if (length_ + count < known_) {  // more of the prompt is to be read
        length_ += count;
        if (cancelled()) end(ReplyEnd::cancelled);
        return;
    }
    if (prompted_ == Clock::time_point{}) {
        prompted_ = begin;
        reply_.promptSeconds = seconds(begin - started_);
    }
    const bool single = known_ - length_ == 1;  // a step of writing, which says what such steps take
    const std::size_t drafted = draftedOf(count);
    tokens_.resize(known_ + drafted);
    vocabulary_ = logits.size() / (which(count) == LogitsOf::all ? count : 1);
    const std::size_t accepted = choose(logits, drafted);
    reply_.draftedTokens += drafted;
    reply_.acceptedTokens += accepted;
    if (over_) return;
    if (options_.drafter && single)
        options_.drafter->observe(drafted, accepted, forwardSeconds + seconds(Clock::now() - begin), others);
    if (length_ == capacity_ && !makeRoom()) return end(ReplyEnd::contextFull);
    draft(others);
}

bool Turn::atLimit() const { return options_.maxTokens >= 0 && std::ssize(reply_.tokens) >= options_.maxTokens; }

// Chooses tokens row by row until one is not the drafted one, and returns how many are. Each is chosen after the tokens
// before it, as in a step of its own; a row behind a wrong guess is never looked at. What the cache would not hold
// without drafts, the last token of a reply, does not count in it here either.
std::size_t Turn::choose(std::span<const float> rows, std::size_t drafted) {
    length_ = known_;
    for (std::size_t accepted = 0;; ++accepted) {
        if (atLimit()) return end(ReplyEnd::length), accepted;
        if (cancelled()) return end(ReplyEnd::cancelled), accepted;
        const auto row = rows.subspan(accepted * vocabulary_, vocabulary_);
        const TokenId token = sampler_->next(row, std::span(tokens_).first(length_));
        if (std::ranges::find(options_.stopTokens, token) != options_.stopTokens.end())
            return end(ReplyEnd::stopToken), accepted;
        reply_.tokens.push_back(token);
        if (const std::string text = stop_.push(decoder_.push(token)); !text.empty()) onText_(text);
        if (stop_.found()) return end(ReplyEnd::stopText), accepted;
        if (atLimit()) return end(ReplyEnd::length), accepted;
        if (accepted < drafted && tokens_[length_] == token) {
            ++length_;
            continue;
        }
        tokens_.resize(length_);
        tokens_.push_back(token);
        known_ = length_ + 1;
        return accepted;
    }
}

// Drops the middle of a full context, if that is wished for. The token chosen last is not in it yet.
bool Turn::makeRoom() {
    if (!options_.keepFirst) return false;
    const std::size_t keep = *options_.keepFirst, dropped = droppedAtOnce(capacity_, keep);
    const auto from = tokens_.begin() + static_cast<std::ptrdiff_t>(keep);
    tokens_.erase(from, from + static_cast<std::ptrdiff_t>(dropped));
    known_ = tokens_.size();
    length_ = keep;
    untouched_ = std::min(untouched_, keep);
    reply_.droppedTokens += dropped;
    if (Drafter* drafter = options_.drafter) drafter->rewind(std::min(drafter->length(), keep));
    return true;
}

// Puts a draft behind the token chosen last. Nothing of it is computed that could not be part of the reply: it ends
// before a stop token and what the grammar forbids, and in time for the reply's and the context's limit.
void Turn::draft(std::size_t others) {
    if (!options_.drafter || known_ - length_ != 1) return;
    options_.drafter->follow(tokens_);
    std::size_t room = capacity_ - known_;
    if (options_.maxTokens >= 0)
        room = std::min(room, static_cast<std::size_t>(options_.maxTokens - std::ssize(reply_.tokens)) - 1);
    if (room == 0) return;
    const std::vector<TokenId> forced = sampler_->forced();
    const std::vector<TokenId> proposed = options_.drafter->propose(room, forced, others);
    const auto unfit = [&](TokenId token) {
        return token < 0 || static_cast<std::size_t>(token) >= vocabulary_ ||
               std::ranges::find(options_.stopTokens, token) != options_.stopTokens.end();
    };
    auto fit = std::span(proposed).first(std::min(proposed.size(), room));
    fit = fit.first(static_cast<std::size_t>(std::ranges::find_if(fit, unfit) - fit.begin()));
    fit = fit.first(sampler_->validPrefix(fit));
    tokens_.insert(tokens_.end(), fit.begin(), fit.end());
}

void Turn::end(ReplyEnd why) {
    if (prompted_ != Clock::time_point{}) {
        if (!stop_.found()) {
            std::string rest = stop_.push(decoder_.finish());
            if (!stop_.found()) rest += stop_.finish();
            if (!rest.empty()) onText_(rest);
        }
        reply_.replySeconds = seconds(Clock::now() - prompted_);
    }
    if (stop_.found()) {
        why = ReplyEnd::stopText;
        reply_.stop = stop_.which();
    }
    reply_.end = why;
    tokens_.resize(length_);
    over_ = true;
    claim_.reset();
}

void Turn::cancel() {
    if (!over_) end(ReplyEnd::cancelled);
}

void Turn::abandon() noexcept {
    if (sampler_->choices() > mark_) sampler_->rewindTo(mark_);
    over_ = true;
    claim_.reset();
}

}  // namespace axial::llm
