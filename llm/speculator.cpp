#include "axial/llm/speculator.h"

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

#include "axial/tensor/error.h"

namespace axial::llm {
namespace {

constexpr std::size_t grammar = 0, conversation = 1, recycled = 2;  // places in sources_; references stand behind

std::array<Acceptance, matchClasses> expectedOf(DraftSource kind) {
    switch (kind) {
        case DraftSource::grammar:
            return {Acceptance(1), Acceptance(1), Acceptance(1), Acceptance(1)};
        case DraftSource::recycled:
            return {Acceptance(0.3), Acceptance(0.3), Acceptance(0.3), Acceptance(0.3)};
        default:
            return {Acceptance(0.4), Acceptance(0.6), Acceptance(0.8), Acceptance(0.9)};
    }
}

constexpr std::size_t judged = 64;  // tokens that a source is judged by
constexpr std::size_t silence = 128;

}  // namespace

DraftCounts SpeculationCounts::total() const {
    DraftCounts sum;
    for (const DraftCounts& c : sources) {
        sum.drafts += c.drafts;
        sum.drafted += c.drafted;
        sum.accepted += c.accepted;
        sum.silences += c.silences;
    }
    return sum;
}

Speculator::Speculator(SpeculationSettings settings) : settings_(settings) {
    for (const DraftSource kind : {DraftSource::grammar, DraftSource::conversation, DraftSource::recycled}) {
        sources_.push_back({kind, expectedOf(kind)});
    }
}

void Speculator::addReference(std::shared_ptr<const ReferenceText> reference) {
    if (!reference) throw ValueError("speculation: there is no reference text");
    if (sources_.size() > recycled + mostReferences) {
        throw ValueError("speculation: one reference text too many; " + std::to_string(mostReferences) +
                         " are the most");
    }
    Source source{DraftSource::reference, expectedOf(DraftSource::reference)};
    for (const TokenId token : own_.text()) reference->advance(source.cursor, token);
    source.reference = std::move(reference);
    sources_.push_back(std::move(source));
}

void Speculator::follow(std::span<const TokenId> history) {
    const std::size_t known = length();
    if (history.size() < known || (known > 0 && history[known - 1] != own_.text().back())) {
        throw ValueError("speculation: a history of " + std::to_string(history.size()) +
                         " tokens does not continue the " + std::to_string(known) +
                         " known ones; call rewind() with the length that both share");
    }
    // So many are a prompt, which the model did not choose.
    if (history.size() - known > settings_.longestDraft + 1) dropShadows();
    try {
        for (const TokenId token : history.subspan(known)) learn(token);
    } catch (...) {
        forget();
        throw;
    }
}

void Speculator::rewind(std::size_t length) {
    if (length >= this->length()) return;
    const std::span<const TokenId> text = own_.text();
    const std::vector<TokenId> kept(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(length));
    forget();
    follow(kept);
}

void Speculator::learn(TokenId token) {
    if (length() > 0) recycled_.push(own_.text().back(), token);
    own_.push(token);
    for (Source& source : sources_) {
        if (source.reference) source.reference->advance(source.cursor, token);
        compareShadow(source, token);
    }
}

void Speculator::forget() noexcept {
    own_.clear();
    recycled_.clear();
    for (Source& source : sources_) source.cursor = {};
    dropShadows();
}

void Speculator::dropShadows() noexcept {
    for (Source& source : sources_) source.shadow.draft.clear();
}

void Speculator::compareShadow(Source& source, TokenId token) {
    Shadow& shadow = source.shadow;
    if (shadow.draft.empty()) return;
    const bool isRight = shadow.draft[shadow.matched] == token;
    if (isRight && ++shadow.matched < shadow.draft.size()) return;
    source.acceptance[shadow.matchClass].observe(shadow.draft.size(), shadow.matched);
    shadow.draft.clear();
}

std::vector<TokenId> Speculator::propose(std::size_t room, std::span<const TokenId> forced, std::size_t others) {
    room = std::min(room, settings_.longestDraft);
    proposed_ = {};
    if (!forced.empty()) {  // nothing else can be right
        const std::span<const TokenId> draft = forced.first(std::min(room, forced.size()));
        return offer({grammar, 0, {draft.begin(), draft.end()}}, others);
    }
    std::vector<TokenId> draft = offer(longestMatch(room), others);
    return draft.empty() ? offer(chain(room), others) : draft;
}

Speculator::Draft Speculator::longestMatch(std::size_t room) const {
    SuffixAutomaton::Match best;
    std::size_t from = conversation;
    if (!isSilent(sources_[conversation])) best = own_.earlier();
    for (std::size_t i = recycled + 1; i < sources_.size(); ++i) {
        const Source& source = sources_[i];
        const SuffixAutomaton::Match match = source.reference->matchOf(source.cursor);
        if (isSilent(source) || match.length <= best.length || match.end == source.reference->text().size()) continue;
        best = match;
        from = i;
    }
    if (best.length == 0 || best.length < settings_.shortestMatch) return {};

    const bool isOwn = from == conversation;
    const std::span<const TokenId> behind = (isOwn ? own_.text() : sources_[from].reference->text()).subspan(best.end);
    std::size_t tokens = std::min(room, 2 * (1 + best.length));
    if (!isOwn) tokens = std::min(tokens, behind.size());
    Draft draft{from, best.length, {}};
    // Behind the history's end stands the draft itself, so that a repetition goes on.
    for (std::size_t i = 0; i < tokens; ++i) draft.tokens.push_back(behind[i % behind.size()]);
    return draft;
}

Speculator::Draft Speculator::chain(std::size_t room) const {
    if (length() == 0) return {};
    return {recycled, 0, recycled_.chain(own_.text().back(), std::min(room, settings_.longestChain))};
}

// The part of a draft that pays.
std::vector<TokenId> Speculator::offer(Draft draft, std::size_t others) {
    if (draft.tokens.empty() || isSilent(sources_[draft.source])) return {};
    Source& source = sources_[draft.source];
    const std::size_t matchClass = matchClassOf(draft.match);
    std::size_t tokens = draft.tokens.size();
    if (settings_.gated) tokens = gate_.choose(source.acceptance[matchClass], tokens, others);
    if (tokens == 0) {
        ++counts_.refused;
        if (source.shadow.draft.empty()) source.shadow = {std::move(draft.tokens), 0, matchClass};
        return {};
    }
    draft.tokens.resize(tokens);
    proposed_ = {draft.source, matchClass, tokens};
    return std::move(draft.tokens);
}

void Speculator::observe(std::size_t drafted, std::size_t accepted, double seconds, std::size_t others) {
    if (drafted > proposed_.tokens || accepted > drafted) {
        throw ValueError("speculation: " + std::to_string(accepted) + " tokens accepted of " + std::to_string(drafted) +
                         " drafted, but " + std::to_string(proposed_.tokens) + " were proposed");
    }
    const double gain = gate_.observe(drafted, accepted, seconds, others);
    committed_ += 1 + accepted;
    ++(drafted > 0 ? counts_.draftSteps : counts_.plainSteps);
    if (drafted > 0) judge(sources_[proposed_.source], drafted, accepted, gain);
    proposed_ = {};
}

void Speculator::judge(Source& source, std::size_t drafted, std::size_t accepted, double gain) {
    source.acceptance[proposed_.matchClass].observe(drafted, accepted);
    DraftCounts& counts = counts_.sources[static_cast<std::size_t>(source.kind)];
    ++counts.drafts;
    counts.drafted += drafted;
    counts.accepted += accepted;

    Trial& trial = source.trial;
    trial = {trial.drafted + drafted, trial.accepted + accepted, trial.gain + gain};
    if (trial.drafted < judged) return;
    if (5 * trial.accepted < trial.drafted && trial.gain < 0) {
        source.silentUntil = committed_ + silence;
        ++counts.silences;
    }
    trial = {};
}

}  // namespace axial::llm
