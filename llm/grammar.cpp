#include "axial/llm/grammar.h"

#include <axial_rust.h>

#include <algorithm>
#include <limits>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>

#include "axial/llm/parsed_json-inl.h"
#include "axial/llm/tokenizer.h"
#include "axial/tensor/error.h"

namespace axial::llm {

namespace {
const std::uint8_t* bytes(std::string_view text) { return reinterpret_cast<const std::uint8_t*>(text.data()); }

std::string taken(AxialText& text) {
    const std::string copy(reinterpret_cast<const char*>(text.bytes), text.size);
    axial_text_free(text);
    return copy;
}

// What keeps a text out of the tree of tokens that are text.
constexpr char noText = '\xFF';

std::size_t tokensOf(const void* owner, const std::uint8_t* text, std::size_t size, std::uint32_t* to,
                     std::size_t room) noexcept try {
    const std::string_view piece(reinterpret_cast<const char*>(text), size);
    const std::vector<TokenId> ids = static_cast<const Tokenizer*>(owner)->encode(piece, SpecialTokens::asText);
    std::transform(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(std::min(room, ids.size())), to,
                   [](TokenId id) { return static_cast<std::uint32_t>(id); });
    return ids.size();
} catch (...) {
    return 0;  // then other tokens with the same text are taken
}

class SharedVocabulary {
  public:
    explicit SharedVocabulary(std::shared_ptr<const Tokenizer> tokenizer) : tokenizer_(std::move(tokenizer)) {
        const Vocabulary& vocabulary = tokenizer_->vocabulary();
        std::string all;
        std::vector<std::uint32_t> sizes;
        for (TokenId id = 0; vocabulary.tokens.contains(id); id++) {
            const std::size_t before = all.size();
            const TokenType type = vocabulary.tokens.type(id);
            if (type != TokenType::normal && type != TokenType::byte) all += noText;
            all += vocabulary.tokens.bytes(id);
            sizes.push_back(static_cast<std::uint32_t>(all.size() - before));
        }
        const std::vector<std::uint32_t> ends(vocabulary.endOfGeneration.begin(), vocabulary.endOfGeneration.end());
        AxialText error{};
        if (axial_vocabulary_new(bytes(all), sizes.data(), sizes.size(), ends.data(), ends.size(), tokensOf,
                                 tokenizer_.get(), &vocabulary_, &error)) {
            throw UnsupportedError("grammar: the vocabulary of " + vocabulary.source + ": " + taken(error));
        }
    }
    ~SharedVocabulary() { axial_vocabulary_free(vocabulary_); }
    SharedVocabulary(const SharedVocabulary&) = delete;
    SharedVocabulary& operator=(const SharedVocabulary&) = delete;

    const AxialVocabulary* get() const { return vocabulary_; }
    std::size_t tokens() const { return tokenizer_->vocabulary().tokens.size(); }

    static std::shared_ptr<const SharedVocabulary> of(std::shared_ptr<const Tokenizer> tokenizer) {
        static std::mutex mutex;
        static std::map<const Tokenizer*, std::weak_ptr<const SharedVocabulary>> all;
        const std::lock_guard lock(mutex);
        std::erase_if(all, [](const auto& entry) { return entry.second.expired(); });
        if (const auto found = all.find(tokenizer.get()); found != all.end()) {
            if (std::shared_ptr<const SharedVocabulary> shared = found->second.lock()) return shared;
        }
        const Tokenizer* key = tokenizer.get();
        auto made = std::make_shared<const SharedVocabulary>(std::move(tokenizer));
        all[key] = made;
        return made;
    }

  private:
    std::shared_ptr<const Tokenizer> tokenizer_;
    AxialVocabulary* vocabulary_ = nullptr;
};

class Grammar final : public LogitProcessor {
  public:
    Grammar(std::shared_ptr<const SharedVocabulary> vocabulary, AxialGrammar* grammar)
        : vocabulary_(std::move(vocabulary)), grammar_(grammar), mask_((vocabulary_->tokens() + 31) / 32) {}
    ~Grammar() override { axial_grammar_free(grammar_); }
    Grammar(const Grammar&) = delete;
    Grammar& operator=(const Grammar&) = delete;

    void process(std::span<float> logits, std::span<const TokenId>) override {
        check(axial_grammar_mask(grammar_, mask_.data(), mask_.size(), &error_));
        constexpr float never = -std::numeric_limits<float>::infinity();
        // Most words of a mask have no bit, or all of them.
        for (std::size_t first = 0; first < logits.size(); first += 32) {
            const std::span<float> some = logits.subspan(first, std::min<std::size_t>(32, logits.size() - first));
            const std::uint32_t word = first / 32 < mask_.size() ? mask_[first / 32] : 0;
            if (word == 0) {
                std::ranges::fill(some, never);
            } else if (~word != 0) {
                for (std::size_t bit = 0; bit < some.size(); bit++) {
                    if (!(word >> bit & 1)) some[bit] = never;
                }
            }
        }
    }

    void commit(TokenId token) override {
        check(axial_grammar_commit(grammar_, static_cast<std::uint32_t>(token), &error_));
    }

    void reset() override { check(axial_grammar_reset(grammar_, &error_)); }

    std::unique_ptr<LogitProcessor> clone() const override {
        AxialGrammar* copy = nullptr;
        check(axial_grammar_clone(grammar_, &copy, &error_));
        return std::make_unique<Grammar>(vocabulary_, copy);
    }

    std::vector<TokenId> forced() const override {
        std::vector<std::uint32_t> tokens(256);
        std::size_t count = 0;
        check(axial_grammar_forced(grammar_, tokens.data(), tokens.size(), &count, &error_));
        return {tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(count)};
    }

    std::size_t validPrefix(std::span<const TokenId> draft) const override {
        const auto stranger =
            std::ranges::find_if(draft, [&](TokenId id) { return id < 0 || std::size_t(id) >= vocabulary_->tokens(); });
        const std::vector<std::uint32_t> known(draft.begin(), stranger);
        std::size_t count = 0;
        check(axial_grammar_valid(grammar_, known.data(), known.size(), &count, &error_));
        return count;
    }

  private:
    void check(int failed) const {
        if (failed) throw ValueError("grammar: " + taken(error_));
    }

    std::shared_ptr<const SharedVocabulary> vocabulary_;
    AxialGrammar* grammar_;
    std::vector<std::uint32_t> mask_;
    mutable AxialText error_{};
};

// Schemas are read here first: what is wrong with the JSON is said as everywhere, and depth is limited.
void checkSchema(std::string_view schema) {
    constexpr int deepest = 100;
    (void)parsedJson<nlohmann::json>(
        schema, deepest, [](const std::string& what) { throw ValueError("grammar: the JSON schema: " + what); });
}
}  // namespace

bool hasGrammars() { return true; }

std::unique_ptr<LogitProcessor> makeGrammar(std::shared_ptr<const Tokenizer> tokenizer, GrammarKind kind,
                                            std::string_view text) {
    struct Name {
        const char *engine, *ours;
    };
    constexpr Name names[] = {{"json", "JSON schema"}, {"regex", "regular expression"}, {"lark", "Lark grammar"}};
    const Name& name = names[static_cast<std::size_t>(kind)];
    if (kind == GrammarKind::jsonSchema) checkSchema(text);
    std::shared_ptr<const SharedVocabulary> vocabulary = SharedVocabulary::of(std::move(tokenizer));
    AxialGrammar* grammar = nullptr;
    AxialText error{};
    if (axial_grammar_new(vocabulary->get(), name.engine, bytes(text), text.size(), &grammar, &error)) {
        throw UnsupportedError(std::string("grammar: the ") + name.ours + " cannot be enforced: " + taken(error));
    }
    return std::make_unique<Grammar>(std::move(vocabulary), grammar);
}

}  // namespace axial::llm
