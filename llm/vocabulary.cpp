#include "axial/llm/vocabulary.h"

#include "axial/llm/gguf.h"
#include "axial/llm/unicode.h"
#include "axial/llm/vocabulary_builder.h"
#include "axial/tensor/error.h"

namespace axial::llm {

void TokenList::reserve(std::size_t tokens, std::size_t bytes) {
    bytes_.reserve(bytes);
    ends_.reserve(tokens);
    types_.reserve(tokens);
}

void TokenList::add(std::string_view bytes, TokenType type) {
    bytes_ += bytes;
    ends_.push_back(bytes_.size());
    types_.push_back(type);
}

std::optional<TokenId> Vocabulary::marker(std::string_view text) const {
    for (TokenId id = 0; tokens.contains(id); id++) {
        if (tokens.bytes(id) == text && isMarker(id)) return id;
    }
    return std::nullopt;
}

namespace {
[[noreturn]] void fail(const GgufFile& file, const std::string& text) {
    throw FileError("vocabulary: " + file.path().string() + ": " + text);
}

std::string shown(std::string_view name) { return replaceInvalidUtf8(name.substr(0, 80)); }

const PreTokenizerRules& rulesOf(const GgufFile& file, const std::optional<std::string>& given, std::string& name) {
    const MetadataValue* value = file.find("tokenizer.ggml.pre");
    if (!given && !value) {
        throw UnsupportedError(
            "vocabulary: " + file.path().string() +
            ": tokenizer.ggml.pre is missing, so how the text is cut is not known; give the name of a "
            "pre-tokenizer: " +
            preTokenizerNames());
    }
    name = given ? *given : std::string(value->string());
    const PreTokenizerRules* rules = findPreTokenizer(name);
    if (!rules) {
        throw UnsupportedError("vocabulary: " + file.path().string() + ": the pre-tokenizer " + shown(name) +
                               " is not known; give one that cuts the same way: " + preTokenizerNames());
    }
    return *rules;
}

// The key, if it is there, as the array of the one element type that the specification gives it.
const MetadataValue* arrayOf(const GgufFile& file, std::string_view key, MetadataType element) {
    const MetadataValue* value = file.find(key);
    if (value && (value->type() != MetadataType::array || value->elementType() != element)) {
        fail(file, std::string(key) + " is not an array of " + std::string(nameOf(element)) +
                       ", which the GGUF specification asks for");
    }
    return value;
}

std::vector<TokenType> typesOf(const GgufFile& file, std::size_t tokens) {
    const MetadataValue* value = arrayOf(file, "tokenizer.ggml.token_type", MetadataType::i32);
    arrayOf(file, "tokenizer.ggml.scores", MetadataType::f32);  // not used by BPE, but a file that errs here errs
    if (!value) return std::vector<TokenType>(tokens, TokenType::normal);
    const std::vector<std::int64_t> numbers = value->integers();
    if (numbers.size() != tokens) {
        fail(file, "tokenizer.ggml.tokens has " + std::to_string(tokens) + " entries and tokenizer.ggml.token_type " +
                       std::to_string(numbers.size()));
    }
    std::vector<TokenType> types;
    types.reserve(tokens);
    for (std::int64_t number : numbers) {
        if (number < static_cast<int>(TokenType::normal) || number > static_cast<int>(TokenType::byte)) {
            fail(file, "tokenizer.ggml.token_type of token " + std::to_string(types.size()) + " is " +
                           std::to_string(number) + ", not 1 to 6");
        }
        types.push_back(static_cast<TokenType>(number));
    }
    return types;
}

std::optional<TokenId> idOf(const GgufFile& file, std::string_view key, const TokenList& tokens) {
    const MetadataValue* value = file.find(key);
    if (!value) return std::nullopt;
    const std::int64_t id = value->integer();
    constexpr std::int64_t none = 0xFFFFFFFF;  // some writers' spelling of -1
    if (id == -1 || id == none) return std::nullopt;
    if (id < 0 || id >= static_cast<std::int64_t>(tokens.size())) {
        fail(file, std::string(key) + " is " + std::to_string(id) + ", and there are " + std::to_string(tokens.size()) +
                       " tokens");
    }
    return static_cast<TokenId>(id);
}
}  // namespace

Vocabulary vocabularyOf(const GgufFile& file, const std::optional<std::string>& preTokenizer) {
    const std::string_view model = file.require("tokenizer.ggml.model").string();
    if (model != "gpt2") {
        throw UnsupportedError("vocabulary: " + file.path().string() + ": tokenizer.ggml.model is " +
                               std::string(model) + "; only gpt2, byte-level BPE, is supported");
    }
    std::string name;
    const PreTokenizerRules& rules = rulesOf(file, preTokenizer, name);

    std::vector<std::string_view> texts = file.require("tokenizer.ggml.tokens").strings();
    if (texts.empty()) fail(file, "tokenizer.ggml.tokens is empty");
    const std::vector<TokenType> types = typesOf(file, texts.size());
    VocabularyBuilder builder(file.path().string(), std::move(texts), types);

    Vocabulary& vocabulary = builder.vocabulary();
    const std::vector<std::string_view> merges = file.require("tokenizer.ggml.merges").strings();
    vocabulary.merges.reserve(merges.size());
    for (std::string_view merge : merges) builder.addMerge(merge);

    vocabulary.preTokenizer = name;
    vocabulary.splitRules = rules.rules;
    vocabulary.ignoresMerges = rules.ignoresMerges;
    vocabulary.addsBos = rules.addsBos;
    if (const MetadataValue* value = file.find("tokenizer.ggml.add_bos_token")) vocabulary.addsBos = value->boolean();
    if (const MetadataValue* value = file.find("tokenizer.ggml.add_eos_token")) vocabulary.addsEos = value->boolean();
    vocabulary.bos = idOf(file, "tokenizer.ggml.bos_token_id", vocabulary.tokens);
    vocabulary.eos = idOf(file, "tokenizer.ggml.eos_token_id", vocabulary.tokens);
    vocabulary.pad = idOf(file, "tokenizer.ggml.padding_token_id", vocabulary.tokens);
    for (const char* key :
         {"tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id", "tokenizer.ggml.eom_token_id"}) {
        if (const auto id = idOf(file, key, vocabulary.tokens)) vocabulary.endOfGeneration.push_back(*id);
    }
    if (const MetadataValue* value = file.find("tokenizer.chat_template")) vocabulary.chatTemplate = value->string();
    return builder.finish();
}

}  // namespace axial::llm
