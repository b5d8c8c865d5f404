// Many conversations that advance together: one forward pass reads the weights once for all of them.
#pragma once
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "axial/llm/conversation.h"

namespace axial::llm {

// A conversation may join or leave between any two steps, whatever the others are at: pieces of prompts and single
// tokens are computed together. Each says, bit for bit, what it says alone.
template <ForwardModel M>
class Batch {
  public:
    // Borrows the model. At most `rows` tokens go through it in a step.
    explicit Batch(const M& model, std::size_t rows = 512) : model_(&model), rows_(std::max<std::size_t>(1, rows)) {}

    // Takes a turn in that conversation.begin() gave. The conversation stays where it is in memory until leave().
    // Throws ValueError for one that is in the batch, for another's turn, and for a sampler or a drafter of another
    // turn in it.
    void join(Conversation<M>& conversation, Turn turn) {
        for (std::size_t i = 0; i < members_.size(); ++i) {
            const Member& other = members_[i];
            if (other.conversation == &conversation)
                throw ValueError("batch: the conversation is in it already, as number " + std::to_string(i) +
                                 "; a conversation has one turn at a time");
            if (other.over()) continue;
            if (&other.turn.sampler() == &turn.sampler())
                throw ValueError("batch: the sampler is that of conversation " + std::to_string(i) +
                                 "; give each its own (Sampler::forReply)");
            if (turn.drafter() && turn.drafter() == other.turn.drafter())
                throw ValueError("batch: the drafter is that of conversation " + std::to_string(i) +
                                 "; give each its own");
        }
        if (!turn.over() && !conversation.owns(turn))
            throw ValueError("batch: the turn is not of this conversation; give what its begin() returned");
        members_.push_back({&conversation, std::move(turn), {}, false, false});
    }

    // Takes the conversation out, and returns its reply: up to here and cancelled, if it is not over. Throws what its
    // own sampler, decoder or onText threw, and ValueError if it is not in the batch.
    Reply leave(Conversation<M>& conversation) {
        const auto place = std::find_if(members_.begin(), members_.end(),
                                        [&](const Member& m) { return m.conversation == &conversation; });
        if (place == members_.end()) throw ValueError("batch: the conversation is not in it");
        Member member = std::move(*place);
        const auto index = static_cast<std::size_t>(place - members_.begin());
        members_.erase(place);
        if (next_ > index) --next_;
        if (member.error) std::rethrow_exception(member.error);
        try {
            member.turn.cancel();
        } catch (...) {
            conversation.abandon(member.turn);
            throw;
        }
        return std::move(member.turn.reply());
    }

    // Leaves the conversation out of the steps, or takes it back in. Throws ValueError if it is not in the batch.
    void pause(const Conversation<M>& conversation, bool paused = true) {
        for (Member& member : members_)
            if (member.conversation == &conversation) {
                member.paused = paused;
                return;
            }
        throw ValueError("batch: the conversation is not in it");
    }

    // How many conversations are in it, and how many of them are not over.
    std::size_t size() const { return members_.size(); }
    std::size_t running() const {
        return static_cast<std::size_t>(
            std::count_if(members_.begin(), members_.end(), [](const Member& m) { return !m.over(); }));
    }

    // One forward pass. Every conversation gets a token or more, up to `rows` of them in turn; what is left goes to
    // those that have more to read, in equal parts. Returns the conversations that are over since the last call, for
    // leave(). What a turn's own sampler, decoder or onText throws ends that turn alone, and leave() says it; what the
    // model throws comes out, and leaves all turns as they were, so that the step can be tried again. Not to be called,
    // nor join() and leave(), by what a turn calls.
    std::vector<Conversation<M>*> step() {
        std::vector<Conversation<M>*> ended;
        ended.reserve(members_.size());
        const std::vector<Share> shares = shareOut();
        std::vector<ContinuationOf<CacheOf<M>>> pieces;
        std::size_t logitRows = 0, tokens = 0;
        for (const Share& share : shares) {
            Turn& turn = share.member->turn;
            const auto piece = turn.pending(share.count);
            const LogitsOf which = turn.which(piece.size());
            pieces.push_back({share.member->conversation->cache(turn), piece, which});
            logitRows += which == LogitsOf::all ? piece.size() : 1;
            tokens += piece.size();
        }
        if (!pieces.empty()) run(shares, pieces, logitRows, tokens);
        for (Member& member : members_)
            if (member.over() && !std::exchange(member.told, true)) ended.push_back(member.conversation);
        return ended;
    }

  private:
    struct Member {
        Conversation<M>* conversation;
        Turn turn;
        std::exception_ptr error;
        bool told, paused;
        bool over() const { return error || turn.over(); }
    };
    struct Share {
        Member* member;
        std::size_t count;  // tokens
    };

    // Who computes how much: as many conversations as there are rows, beginning behind the last one of the step before;
    // among them those that need least first, so that the others can share what these leave.
    std::vector<Share> shareOut() {
        std::vector<Share> shares;
        std::size_t behind = next_;
        for (std::size_t i = 0; i < members_.size() && shares.size() < rows_; ++i) {
            behind = (next_ + i) % members_.size();
            if (Member& member = members_[behind]; !member.over() && !member.paused)
                shares.push_back({&member, member.turn.pending(rows_).size()});
        }
        std::stable_sort(shares.begin(), shares.end(),
                         [](const Share& a, const Share& b) { return a.count < b.count; });
        std::size_t left = rows_;
        for (std::size_t i = 0; i < shares.size(); ++i) {
            shares[i].count = std::min(shares[i].count, left / (shares.size() - i));
            left -= shares[i].count;
        }
        last_ = behind;
        return shares;
    }

    void run(const std::vector<Share>& shares, std::span<const ContinuationOf<CacheOf<M>>> pieces,
             std::size_t logitRows, std::size_t tokens) {
        const auto started = std::chrono::steady_clock::now();
        const auto handOut = [&](std::size_t i, std::span<const float> logits, double seconds) {
            Member& member = *shares[i].member;
            const std::size_t count = pieces[i].tokens.size();
            try {
                member.conversation->take(member.turn, count, logits, seconds, tokens - count);
            } catch (...) {
                member.error = std::current_exception();
            }
        };
        const auto since = [&] {
            return std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
        };
        if constexpr (ForwardsTogether<M>) {
            const auto logits = model_->forward(pieces);
            next_ = last_ + 1;
            const double seconds = since();
            std::span<const float> rest = std::as_const(logits).values();
            const std::size_t vocabulary = rest.size() / logitRows;
            for (std::size_t i = 0; i < pieces.size(); ++i) {
                const std::size_t rows = pieces[i].which == LogitsOf::all ? pieces[i].tokens.size() : 1;
                handOut(i, rest.first(rows * vocabulary), seconds);
                rest = rest.subspan(rows * vocabulary);
            }
        } else {
            std::vector<LogitsFrom<M>> logits;
            logits.reserve(pieces.size());
            try {
                for (const auto& [cache, piece, which] : pieces)
                    logits.push_back(forwardOne(*model_, cache, piece, which));
            } catch (...) {
                for (std::size_t i = 0; i < logits.size(); ++i) {
                    auto& cache = pieces[i].cache;
                    cache.truncate(cache.length() - pieces[i].tokens.size());
                }
                throw;
            }
            next_ = last_ + 1;
            const double seconds = since();
            for (std::size_t i = 0; i < pieces.size(); ++i) handOut(i, std::as_const(logits[i]).values(), seconds);
        }
    }

    const M* model_;
    std::size_t rows_;
    std::vector<Member> members_;
    std::size_t next_ = 0, last_ = 0;  // who comes first in the next step, and who was the last to be looked at
};

}  // namespace axial::llm
