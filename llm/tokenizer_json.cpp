#include "axial/llm/tokenizer_json.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "axial/llm/parsed_json-inl.h"
#include "axial/llm/vocabulary_builder.h"
#include "axial/tensor/error.h"
#include "axial/tensor/mapped_file.h"

namespace axial::llm {

namespace {
using Json = nlohmann::json;
using Event = nlohmann::detail::parse_event_t;

constexpr std::int64_t mostTokens = VocabularyBuilder::mostTokens;

[[noreturn]] void fail(const std::filesystem::path& file, const std::string& text) {
    throw FileError("tokenizer: " + file.string() + ": " + text);
}
[[noreturn]] void refuse(const std::filesystem::path& file, const std::string& text) {
    throw UnsupportedError("tokenizer: " + file.string() + ": " + text + " is not supported");
}

// A JSON value that the file may leave out or set to null.
const Json* member(const Json& object, const char* key) {
    if (!object.is_object()) return nullptr;
    const auto found = object.find(key);
    return found == object.end() || found->is_null() ? nullptr : &*found;
}
bool flag(const Json& object, const char* key, bool otherwise) {
    const Json* value = member(object, key);
    return value && value->is_boolean() ? value->get<bool>() : otherwise;
}
std::string text(const Json& object, const char* key) {
    const Json* value = member(object, key);
    return value && value->is_string() ? value->get<std::string>() : std::string();
}

// Many short texts in one piece of memory.
class TextList {
  public:
    void add(std::string_view text) {
        all_ += text;
        ends_.push_back(all_.size());
    }
    std::size_t size() const { return ends_.size(); }
    std::string_view operator[](std::size_t i) const {
        const std::size_t begin = i == 0 ? 0 : ends_[i - 1];
        return std::string_view(all_).substr(begin, ends_[i] - begin);
    }

  private:
    std::string all_;
    std::vector<std::size_t> ends_;
};

// The file, without its two large parts, and those two in the little memory that they need. A JSON document of the
// whole would take ten times as much.
class Document {
  public:
    explicit Document(const std::filesystem::path& file) : file_(file), mapped_(file) {
        const auto bytes = mapped_.bytes();
        const char* const begin = reinterpret_cast<const char*>(bytes.data());
        constexpr int deepest = 100;
        json = parsedJson<Json>(
            std::string_view(begin, bytes.size()), deepest, [&](const std::string& what) { fail(file, what); },
            [this](int depth, Event event, Json& value) { return keep(depth, event, value); });
        if (!json.is_object()) fail(file, "not a JSON object");
    }

    Json json;
    TextList texts;  // of model.vocab
    std::vector<std::int64_t> numbers;
    TextList mergeParts;  // of model.merges: two for a pair, one for a spelled merge
    std::vector<std::uint8_t> mergeSizes;

  private:
    bool keep(int depth, Event event, Json& value) {
        if (event == Event::key) return key(depth, value);
        if (inVocabulary_ && depth == 2 && event == Event::array_start) refuse(file_, "model.vocab that is a list");
        if (inVocabulary_ && depth >= 3) return entry(depth, event, value);
        if (inMerges_ && depth >= 3) return merge(depth, event, value);
        constexpr int mostValues = 400'000;  // of the rest, which is small in any real file
        if (++values_ > mostValues)
            fail(file_, "more than " + std::to_string(mostValues) + " values besides the vocabulary");
        return true;
    }
    bool key(int depth, const Json& name) {
        if (depth == 1) inModel_ = name == "model";
        if (depth <= 2) {
            inVocabulary_ = inModel_ && depth == 2 && name == "vocab";
            inMerges_ = inModel_ && depth == 2 && name == "merges";
        }
        if (!inVocabulary_ || depth < 3) return true;
        texts.add(name.get_ref<const std::string&>());
        return false;
    }
    bool entry(int depth, Event event, const Json& value) {
        if (event != Event::value || depth != 3 || !value.is_number_integer()) {
            fail(file_, "model.vocab: the number of \"" + std::string(texts.size() ? texts[texts.size() - 1] : "") +
                            "\" is no integer");
        }
        numbers.push_back(value.is_number_unsigned() && value.get<std::uint64_t>() >= mostTokens
                              ? mostTokens
                              : value.get<std::int64_t>());
        return false;
    }
    bool merge(int depth, Event event, const Json& value) {
        if (depth == 3 && event == Event::array_start) {
            mergeSizes.push_back(0);
            return true;
        }
        if (depth == 3 && event == Event::array_end) {
            if (mergeSizes.back() != 2) failMerge("has " + std::to_string(mergeSizes.back()) + " pieces");
            return false;
        }
        if (event != Event::value || !value.is_string()) failMerge("is neither a text nor two");
        if (depth == 3) {
            mergeSizes.push_back(1);
        } else if (++mergeSizes.back() > 2) {
            failMerge("has more than two pieces");
        }
        mergeParts.add(value.get_ref<const std::string&>());
        return false;
    }
    [[noreturn]] void failMerge(const std::string& why) const {
        fail(file_,
             "model.merges: entry " + std::to_string(mergeSizes.empty() ? 0 : mergeSizes.size() - 1) + " " + why);
    }

    const std::filesystem::path& file_;
    MappedFile mapped_;
    bool inModel_ = false, inVocabulary_ = false, inMerges_ = false;
    int values_ = 0;
};

// What happens to a text before BPE, as the file spells it out.
class Steps {
  public:
    Steps(const std::filesystem::path& file, const Json& json, Vocabulary& vocabulary)
        : file_(file), vocabulary_(vocabulary) {
        if (const Json* value = member(json, "normalizer")) normalizer(*value, "normalizer");
        if (const Json* value = member(json, "pre_tokenizer")) preTokenizer(*value, "pre_tokenizer");
        if (!byteLevel_) refuse(file_, "a pre_tokenizer without ByteLevel");
        if (const Json* value = member(json, "post_processor")) postProcessor(*value, "post_processor");
        if (const Json* value = member(json, "decoder"); value && text(*value, "type") != "ByteLevel") {
            refuse(file_, "decoder " + text(*value, "type"));
        }
    }
    // Whether the post-processor says what stands before and behind a text, and the tokens if there are any.
    bool saysEnds() const { return saysEnds_; }
    const std::optional<std::string>& before() const { return before_; }
    const std::optional<std::string>& after() const { return after_; }

  private:
    template <class Each>
    bool sequence(const Json& value, const char* member, const std::string& place, Each each) {
        if (text(value, "type") != "Sequence") return false;
        const auto list = value.find(member);
        if (list == value.end() || !list->is_array()) fail(file_, place + " has no " + member);
        std::size_t i = 0;
        for (const Json& part : *list) each(part, place + "[" + std::to_string(i++) + "]");
        return true;
    }

    void normalizer(const Json& value, const std::string& place) {
        if (sequence(value, "normalizers", place,
                     [&](const auto& part, const auto& where) { normalizer(part, where); }))
            return;
        if (text(value, "type") != "NFC") refuse(file_, place + " " + text(value, "type"));
        vocabulary_.normalizesNfc = true;
    }

    void preTokenizer(const Json& value, const std::string& place) {
        if (sequence(value, "pretokenizers", place,
                     [&](const auto& part, const auto& where) { preTokenizer(part, where); }))
            return;
        const std::string type = text(value, "type");
        // What stands behind ByteLevel would see the alphabet of bytes, not the text.
        if (byteLevel_) refuse(file_, place + " " + type + " behind ByteLevel");
        if (type == "ByteLevel") {
            if (flag(value, "add_prefix_space", true)) refuse(file_, place + " with add_prefix_space");
            if (flag(value, "use_regex", true)) addRules(findPreTokenizer("gpt-2")->rules);
            byteLevel_ = true;
        } else if (type == "Split") {
            split(value, place);
        } else if (type == "Digits") {
            addRules({{flag(value, "individual_digits", false) ? R"(\p{N})" : R"(\p{N}+)"}});
        } else if (type == "Punctuation") {
            const std::string behavior = text(value, "behavior");
            if (behavior != "Isolated" && behavior != "Contiguous" && !behavior.empty()) {
                refuse(file_, place + " with behavior " + behavior);
            }
            addRules({{std::string(R"([\p{P}$+<=>^`|~])") + (behavior == "Contiguous" ? "+" : "")}});
        } else {
            refuse(file_, place + " " + type);
        }
    }

    void split(const Json& value, const std::string& place) {
        const std::string behavior = text(value, "behavior");
        const bool inverted = flag(value, "invert", false);
        const bool isolated = behavior == "Isolated", matchesOnly = behavior == "Removed" && inverted;
        if (!isolated && !matchesOnly) refuse(file_, place + " with behavior " + behavior);
        const Json* pattern = member(value, "pattern");
        std::string expression = pattern ? text(*pattern, "Regex") : "";
        if (expression.empty()) expression = pattern ? literal(text(*pattern, "String")) : "";
        if (expression.empty()) fail(file_, place + " has no pattern");
        addRules({{expression, isolated}});
    }

    // A regular expression that matches just this text.
    static std::string literal(std::string_view text) {
        std::string expression;
        for (const char c : text) {
            const bool special = static_cast<unsigned char>(c) < 0x80 && !std::isalnum(static_cast<unsigned char>(c));
            if (special) expression += '\\';
            expression += c;
        }
        return expression;
    }

    void addRules(const std::vector<SplitRule>& rules) {
        vocabulary_.splitRules.insert(vocabulary_.splitRules.end(), rules.begin(), rules.end());
    }

    void postProcessor(const Json& value, const std::string& place) {
        if (sequence(value, "processors", place,
                     [&](const auto& part, const auto& where) { postProcessor(part, where); }))
            return;
        const std::string type = text(value, "type");
        if (type == "ByteLevel") return;
        if (type != "TemplateProcessing") refuse(file_, place + " " + type);
        const Json* single = member(value, "single");
        if (!single || !single->is_array()) fail(file_, place + ".single is no list");
        saysEnds_ = true;
        bool behind = false;
        for (const Json& item : *single) {
            if (item.is_object() && item.contains("Sequence")) {
                behind = true;
                continue;
            }
            const Json* special = member(item, "SpecialToken");
            std::optional<std::string>& end = behind ? after_ : before_;
            if (end) refuse(file_, place + " with more than one token on a side");
            end = special ? text(*special, "id") : "";
        }
    }

    const std::filesystem::path& file_;
    Vocabulary& vocabulary_;
    bool byteLevel_ = false, saysEnds_ = false;
    std::optional<std::string> before_, after_;
};

struct AddedToken {
    std::string content;
    bool control, stripsLeft, stripsRight;
};

std::map<std::int64_t, AddedToken> addedTokens(const std::filesystem::path& file, const Json& json) {
    std::map<std::int64_t, AddedToken> added;
    const Json* list = member(json, "added_tokens");
    if (!list) return added;
    if (!list->is_array()) fail(file, "added_tokens is no list");
    for (const Json& token : *list) {
        const Json* id = member(token, "id");
        const std::string content = text(token, "content");
        if (!id || !id->is_number_unsigned() || *id >= mostTokens || content.empty()) {
            fail(file, "added_tokens[" + std::to_string(added.size()) + "] has no id below " +
                           std::to_string(mostTokens) + " or no content");
        }
        if (flag(token, "single_word", false)) refuse(file, "the added token " + content + " with single_word");
        const AddedToken entry{content, flag(token, "special", false), flag(token, "lstrip", false),
                               flag(token, "rstrip", false)};
        if (!added.emplace(id->get<std::int64_t>(), entry).second)
            fail(file, "added_tokens has " + id->dump() + " twice");
    }
    return added;
}

void checkModel(const std::filesystem::path& file, const Json& json) {
    const Json* model = member(json, "model");
    if (!model || !model->is_object()) fail(file, "model is missing");
    const std::string type = text(*model, "type");
    if (type != "BPE" && !(type.empty() && model->contains("merges"))) refuse(file, "model.type " + type);
    for (const char* key : {"vocab", "merges"}) {
        if (!model->contains(key)) fail(file, std::string("model.") + key + " is missing");
    }
    for (const char* key : {"continuing_subword_prefix", "end_of_word_suffix"}) {
        if (!text(*model, key).empty()) refuse(file, std::string("model.") + key);
    }
    if (flag(*model, "byte_fallback", false)) refuse(file, "model.byte_fallback");
    if (const Json* dropout = member(*model, "dropout"); dropout && *dropout != 0) refuse(file, "model.dropout");
}

// A file beside tokenizer.json, or null where there is none.
Json beside(const std::filesystem::path& file, const char* name) {
    const std::filesystem::path path = file.parent_path() / name;
    if (!std::filesystem::exists(path)) return nullptr;
    const MappedFile mapped(path);
    constexpr std::size_t mostBytes = 4 << 20;
    if (mapped.bytes().size() > mostBytes) fail(path, "larger than 4 MiB");
    const char* const begin = reinterpret_cast<const char*>(mapped.bytes().data());
    constexpr int deepest = 100;
    Json json = parsedJson<Json>(std::string_view(begin, mapped.bytes().size()), deepest,
                                 [&](const std::string& what) { fail(path, what); });
    if (!json.is_object()) fail(path, "not a JSON object");
    return json;
}

// A number or a list of numbers.
void addEnds(const std::filesystem::path& file, const Json& json, Vocabulary& vocabulary) {
    const Json* value = member(json, "eos_token_id");
    if (!value) return;
    for (const Json& id : value->is_array() ? *value : Json::array({*value})) {
        if (!id.is_number_unsigned() || id >= vocabulary.tokens.size()) {
            fail(file, "eos_token_id of the files beside it has " + id.dump() + ", and there are " +
                           std::to_string(vocabulary.tokens.size()) + " tokens");
        }
        vocabulary.endOfGeneration.push_back(id.get<TokenId>());
    }
}

// The template itself, or of several the one called default.
std::optional<std::string> chatTemplate(const std::filesystem::path& file, const Json& config) {
    const std::filesystem::path path = file.parent_path() / "chat_template.jinja";
    if (std::filesystem::exists(path)) {
        const MappedFile mapped(path);
        return std::string(reinterpret_cast<const char*>(mapped.bytes().data()), mapped.bytes().size());
    }
    const Json* value = member(config, "chat_template");
    if (value && value->is_string()) return value->get<std::string>();
    if (value && value->is_array()) {
        for (const Json& entry : *value) {
            if (text(entry, "name") == "default") return text(entry, "template");
        }
    }
    return std::nullopt;
}
}  // namespace

Vocabulary vocabularyFromTokenizerJson(const std::filesystem::path& file) {
    const Document document(file);
    checkModel(file, document.json);
    const std::map<std::int64_t, AddedToken> added = addedTokens(file, document.json);
    const Json tokenizerConfig = beside(file, "tokenizer_config.json"), config = beside(file, "config.json"),
               generationConfig = beside(file, "generation_config.json");

    std::int64_t size = added.empty() ? 0 : added.rbegin()->first + 1;
    for (std::int64_t number : document.numbers) {
        if (number < 0 || number >= mostTokens) {
            fail(file, "model.vocab has a number that is not from 0 to " + std::to_string(mostTokens - 1));
        }
        size = std::max(size, number + 1);
    }
    if (const Json* value = member(config, "vocab_size"); value && value->is_number_unsigned() && *value < mostTokens) {
        size = std::max(size, value->get<std::int64_t>());
    }
    constexpr std::uint32_t none = 0xFFFFFFFF;
    std::vector<std::uint32_t> entryOf(static_cast<std::size_t>(size), none);
    for (std::size_t entry = 0; entry < document.numbers.size(); entry++) {
        std::uint32_t& place = entryOf[static_cast<std::size_t>(document.numbers[entry])];
        if (place != none) {
            fail(file, "model.vocab gives the number " + std::to_string(document.numbers[entry]) + " to " +
                           std::string(document.texts[place]) + " and to " + std::string(document.texts[entry]));
        }
        place = static_cast<std::uint32_t>(entry);
    }

    std::vector<std::string_view> texts(static_cast<std::size_t>(size));
    std::vector<TokenType> types(texts.size(), TokenType::unused);
    for (std::size_t id = 0; id < texts.size(); id++) {
        if (entryOf[id] == none) continue;
        texts[id] = document.texts[entryOf[id]];
        types[id] = TokenType::normal;
    }
    for (const auto& [id, token] : added) {
        const auto i = static_cast<std::size_t>(id);
        if (types[i] == TokenType::normal && texts[i] != token.content) {
            fail(file, "token " + std::to_string(id) + " is " + std::string(texts[i]) + " in model.vocab and " +
                           token.content + " in added_tokens");
        }
        texts[i] = token.content;
        types[i] = token.control ? TokenType::control : TokenType::userDefined;
    }
    VocabularyBuilder builder(file.string(), std::move(texts), types);
    Vocabulary& vocabulary = builder.vocabulary();
    for (const auto& [id, token] : added) {
        if (token.stripsLeft) vocabulary.stripsLeft.push_back(static_cast<TokenId>(id));
        if (token.stripsRight) vocabulary.stripsRight.push_back(static_cast<TokenId>(id));
    }
    vocabulary.merges.reserve(document.mergeSizes.size());
    for (std::size_t merge = 0, part = 0; merge < document.mergeSizes.size(); part += document.mergeSizes[merge++]) {
        if (document.mergeSizes[merge] == 2) {
            builder.addMerge(document.mergeParts[part], document.mergeParts[part + 1]);
        } else {
            builder.addMerge(document.mergeParts[part]);
        }
    }

    const auto named = [&](const std::string& text) -> std::optional<TokenId> {
        const TokenId id = text.empty() ? Vocabulary::noToken : builder.find(text);
        if (id == Vocabulary::noToken) return std::nullopt;
        return id;
    };
    const auto configured = [&](const char* key) {
        const Json* value = member(tokenizerConfig, key);
        return named(value && value->is_object() ? text(*value, "content") : text(tokenizerConfig, key));
    };
    const Json& model = document.json["model"];
    vocabulary.ignoresMerges = flag(model, "ignore_merges", false);
    vocabulary.unknown = named(text(model, "unk_token"));
    vocabulary.bos = configured("bos_token");
    vocabulary.eos = configured("eos_token");
    vocabulary.pad = configured("pad_token");
    const Steps steps(file, document.json, vocabulary);
    if (steps.saysEnds()) {
        const auto end = [&](const std::optional<std::string>& name, bool& adds, std::optional<TokenId>& id) {
            adds = name.has_value();
            if (!adds) return;
            id = named(*name);
            if (!id) fail(file, "post_processor names " + *name + ", which is no token");
        };
        end(steps.before(), vocabulary.addsBos, vocabulary.bos);
        end(steps.after(), vocabulary.addsEos, vocabulary.eos);
    } else {
        vocabulary.addsBos = vocabulary.bos && flag(tokenizerConfig, "add_bos_token", false);
        vocabulary.addsEos = vocabulary.eos && flag(tokenizerConfig, "add_eos_token", false);
    }
    if (vocabulary.eos) vocabulary.endOfGeneration.push_back(*vocabulary.eos);
    addEnds(file, config, vocabulary);
    addEnds(file, generationConfig, vocabulary);
    vocabulary.chatTemplate = chatTemplate(file, tokenizerConfig);
    return builder.finish();
}

}  // namespace axial::llm
