// Grammars: which tokens they allow, against a matcher of our own that goes byte by byte.
#include "axial/llm/grammar.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <set>

#include "axial/llm/think_first.h"
#include "axial/tensor/error.h"
#include "byte_language.h"
#include "tokenizer_data.h"

using namespace axial;
using namespace axial::llm;
using namespace axial::llm::test;

namespace {
std::shared_ptr<const Tokenizer> tiny() {
    static const auto tokenizer =
        std::make_shared<const Tokenizer>(vocabularyOf(GgufFile::open(AXIAL_TEST_DATA "/tiny-vocab.gguf")));
    return tokenizer;
}

bool isBuilt() {
    static const bool is = [] {
        try {
            return makeGrammar(tiny(), GrammarKind::regex, "a") != nullptr;
        } catch (const UnsupportedError& error) {
            CHECK(std::string(error.what()).find("without its Rust component") != std::string::npos);
            return false;
        }
    }();
    if (!is) MESSAGE("skipped: axial was built without its Rust component");
    return is;
}

std::set<TokenId> allowedBy(LogitProcessor& grammar, std::size_t vocabulary) {
    std::vector<float> logits(vocabulary + 7, 1.0f);  // a model's vocabulary is often padded
    grammar.process(logits, {});
    std::set<TokenId> allowed;
    std::size_t forbidden = 0;
    for (std::size_t i = 0; i < logits.size(); i++) {
        if (logits[i] == 1.0f)
            allowed.insert(static_cast<TokenId>(i));
        else
            forbidden += std::isinf(logits[i]);
    }
    CHECK(allowed.size() + forbidden == logits.size());
    CHECK((allowed.empty() || allowed.rbegin().operator*() < static_cast<TokenId>(vocabulary)));
    return allowed;
}

std::set<TokenId> allowedBy(LogitProcessor& grammar) { return allowedBy(grammar, tiny()->vocabulary().tokens.size()); }

// The same by trying every token.
std::set<TokenId> keepingWithin(const Language& language) {
    std::set<TokenId> allowed;
    const Vocabulary& vocabulary = tiny()->vocabulary();
    for (TokenId id = 0; vocabulary.tokens.contains(id); id++) {
        const TokenType type = vocabulary.tokens.type(id);
        const bool text = type == TokenType::normal || type == TokenType::byte;
        if (text && !vocabulary.tokens.bytes(id).empty() && !behind(language, vocabulary.tokens.bytes(id)).isNothing())
            allowed.insert(id);
    }
    if (language.hasEmptyText()) allowed.insert(vocabulary.endOfGeneration.begin(), vocabulary.endOfGeneration.end());
    return allowed;
}

// Tokens as a failure shows them.
std::string named(const std::set<TokenId>& ids) {
    std::string all;
    for (const TokenId id : ids)
        all += " " + Json(tiny()->piece(id)).dump(-1, ' ', true, Json::error_handler_t::replace);
    return all;
}

struct Case {
    const char* name;
    GrammarKind kind;
    const char* text;
    Language language;
};

std::vector<Case> cases() {
    const Language digit = byteIn('0', '9'), lower = byteIn('a', 'z');
    const Language space = many(anyOf(" \n\r\t"));
    const Language integer = maybe(text("-")) + (text("0") | (byteIn('1', '9') + many(digit)));
    // JSON's strings, but for a bare DEL and the escape of /, which JSON does not ask for; and no halves of characters.
    const Language hex = digit | byteIn('a', 'f') | byteIn('A', 'F'), d = anyOf("dD");
    const Language notD = digit | anyOf("abcefABCEF");
    const Language unit = (notD + hex + hex + hex) | (d + byteIn('0', '7') + hex + hex);
    const Language pair = d + anyOf("89abAB") + hex + hex + text("\\u") + d + anyOf("cdefCDEF") + hex + hex;
    const Language escape = text("\\") + (anyOf("\"\\bfnrt") | (text("u") + (unit | pair)));
    const Language inString = utf8Character("\"\\\x7f", 0x20) | escape;
    return {
        {"a word", GrammarKind::regex, "[a-z]+", lower + many(lower)},
        {"alternatives", GrammarKind::regex, "the (cat|dog|cattle)( sat)*\\.",
         text("the ") + (text("cat") | text("dog") | text("cattle")) + many(text(" sat")) + text(".")},
        {"a number", GrammarKind::regex, "-?(0|[1-9][0-9]*)(\\.[0-9]{1,3})?",
         integer + maybe(text(".") + digit + maybe(digit) + maybe(digit))},
        {"any characters", GrammarKind::regex, "[^\"]*", many(utf8Character("\"", 0))},
        {"a balanced text", GrammarKind::lark, "start: \"(\" [\"a\" | \"b\"] \")\" | \"<\" /[0-9]+/ \">\"",
         (text("(") + maybe(anyOf("ab")) + text(")")) | (text("<") + digit + many(digit) + text(">"))},
        {"an object", GrammarKind::jsonSchema,
         R"({"type":"object","properties":{"on":{"type":"boolean"},"at":{"enum":["x","yz"]}},)"
         R"("required":["on","at"],"additionalProperties":false})",
         text("{") + space + text("\"on\"") + space + text(":") + space + (text("true") | text("false")) + space +
             text(",") + space + text("\"at\"") + space + text(":") + space + (text("\"x\"") | text("\"yz\"")) + space +
             text("}")},
        {"a string", GrammarKind::jsonSchema, R"({"type":"string","maxLength":3})",
         text("\"") + maybe(inString) + maybe(inString) + maybe(inString) + text("\"")},
    };
}
}  // namespace

TEST_SUITE("grammar") {
    TEST_CASE("a token is allowed if the text could still become one of the grammar") {
        if (!isBuilt()) return;
        std::mt19937 random(7);
        std::size_t compared = 0, forcedSteps = 0, ended = 0;
        for (const Case& test : cases()) {
            CAPTURE(test.name);
            const auto grammar = makeGrammar(tiny(), test.kind, test.text);
            for (int walk = 0; walk < 6; walk++) {
                grammar->reset();
                Language language = test.language;
                std::string text;
                for (int step = 0; step < 25; step++) {
                    CAPTURE(text);
                    const std::set<TokenId> allowed = allowedBy(*grammar), tried = keepingWithin(language);
                    const std::vector<TokenId> forced = grammar->forced();
                    if (forced.empty()) {
                        CHECK(named(allowed) == named(tried));
                        compared++;
                    } else {
                        // One text only can come: then the tokenizer's own cut of it is the only one.
                        CHECK(allowed == std::set<TokenId>{forced[0]});
                        for (const TokenId id : tried) {
                            const std::string_view other = tiny()->piece(id), bytes = tiny()->piece(forced[0]);
                            CHECK((other.starts_with(bytes) || bytes.starts_with(other)));
                        }
                        CHECK(grammar->validPrefix(forced) == forced.size());
                        forcedSteps++;
                    }
                    for (TokenId id = 0; id < 40; id++)
                        CHECK(grammar->validPrefix(std::span(&id, 1)) ==
                              (tried.contains(id) && !tiny()->endsGeneration(id) ? 1 : 0));
                    const auto chosen = std::next(allowed.begin(), static_cast<int>(random() % allowed.size()));
                    grammar->commit(*chosen);
                    if (tiny()->endsGeneration(*chosen)) {
                        CHECK(language.hasEmptyText());
                        // Nothing but an end from here on.
                        for (const TokenId id : allowedBy(*grammar)) CHECK(tiny()->endsGeneration(id));
                        ended++;
                        break;
                    }
                    text += tiny()->piece(*chosen);
                    language = behind(language, tiny()->piece(*chosen));
                    REQUIRE_FALSE(language.isNothing());
                }
            }
        }
        CHECK(compared > 200);
        CHECK(forcedSteps > 20);
        CHECK(ended > 10);
    }

    TEST_CASE("any JSON that a schema allows, however tokens fall") {
        if (!isBuilt()) return;
        std::mt19937 random(3);
        const char* schema =
            R"({"type":"object","properties":{"a":{"type":"array","items":{"type":["number","null","string"]},"maxItems":3},)"
            R"("b":{"$ref":"#/$defs/pair"}},"required":["a"],"additionalProperties":false,)"
            R"("$defs":{"pair":{"type":"array","prefixItems":[{"type":"boolean"},{"const":"k"}],"items":false,"minItems":2}}})";
        const auto grammar = makeGrammar(tiny(), GrammarKind::jsonSchema, schema);
        int whole = 0;
        for (int walk = 0; walk < 40; walk++) {
            grammar->reset();
            std::string text;
            for (int step = 0; step < 200; step++) {
                const std::set<TokenId> allowed = allowedBy(*grammar);
                REQUIRE_FALSE(allowed.empty());
                // Ends soon: the shortest of a few.
                TokenId chosen = -1;
                for (int tries = 0; tries < 4; tries++) {
                    const TokenId id = *std::next(allowed.begin(), static_cast<int>(random() % allowed.size()));
                    const std::string_view bytes = tiny()->piece(id);
                    const bool closes = bytes.find_first_of("\"]},") != bytes.npos;
                    if (chosen < 0 || closes || tiny()->endsGeneration(id)) chosen = id;
                }
                grammar->commit(chosen);
                if (tiny()->endsGeneration(chosen)) {
                    const Json value = Json::parse(text);
                    CHECK(value.is_object());
                    CHECK(value.at("a").size() <= 3);
                    for (const Json& item : value["a"]) CHECK((item.is_number() || item.is_null() || item.is_string()));
                    if (value.contains("b"))
                        CHECK((value["b"].size() == 2 && value["b"][0].is_boolean() && value["b"][1] == "k"));
                    whole++;
                    break;
                }
                text += tiny()->piece(chosen);
            }
        }
        CHECK(whole > 20);
    }

    TEST_CASE("conversations do not disturb each other") {
        if (!isBuilt()) return;
        const auto grammar = makeGrammar(tiny(), GrammarKind::regex, "(ab)+");
        const TokenId a = tiny()->encode("a").at(0), b = tiny()->encode("b").at(0);
        const std::set<TokenId> first = allowedBy(*grammar);
        grammar->commit(a);
        const std::set<TokenId> second = allowedBy(*grammar);
        CHECK(first != second);
        const auto other = grammar->clone();
        CHECK(allowedBy(*other) == first);
        other->commit(a);
        other->commit(b);
        CHECK(allowedBy(*grammar) == second);
        grammar->reset();
        CHECK(allowedBy(*grammar) == first);
        // A token that was forbidden is an error, and the next reply begins anew.
        CHECK_THROWS_WITH_AS(grammar->commit(b), doctest::Contains("grammar: "), ValueError);
        CHECK_THROWS_AS(allowedBy(*grammar), ValueError);
        grammar->reset();
        CHECK(allowedBy(*grammar) == first);
        // Looking ahead changes nothing.
        const std::vector<TokenId> draft{a, b, a, a, -1};
        CHECK(grammar->validPrefix(draft) == 3);
        CHECK(grammar->validPrefix(std::vector<TokenId>{a, 1 << 30}) == 1);
        CHECK(allowedBy(*grammar) == first);
    }

    TEST_CASE("what cannot be enforced is refused by name") {
        if (!isBuilt()) return;
        const auto refused = [](GrammarKind kind, const std::string& text, const char* what) {
            CAPTURE(text.substr(0, 200));
            CHECK_THROWS_WITH_AS(makeGrammar(tiny(), kind, text), doctest::Contains(what), UnsupportedError);
        };
        // SRV-04 of the public bug reports.
        refused(GrammarKind::jsonSchema,
                R"({"type":"object","properties":{"a":{"type":"string","pattern":"^(?=x)y$"}}})", "^(?=x)y$");
        refused(GrammarKind::jsonSchema,
                R"({"type":"object","propertyNames":{"pattern":"^a"},"additionalProperties":{"type":"string"}})",
                "propertyNames");
        refused(GrammarKind::jsonSchema, R"({"$ref":"https://example.invalid/s.json"})", "$ref");
        refused(GrammarKind::jsonSchema, R"({"not":{"type":"string"}})", "not");
        refused(GrammarKind::jsonSchema, R"({"type":"strin"})", "type");
        refused(GrammarKind::jsonSchema, R"({"type":"array","uniqueItems":true})", "uniqueItems");
        refused(GrammarKind::jsonSchema, R"({"type":"array","contains":{"type":"string"}})", "contains");
        refused(GrammarKind::jsonSchema, R"({"if":{"type":"string"},"then":{"minLength":1}})", "if");
        refused(GrammarKind::jsonSchema, R"({"dependentRequired":{"a":["b"]}})", "dependentRequired");
        refused(GrammarKind::jsonSchema, R"({"type":"string","format":"no-such-format"})", "no-such-format");
        refused(GrammarKind::jsonSchema, "[]", "object");
        refused(GrammarKind::regex, "(", "regular expression");
        refused(GrammarKind::regex, "(?=a)b", "look");
        refused(GrammarKind::regex, "(a)\\1", "backreference");
        refused(GrammarKind::lark, "", "Lark grammar");
        refused(GrammarKind::lark, "start: nothing", "nothing");
        for (const std::string& json : {std::string("{bad"), std::string(""), std::string(100000, '[')})
            CHECK_THROWS_WITH_AS(makeGrammar(tiny(), GrammarKind::jsonSchema, json),
                                 doctest::Contains("the JSON schema"), ValueError);
        std::string deep;
        for (int i = 0; i < 10000; i++) deep += R"({"items":)";
        CHECK_THROWS_AS(makeGrammar(tiny(), GrammarKind::jsonSchema, deep + "1" + std::string(10000, '}')), ValueError);
        // Those that have no or any meaning are enforced as such.
        for (const char* schema : {R"({"description":"no type"})", R"({"enum":["a","b"]})",
                                   R"({"type":"string","pattern":"^hello\\!$"})", "true"})
            CHECK_FALSE(allowedBy(*makeGrammar(tiny(), GrammarKind::jsonSchema, schema)).empty());
        Vocabulary endless = vocabularyOf(GgufFile::open(AXIAL_TEST_DATA "/tiny-vocab.gguf"));
        endless.endOfGeneration.clear();
        const auto tokenizer = std::make_shared<const Tokenizer>(std::move(endless));
        CHECK_THROWS_WITH_AS(makeGrammar(tokenizer, GrammarKind::regex, "a"), doctest::Contains("no token ends a text"),
                             UnsupportedError);
    }

    TEST_CASE("markers are no text") {
        if (!isBuilt() || !oracle::present()) return;
        const auto tokenizer =
            std::make_shared<const Tokenizer>(vocabularyOf(GgufFile::open(oracle::path("tokenizer/qwen3-vocab.gguf"))));
        const Vocabulary& vocabulary = tokenizer->vocabulary();
        const auto noMarkers = [&](LogitProcessor& grammar, bool complete) {
            int wrong = 0;
            for (const TokenId id : allowedBy(grammar, vocabulary.tokens.size())) {
                wrong += vocabulary.isMarker(id) && !(complete && tokenizer->endsGeneration(id));
                wrong += vocabulary.tokens.type(id) == TokenType::unused;
            }
            CHECK(wrong == 0);
        };
        for (const char* text : {"<|im_end|>", "a<think>\"<|endoftext|>"}) {
            CAPTURE(text);
            const std::string quoted = Json(text).dump();
            const auto string = makeGrammar(tokenizer, GrammarKind::jsonSchema, R"({"type":"string"})");
            const Ids ids = tokenizer->encode(quoted, SpecialTokens::asText);
            CHECK(string->validPrefix(ids) == ids.size());
            for (const TokenId id : ids) {
                noMarkers(*string, false);
                string->commit(id);
            }
            noMarkers(*string, true);
        }
        const auto literal = makeGrammar(tokenizer, GrammarKind::regex, "<\\|im_end\\|>");
        CHECK(literal->forced() == tokenizer->encode("<|im_end|>", SpecialTokens::asText));
        noMarkers(*literal, false);
        const auto any = makeGrammar(tokenizer, GrammarKind::regex, "(.|\\n)*");
        noMarkers(*any, true);
        // In a Lark grammar a marker has its name.
        const auto called = makeGrammar(tokenizer, GrammarKind::lark, "start: <tool_call> /[a-z]+/ </tool_call>");
        CHECK(allowedBy(*called, vocabulary.tokens.size()) == std::set<TokenId>{*vocabulary.marker("<tool_call>")});
    }
}

namespace {
// Allows "A" alone, then an end.
class OnlyA final : public LogitProcessor {
  public:
    explicit OnlyA(std::shared_ptr<const Tokenizer> tokenizer)
        : tokenizer_(std::move(tokenizer)), a_(tokenizer_->encode("A").at(0)) {}
    void process(std::span<float> logits, std::span<const TokenId>) override {
        for (std::size_t i = 0; i < logits.size(); i++) {
            const TokenId id = static_cast<TokenId>(i);
            const bool fits = done_ ? tokenizer_->endsGeneration(id) : id == a_;
            if (!fits) logits[i] = -std::numeric_limits<float>::infinity();
        }
    }
    void commit(TokenId token) override {
        if (!done_ && token != a_) throw ValueError("not A");
        done_ = true;
    }
    void reset() override { done_ = false; }
    std::unique_ptr<LogitProcessor> clone() const override { return std::make_unique<OnlyA>(tokenizer_); }
    std::vector<TokenId> forced() const override { return done_ ? Ids{} : Ids{a_}; }
    std::size_t validPrefix(std::span<const TokenId> draft) const override {
        return !done_ && !draft.empty() && draft[0] == a_ ? 1 : 0;
    }

  private:
    std::shared_ptr<const Tokenizer> tokenizer_;
    TokenId a_;
    bool done_ = false;
};

void say(LogitProcessor& processor, const Tokenizer& tokenizer, std::string_view text) {
    for (const TokenId id : tokenizer.encode(text)) {
        CAPTURE(id);
        CHECK(processor.validPrefix(std::span(&id, 1)) == 1);
        std::vector<float> logits(tokenizer.vocabulary().tokens.size() + 3, 0.5f);
        processor.process(logits, {});
        CHECK(logits[static_cast<std::size_t>(id)] == 0.5f);
        CHECK(std::isinf(logits.back()));
        processor.commit(id);
    }
}
}  // namespace

TEST_SUITE("think first") {
    TEST_CASE("thoughts are free and the answer is not") {
        // Once with <think> and </think> as tokens, once spelled.
        std::vector<std::shared_ptr<const Tokenizer>> tokenizers{tiny()};
        if (oracle::present())
            tokenizers.push_back(std::make_shared<const Tokenizer>(
                vocabularyOf(GgufFile::open(oracle::path("tokenizer/qwen3-vocab.gguf")))));
        for (const auto& tokenizer : tokenizers) {
            const TokenId end = tokenizer->vocabulary().endOfGeneration.at(0);
            const std::size_t tokens = tokenizer->vocabulary().tokens.size();
            const TokenId a = tokenizer->encode("A").at(0);
            for (const char* gap : {"", "\n", "\n\n"}) {
                CAPTURE(gap);
                if (tokenizer->encode(gap).size() > 1) continue;
                ThinkFirst processor(tokenizer, std::make_unique<OnlyA>(tokenizer), false);
                CHECK_FALSE(allowedBy(processor, tokens).contains(a));
                say(processor, *tokenizer, "<think>\nIs it A < B? {\"x\": <th </think");
                CHECK(allowedBy(processor, tokens).contains(a));
                CHECK_FALSE(allowedBy(processor, tokens).contains(end));
                CHECK_THROWS_WITH_AS(processor.commit(end), doctest::Contains("before the end of the thoughts"),
                                     ValueError);
                const auto copy = processor.clone();
                CHECK_FALSE(allowedBy(*copy, tokens).contains(a));
                say(processor, *tokenizer, " </think>");
                CHECK(processor.forced().empty());
                say(processor, *tokenizer, gap);
                if (*gap) CHECK(processor.forced() == Ids{a});
                if (*gap) CHECK(allowedBy(processor, tokens) == std::set<TokenId>{a});
                processor.commit(a);
                for (const TokenId id : allowedBy(processor, tokens)) CHECK(tokenizer->endsGeneration(id));
                processor.reset();
                CHECK_FALSE(allowedBy(processor, tokens).contains(a));
            }
            // The prompt may have begun the thoughts; a draft may go over all borders.
            ThinkFirst opened(tokenizer, std::make_unique<OnlyA>(tokenizer), true);
            Ids draft = tokenizer->encode("x</think>");
            draft.push_back(a);
            const std::size_t whole = draft.size();
            CHECK(opened.validPrefix(draft) == whole);
            draft.push_back(a);
            CHECK(opened.validPrefix(draft) == whole);
            draft.insert(draft.begin(), end);
            CHECK(opened.validPrefix(draft) == 0);
        }
    }

    TEST_CASE("no token ends the thoughts and begins the answer") {
        const Vocabulary& vocabulary = tiny()->vocabulary();
        ThinkFirst processor(tiny(), std::make_unique<OnlyA>(tiny()), true);
        const Ids tag = tiny()->encode("</think", SpecialTokens::asText);
        for (const TokenId id : tag) processor.commit(id);
        const std::set<TokenId> allowed = allowedBy(processor);
        for (TokenId id = 0; vocabulary.tokens.contains(id); id++) {
            const std::string_view bytes = vocabulary.tokens.bytes(id);
            const bool goesOn = bytes.starts_with('>') && bytes.find_first_not_of(" \t\r\n", 1) != bytes.npos;
            CHECK(allowed.contains(id) == (!goesOn && !tiny()->endsGeneration(id)));
        }
    }
}
