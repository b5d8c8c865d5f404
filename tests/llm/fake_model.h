// Models without weights for tests of conversations: the logits are a function of every token before them, so that a
// cache that does not hold what the history says shows in the text.
#pragma once
#include <doctest/doctest.h>

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "axial/llm/conversation.h"
#include "axial/llm/sampler_random.h"

namespace axial::llm {

using Tokens = std::vector<TokenId>;

struct FakeCache {
    Tokens tokens;
    std::size_t room = 0;
    std::size_t length() const { return tokens.size(); }
    std::size_t capacity() const { return room; }
    void truncate(std::size_t length) {
        REQUIRE(length <= tokens.size());
        tokens.resize(length);
    }
    FakeCache fork(std::size_t length, std::size_t capacity) const {
        REQUIRE(length <= tokens.size());
        return {{tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(length)}, capacity};
    }
};

struct FakeLogits {
    std::vector<float> numbers;
    std::span<const float> values() const { return numbers; }
};

// 16 tokens; the next one follows from a hash of all before. `script` overrides: after n tokens comes script[n].
struct FakeModel {
    static constexpr std::size_t vocabulary = 16;
    std::map<std::size_t, TokenId> script = {};
    mutable std::vector<std::size_t> computed = {};  // tokens of each forward pass
    mutable std::size_t logitRows = 0;               // computed so far
    mutable std::optional<std::size_t> failAt = {};  // the pass that throws

    FakeCache makeCache(std::size_t capacity, Format) const {
        FakeCache cache{{}, capacity};
        cache.tokens.reserve(capacity);
        return cache;
    }
    FakeLogits forward(FakeCache& cache, std::span<const TokenId> tokens, LogitsOf which) const {
        const ContinuationOf<FakeCache> one{cache, tokens, which};
        return forward(std::span(&one, 1));
    }
    FakeLogits forward(std::span<const ContinuationOf<FakeCache>> all) const {
        if (failAt && computed.size() == *failAt) throw ValueError("fault");
        FakeLogits logits;
        std::size_t count = 0;
        for (const auto& [cache, tokens, which] : all) {
            REQUIRE(!tokens.empty());
            REQUIRE(cache.length() + tokens.size() <= cache.capacity());
            Tokens known = cache.tokens;
            for (std::size_t i = 0; i < tokens.size(); ++i) {
                REQUIRE(tokens[i] >= 0);
                REQUIRE(static_cast<std::size_t>(tokens[i]) < vocabulary);
                known.push_back(tokens[i]);
                if (which == LogitsOf::all || i + 1 == tokens.size()) addRow(logits.numbers, known);
            }
            count += tokens.size();
        }
        computed.push_back(count);
        logitRows += logits.numbers.size() / vocabulary;
        for (const auto& [cache, tokens, which] : all)
            cache.tokens.insert(cache.tokens.end(), tokens.begin(), tokens.end());
        return logits;
    }
    void addRow(std::vector<float>& numbers, const Tokens& known) const {
        std::uint64_t hash = 1;
        for (const TokenId t : known) hash = hash * 6364136223846793005u + static_cast<std::uint64_t>(t) + 1;
        const std::size_t row = numbers.size();
        for (std::uint64_t i = 0; i < vocabulary; ++i) numbers.push_back(static_cast<float>(4 * uniformAt(hash, i)));
        if (const auto it = script.find(known.size()); it != script.end())
            numbers[row + static_cast<std::size_t>(it->second)] = 100;
    }
    std::size_t allComputed() const {
        std::size_t sum = 0;
        for (const std::size_t n : computed) sum += n;
        return sum;
    }
};

// The least that a conversation needs of a model.
struct LeastModel {
    FakeModel model = {};
    FakeCache makeCache(std::size_t capacity, Format format) const { return model.makeCache(capacity, format); }
    FakeLogits forward(FakeCache& cache, std::span<const TokenId> tokens) const {
        return model.forward(cache, tokens, LogitsOf::last);
    }
};

// Token n is the letter 'a' + n; finish() tells that the end was said.
struct Letters {
    std::string push(TokenId token) { return std::string(1, static_cast<char>('a' + token)); }
    std::string finish() { return "."; }
};

inline SamplerSettings drawing(double temperature, std::uint64_t seed = 5) {
    SamplerSettings settings;
    settings.temperature = temperature;
    settings.seed = seed;
    return settings;
}

struct Said {
    Reply reply;
    std::string text;
};

template <class M>
Said say(Conversation<M>& conversation, const Tokens& prompt, const ReplyOptions& options, Sampler& sampler) {
    Said said;
    said.reply = conversation.reply(prompt, sampler, Letters(), options, [&](std::string_view t) { said.text += t; });
    return said;
}
template <class M>
Said say(Conversation<M>& conversation, const Tokens& prompt, const ReplyOptions& options, double temperature = 0) {
    Sampler sampler(drawing(temperature));
    return say(conversation, prompt, options, sampler);
}

inline Tokens tokensOf(std::span<const TokenId> tokens) { return {tokens.begin(), tokens.end()}; }

template <class M>
void checkAgrees(const Conversation<M>& conversation) {
    CHECK(tokensOf(conversation.history()) == conversation.cache().tokens);
}

inline Tokens joined(Tokens a, const Tokens& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

}  // namespace axial::llm
